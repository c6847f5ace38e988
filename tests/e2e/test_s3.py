"""A shared store on a real S3 server, which s3fs reaches: moto's, in a process of its own."""

import os
import shutil
import socket
import subprocess
import sys
import time

import pytest

from tests.e2e.conftest import DODO, Space

for extra in ("s3fs", "moto"):
    pytest.importorskip(extra, reason="the extra s3 is not installed")
pytestmark = pytest.mark.long
ALL = ["a:parse", "a:place", "a:render", "a:simulate"]
URL = "s3://team/store"


@pytest.fixture(scope="module")
def server():
    """The port of an S3 server with a bucket."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    wait_for(port)
    os.environ.update(environment(port))
    import s3fs

    s3fs.S3FileSystem().mkdir("team")
    yield port
    process.kill()
    process.wait()


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def wait_for(port):
    end = time.monotonic() + 60
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            assert time.monotonic() < end
            time.sleep(0.1)


def environment(port):
    """Where the server is, and who asks."""
    return {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "FSSPEC_S3_ENDPOINT_URL":
        f"http://127.0.0.1:{port}", "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing", "AWS_DEFAULT_REGION": "us-east-1",
    }


@pytest.fixture
def other(small):
    """A second workspace with the same layer."""
    space = Space(small.root.parent / "other", small.modules)
    space.write("dodo.py", DODO)
    space.layer("projects/a")
    for each in (small, space):
        each.write("lairmake.yaml", f"store: {URL}\n")
    return space


def files_in(port):
    """The file system of the server, and the paths of all that it holds."""
    import s3fs

    files = s3fs.S3FileSystem(use_listings_cache=False, skip_instance_cache=True)
    return files, sorted(files.find("team/store"))


@pytest.mark.parametrize("processes", ["0", "2"])
def test_what_one_workspace_built_another_one_has(small, other, server, processes):
    files, _ = files_in(server)
    if files.exists("team/store"):
        files.rm("team/store", recursive=True)
    assert small.build("-n", processes) == ALL
    run = other.run("-n", processes)
    assert (run.code, run.ran, run.hits, run.err) == (0, [], ALL, "")
    run = other.run("cache", "stats", "--shared")
    assert (run.code, run.err) == (0, "")
    assert "entries        4" in run.out
    run = other.run("cache", "verify", "--shared")
    assert (run.code, run.out, run.err) == (0, "everything is intact\n", "")


def test_what_somebody_put_there_is_refused_and_repaired(small, other, server):
    small.build()
    files, paths = files_in(server)
    for path in paths:
        files.pipe_file(path, b"\0" * 1000)
    run = other.run()
    assert (run.code, run.ran, run.hits) == (0, ALL, [])
    assert run.err.startswith("warning: the shared store holds entries/")
    assert other.files() == small.files()
    assert other.run("cache", "verify", "--shared").code == 0


def test_without_a_server_a_build_goes_on(small, other):
    run = small.run(**environment(free_port()))
    assert (run.code, run.ran) == (0, ALL)
    assert run.err.startswith("warning: the shared store is left out: ")


def test_a_server_that_never_answers_is_given_up_after_10_seconds(small, other):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        run = small.run(**environment(silent.getsockname()[1]))
    assert (run.code, run.ran) == (0, ALL)
    assert run.err == "warning: the shared store is left out: no answer for 10 s\n"
    shutil.rmtree(other.root)
