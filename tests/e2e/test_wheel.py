"""A wheel, in an environment that has nothing else, in a repository of the user's own."""

import re
import shutil
import subprocess
import sys
import venv
import zipfile

import pytest

from tests.e2e.conftest import ROOT
from tests.e2e.test_lairmake import FOREIGN

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("wheel")]
PIP = ["-m", "pip", "--disable-pip-version-check", "--quiet"]
MAKES = [*PIP, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir"]


def output(*command, cwd):
    ended = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def wheel_of(source, folder):
    """Return the wheel of a project, which is a path or a URL that pip knows."""
    output(sys.executable, *MAKES, folder, source, cwd=folder)
    (wheel,) = folder.glob("*.whl")
    return wheel


def names(wheel):
    with zipfile.ZipFile(wheel) as packed:
        return sorted(packed.namelist())


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A git repository of what is here, committed or not."""
    folder = tmp_path_factory.mktemp("git") / "lairmake"
    listed = output("git", "ls-files", "-co", "--exclude-standard", "-z", cwd=ROOT)
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    output("git", "init", "--quiet", cwd=folder)
    output("git", "add", "--all", "--force", cwd=folder)
    person = ["-c", "user.name=Anybody", "-c", "user.email=anybody@example.org"]
    output("git", *person, "commit", "--quiet", "--message=All", cwd=folder)
    return folder


@pytest.fixture(scope="module")
def wheel(repository, tmp_path_factory):
    return wheel_of(repository, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def programs(wheel, tmp_path_factory):
    """The folder of the programs of an environment with the wheel and what it requires."""
    place = tmp_path_factory.mktemp("environment") / "venv"
    venv.create(place, with_pip=True)
    install = [place / "bin/python", *PIP, "install", "--no-deps"]
    lock = ROOT / "requirements/build.lock"
    output(*install, "--require-hashes", "--requirement", lock, cwd=place)
    output(*install, wheel, cwd=place)
    return place / "bin"


@pytest.fixture(scope="module")
def mine(programs, tmp_path_factory):
    """A repository of a user, with a layer of theirs that was built, and a package `stages`."""
    folder = tmp_path_factory.mktemp("mine")
    (folder / "projects").mkdir()
    (folder / "stages").mkdir()
    (folder / "stages/__init__.py").write_text(FOREIGN, encoding="utf-8")
    output(programs / "lairmake", "new", "mine", cwd=folder)
    assert "mine: 13 stages ran" in output(programs / "lairmake", cwd=folder)
    return folder


def test_the_wheel_holds_what_builds_and_no_tests(wheel):
    tops = {name.partition("/")[0] for name in names(wheel)}
    assert tops == {"lairmake", "lairmake-0.1.0.dist-info"}
    packed = {re.sub(r"^lairmake/(projects|stages|templates)/", r"\1/", n) for n in names(wheel)}
    folders = ("lairmake", "projects", "stages", "templates")
    listed = output("git", "ls-files", "-co", "--exclude-standard", *folders, cwd=ROOT).split()
    assert {name for name in listed if (ROOT / name).is_file()} <= packed


def test_git_and_a_source_distribution_give_the_same_wheel(repository, wheel, tmp_path):
    (tmp_path / "git").mkdir()
    assert names(wheel_of(f"git+file://{repository}", tmp_path / "git")) == names(wheel)
    (tmp_path / "source").mkdir()
    made = ["-m", "hatchling", "build", "--target", "sdist", "--directory", str(tmp_path)]
    output(sys.executable, *made, cwd=repository)
    (packed,) = tmp_path.glob("*.tar.gz")
    assert names(wheel_of(packed, tmp_path / "source")) == names(wheel)


def test_a_layer_made_like_fc_has_the_texts_of_fc(mine):
    texts = {path.name: path.read_bytes() for path in (mine / "cache/mine").glob("*.isl")}
    assert texts == {path.name: path.read_bytes() for path in (ROOT / "cache/fc").glob("*.isl")}


@pytest.mark.parametrize("words", [["doit"], ["python", "-m", "doit"]])
def test_doit_builds_with_the_dodo_file_of_the_documents(programs, mine, words):
    document = (ROOT / "docs/own_repository.md").read_text(encoding="utf-8")
    (dodo,) = re.findall(r"^```python\n(.*?)^```$", document, re.MULTILINE | re.DOTALL)
    (mine / "dodo.py").write_text(dodo, encoding="utf-8")
    try:
        said = output(programs / words[0], *words[1:], cwd=mine)
        assert said == "1 layer unchanged\n"
        assert "ff on wse2" in output(programs / words[0], *words[1:], "mine", cwd=mine)
    finally:
        (mine / "dodo.py").unlink()


def test_a_network_and_a_kernel_need_no_checkout(programs, mine):
    output(programs / "lairmake", "new", "kernel", "--like", "krnl0_16", cwd=mine)
    assert "kernel: 9 parts" in output(programs / "lairmake", "kernel", cwd=mine)
    shutil.copytree(ROOT / "projects/mlp", mine / "projects/mlp")
    assert "mlp: 3 parts" in output(programs / "lairmake", "mlp", cwd=mine)


def test_a_report_a_sweep_and_a_trace_need_no_checkout(programs, mine):
    """What draws pages is in the wheel."""
    built = mine / "projects/mine/build"
    assert "build/report.html\n" in output(programs / "lairmake", "report", "mine", cwd=mine)
    assert 'id="data"' in (built / "report.html").read_text(encoding="utf-8")
    output(programs / "lairmake", "report", "mine", "--svg", cwd=mine)
    assert (built / "grid.svg").read_text(encoding="utf-8").startswith("<svg ")
    assert "512 events" in output(programs / "lairmake", "trace", "mine", cwd=mine)
    swept = output(programs / "lairmake", "sweep", "mine", "--set", "data.seed=0,1", cwd=mine)
    assert swept.startswith("mine: 2 combinations\n")
    assert (built / "sweep/sweep.svg").is_file()


def test_tables_of_a_layer_need_a_checkout(programs, mine):
    """What measures is not in the wheel."""
    words = [programs / "lairmake", "evaluate", "mine"]
    ended = subprocess.run(words, cwd=mine, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (
        3, "", "ERROR: evaluate: only a checkout of Lairmake measures and writes documents\n"
        "hint: clone its repository, and run ./do evaluate there\n",
    )


def test_a_program_needs_no_checkout(programs, mine):
    """Neither to be built, in a process of its own, nor to be run by Python alone."""
    output(programs / "lairmake", "new", "heat", "--like", "heat", cwd=mine)
    said = output(programs / "lairmake", "heat", cwd=mine)
    assert "heat: 10 stages ran" in said and "right, bit for bit: NumPy, graph, fabric" in said
    assert "after 20 steps" in output(programs / "python", "heat.py", cwd=mine / "projects/heat")


def test_python_imports_it(programs, mine):
    code = "import lairmake; print(lairmake.build('projects/mine').cycles.simd)"
    assert output(programs / "python", "-P", "-c", code, cwd=mine) == "140\n"


def test_nothing_is_written_beside_the_code(programs, mine, wheel):
    (place,) = programs.parent.glob("lib/python*/site-packages/lairmake")
    found = {p.relative_to(place.parent).as_posix() for p in place.rglob("*") if p.is_file()}
    assert {name for name in found if "__pycache__" not in name} <= set(names(wheel))
