"""The script that installs what is asked for, and runs `lairmake`."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FAKE = f"""#!/bin/sh
# Stands for Python, in a venv too: notes what it is to install, and installs nothing.
case "$*" in
-c*) exec {sys.executable} "$@" ;;
"-m venv "*)
    echo venv >>"$LOG"
    rm -rf "$4" && mkdir -p "$4/bin" && cp "$0" "$4/bin/python"
    printf '#!/bin/sh\\necho "lairmake $*"\\n' >"$4/bin/lairmake" && chmod +x "$4/bin/lairmake" ;;
*" index versions "*)
    [ -z "${{OFFLINE:-}}" ] || [ "${{FROM:-0}}" -gt "$(wc -l <"$LOG")" ] ||
        {{ echo "broken by '$OFFLINE'" >&2; exit 1; }} ;;
*" config get "*) exit 1 ;;
*)
    for last; do :; done
    echo "$(basename "$last")" >>"$LOG"
    [ "$(basename "$last")" = "${{BREAKS:-}}" ] && exit 1
    [ "$(basename "$last")" != "${{KILLS:-}}" ] || kill -9 $PPID
    sleep "${{LASTS:-0}}" ;;
esac
"""
LONG = pytest.mark.long
BUILDS = ["venv", "build.lock", "clone"]


class Clone:
    """A clone with a Python that only notes what it is to install."""

    def __init__(self, root):
        self.root = root
        self.log = root.parent / "log"
        self.env = {
            **os.environ, "PYTHON": str(root.parent / "python"), "LOG": str(self.log), "CC": "cc",
        }

    def start(self, *words, **env):
        return subprocess.Popen(
            [self.root / "do", *words], env={**self.env, **env}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )

    def run(self, *words, **env):
        """Return the exit code, and what was printed on stdout and on stderr."""
        running = self.start(*words, **env)
        out, err = running.communicate(timeout=60)
        return running.returncode, out, err

    def installs(self, *words, **env):
        """Return what is installed before the words are handed on."""
        self.log.write_text("", encoding="utf-8")
        code, out, err = self.run(*words, **env)
        assert (code, out) == (0, " ".join(["lairmake", *words]) + "\n"), err
        return self.log.read_text(encoding="utf-8").split()

    def change(self, name):
        path = self.root / name
        path.write_text(path.read_text(encoding="utf-8") + "# new\n", encoding="utf-8")


def clone_in(folder):
    root = folder / "clone"
    root.mkdir()
    for name in ("do", "pyproject.toml"):
        shutil.copy(ROOT / name, root)
    shutil.copytree(ROOT / "requirements", root / "requirements")
    fake = folder / "python"
    fake.write_text(FAKE, encoding="utf-8")
    fake.chmod(0o755)
    return Clone(root)


@pytest.fixture
def clone(tmp_path):
    return clone_in(tmp_path)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    clone = clone_in(tmp_path_factory.mktemp("shared"))
    clone.run("fc")
    return clone


@pytest.fixture
def installed(clone):
    assert clone.installs("fc") == BUILDS
    return clone


def test_an_old_python_is_refused_and_nothing_is_made(clone):
    code, out, err = clone.run("list", PYTHON="false")
    assert err == "do: needs Python 3.11 or later; name one: PYTHON=... ./do\n"
    assert (code, out) == (3, "")
    assert not (clone.root / ".venv").exists()


def test_each_step_is_told_on_stderr(clone):
    assert clone.run("test") == (0, "lairmake test\n", (
        "do: making .venv\n"
        "do: installing what builds\n"
        "do: installing Lairmake\n"
        "do: installing what tests and checks\n"
    ))


@pytest.mark.wide_after(6)
@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["fc"], []),
        (["list", "--all"], []),
        (["test"], ["dev.lock"]),
        (["run", "--continue", "lint", "types"], ["dev.lock"]),
        (["lint:style"], ["dev.lock"]),
        (["bench", "make"], ["dev.lock"]),
        (["test:long"], ["dev.lock", "s3.lock", "arbiter.lock"]),
    ],
)
def test_what_tests_is_installed_where_it_is_asked_for(shared, words, parts):
    for part in ("dev", "s3", "arbiter"):
        (shared.root / ".venv/parts" / part).unlink(missing_ok=True)
    assert shared.installs(*words) == parts
    assert shared.installs(*words) == []


def test_a_c_compiler_is_installed_where_there_is_none(clone):
    tools = clone.root.parent / "bin"
    tools.mkdir()
    for tool in ("sh", "dirname", "cat", "cmp", "cp", "mkdir", "mv", "rm", "chmod", "basename",
                 "sleep"):
        (tools / tool).symlink_to(shutil.which(tool))
    assert clone.installs("fc", CC="", PATH=str(tools)) == [*BUILDS, "zig.lock"]


def test_nothing_is_asked_of_the_network_where_all_is_there(installed):
    assert installed.installs("fc", BREAKS="build.lock", PYTHON="false") == []


@pytest.mark.wide_after(2)
@pytest.mark.parametrize(
    ("changed", "parts"),
    [
        ("requirements/build.lock", [*BUILDS, "dev.lock"]),
        ("requirements/dev.lock", ["dev.lock"]),
        ("requirements/zig.lock", []),
        ("pyproject.toml", ["clone"]),
    ],
)
def test_what_a_lock_says_anew_is_installed(installed, changed, parts):
    installed.installs("test")
    installed.change(changed)
    assert installed.installs("test") == parts


def test_a_venv_that_was_moved_is_made_anew(installed):
    moved = installed.root.with_name("moved")
    installed.root.rename(moved)
    assert Clone(moved).installs("fc") == ["venv", "build.lock", "moved"]


def unreached(index):
    return (
        f"do: {index} cannot be reached; without network: PIP_NO_INDEX=1 PIP_FIND_LINKS=FOLDER "
        "./do, with wheels in FOLDER: CONTRIBUTING.md\n"
    )


@pytest.mark.parametrize(("index", "shown"), [
    ("", "https://pypi.org/simple"),
    ("https://me:secret@example.org/simple", "https://example.org/simple"),
])
def test_without_network_one_line_says_so_and_how_to_do_without(clone, index, shown):
    env = {"PIP_NO_INDEX": "", "PIP_INDEX_URL": index}
    code, out, err = clone.run("fc", OFFLINE="NameResolutionError", **env)
    assert (code, out) == (3, "")
    assert err == "do: making .venv\ndo: installing what builds\n" + unreached(shown)
    assert clone.log.read_text(encoding="utf-8") == "venv\n"


def test_a_network_that_is_gone_meanwhile_is_said_after_what_pip_says(clone):
    env = {"PIP_NO_INDEX": "", "PIP_INDEX_URL": ""}
    told = clone.run("fc", OFFLINE="NewConnectionError", FROM="2", BREAKS="build.lock", **env)
    assert told[2].endswith("do: installing what builds\n" + unreached("https://pypi.org/simple"))


@pytest.mark.parametrize("env", [
    {"OFFLINE": "SSLError: ... NewConnectionError"},
    {"OFFLINE": "NewConnectionError", "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "wheels"},
])
def test_what_else_is_wrong_pip_says_itself(clone, env):
    assert clone.installs("fc", **env) == BUILDS
    code, _, err = clone.run("test", BREAKS="dev.lock", **env)
    assert (code, err.splitlines()[-1]) == (
        3, "do: that failed: installing what tests and checks"
    )


@LONG
def test_what_arbitrates_is_not_for_every_platform(installed):
    code, out, err = installed.run("test:long", BREAKS="arbiter.lock")
    assert (code, out) == (0, "lairmake test:long\n")
    assert err.endswith(
        "do: installing what else runs graphs in ONNX\ndo: that failed: its tests are skipped\n"
    )


def test_an_install_that_fails_is_tried_again_and_spoils_nothing(installed):
    code, out, err = installed.run("test", BREAKS="dev.lock")
    assert (code, out) == (3, "")
    assert err == (
        "do: installing what tests and checks\n"
        "do: that failed: installing what tests and checks\n"
    )
    assert installed.installs("fc") == []
    assert installed.installs("test") == ["dev.lock"]


@pytest.mark.parametrize(
    "part", ["build.lock", *(pytest.param(p, marks=LONG) for p in ("clone", "dev.lock"))]
)
def test_an_install_that_was_killed_is_begun_anew(clone, part):
    assert clone.run("test", KILLS=part)[0] == -9
    assert clone.installs("test") == [*BUILDS, "dev.lock"]
    assert clone.installs("test") == []


@pytest.mark.wide
def test_of_two_at_once_one_installs_and_the_other_waits(clone):
    first = clone.start("fc", LASTS="0.2")
    while not clone.log.is_file():
        time.sleep(0.01)
    code, out, err = clone.run("list")
    assert (code, out) == (0, "lairmake list\n")
    assert err == "do: waits for another one, which installs\n"
    assert first.communicate()[0] == "lairmake fc\n"
    assert clone.log.read_text(encoding="utf-8").split() == BUILDS


def test_a_checkout_that_is_read_only_is_used_as_it_is(installed):
    before = {path: path.stat().st_mtime_ns for path in installed.root.rglob("*")}
    for path in before:
        if path.is_dir():
            path.chmod(0o555)
    try:
        assert installed.installs("fc") == []
    finally:
        for path in before:
            if path.is_dir():
                path.chmod(0o755)
    assert {path: path.stat().st_mtime_ns for path in installed.root.rglob("*")} == before


def test_an_empty_word_is_refused(installed):
    assert installed.run("fc", "") == (3, "", "do: an empty word names no task: leave it out\n")
