"""Program folders in the Make, with two small stages: one parses the source, one runs it."""

import json
import os

import pytest

from lairmake.stages.make.core.key import action_key, may_be_opened
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.doit.commands.watch import _places
from lairmake.stages.make.store.state import memo_of
from lairmake.stages.make.store.store import bytes_of_further, store_of
from tests.e2e.conftest import LAYER_DODO, printed

SOURCE = "see('mesh.txt')\nsee('parts/size.txt')  # how large it is\n"


@pytest.fixture
def sun(small):
    """A workspace with a program, which opens two files."""
    write(small, "projects/sun")
    return small


def write(space, folder):
    space.write(f"{folder}/dodo.py", LAYER_DODO)
    space.write(f"{folder}/program.yaml", "")
    space.write(f"{folder}/heat.py", SOURCE)
    space.write(f"{folder}/mesh.txt", "mesh\n")
    space.write(f"{folder}/parts/size.txt", "3\n")


def test_a_program_is_built_in_a_workspace_alone_and_in_folders(sun):
    write(sun, "projects/of/stars/moon")
    assert sun.build("sun") == ["sun:translate", "sun:capture"]
    assert sun.hits("of") == ["of/stars/moon:translate", "of/stars/moon:capture"]
    assert sun.read("cache/of/stars/moon/program.il") == "see('mesh.txt')\nsee('parts/size.txt')\n"
    assert sun.build(cwd="projects/sun") == []
    write(sun, "alone")
    assert sun.build(cwd="alone") == ["alone:translate", "alone:capture"]
    assert sun.files("alone")[:2] == ["alone/build/data/x.npy", "alone/cache/graph.yaml"]


def test_comments_stop_at_the_intermediate_language(sun):
    sun.build("sun")
    sun.write("projects/sun/heat.py", "# heat\n\n" + SOURCE)
    assert sun.build("sun") == ["sun:translate"]
    assert sun.build("sun") == []


def test_what_a_program_opens_is_its_input(sun):
    sun.build("sun")
    for name in ("mesh.txt", "parts/size.txt"):
        sun.write(f"projects/sun/{name}", "other\n")
        assert sun.build("sun") == ["sun:capture"]
    sun.write("projects/sun/more.txt", "nobody reads it\n")
    assert sun.build("sun") == []
    sun.write("projects/sun/mesh.txt", "mesh\n")
    sun.write("projects/sun/parts/size.txt", "3\n")
    assert sun.hits("sun") == ["sun:capture"]


@pytest.mark.wide
def test_a_program_may_open_another_file_than_before(sun):
    """Once it is opened a file counts, or no later build would find what this one keeps."""
    sun.write("projects/sun/heat.py", "see('choice')\nsee(seen[0])\n")
    for name in ("mesh.txt", "parts/size.txt", "mesh.txt"):
        sun.write("projects/sun/choice", name)
        assert sun.run("sun").code == 0
        assert sun.read(f"projects/sun/{name}")[:-1] in sun.read("cache/sun/graph.yaml")
        assert sun.build("sun") == [] == sun.hits("sun")
    sun.write("projects/sun/choice", "parts/size.txt")
    assert sun.hits("sun") == ["sun:capture"]


@pytest.mark.wide
def test_a_file_that_was_not_there_and_names_in_a_folder_are_inputs(sun):
    sun.write("projects/sun/heat.py", "see('late.txt')\nsee('parts/')\nsee('./')\n")
    sun.build("sun")
    assert sun.build("sun") == []
    sun.write("projects/sun/late.txt", "late\n")
    assert sun.build("sun") == ["sun:capture"]
    sun.write("projects/sun/parts/weight.txt", "1\n")
    assert sun.build("sun") == ["sun:capture"]
    sun.write("projects/sun/parts/weight.txt", "2\n")
    assert sun.build("sun") == []
    os.unlink(sun.root / "projects/sun/late.txt")
    assert sun.build("sun") == ["sun:capture"]


def test_what_is_edited_while_the_program_runs_is_read_again(sun):
    sun.write("projects/sun/count.txt", "0")
    sun.write("projects/sun/heat.py", """\
from pathlib import Path
see('mesh.txt')
count = Path(place, 'count.txt')
count.write_text(str(int(count.read_text()) + 1))
if count.read_text() == '1':
    Path(place, 'mesh.txt').write_text('another one')
""")
    sun.write("projects/sun/program.yaml", f"parameters: {{place: {sun.root}/projects/sun}}\n")
    sun.build("sun")
    assert sun.read("projects/sun/count.txt") == "2"
    assert sun.read("cache/sun/graph.yaml") == "seen: ['another one']\n"


@pytest.mark.parametrize("name", ["build/data/x.npy", "away/passwd"])
def test_what_stages_write_and_what_lies_elsewhere_is_refused(sun, name):
    os.symlink("/etc", sun.root / "projects/sun/away")
    sun.write("projects/sun/heat.py", f"see({name!r})\n")
    run = sun.run(cwd="projects/sun")
    assert run.code == 1
    assert run.err == f"""\
error: the program opens {name}, and no edit of it would be seen
hint: what it reads lies in its folder: not in build/ or cache/, and not behind a link
"""
    assert not (sun.root / "cache/sun/graph.yaml").exists()


def test_names_that_a_store_claims_count_where_they_lie_in_the_folder(sun):
    """A store may say anything of what else a stage read: a key must not follow other files."""
    os.symlink("/etc", sun.root / "projects/sun/away")
    sun.write("projects/sun/heat.py", "x = 1\n")
    sun.build("sun")
    folder = open_folder(sun.root / "projects/sun")
    store, memo = store_of(folder.home), memo_of(folder.home / ".lairmake")
    key = action_key("capture", folder, store, memo)
    claimed = ["/etc/passwd", "../x", "a/../../x", "away/passwd", "build/data/x.npy", "cache/x",
               ".lairmake/state.db", "mesh.txt", "parts/", "./", "heat.py", ""]
    believed = ["mesh.txt", "parts/", "./", "heat.py"]
    assert [name for name in claimed if may_be_opened(folder, name)] == believed
    store.shelf.write("entries", key.primary, bytes_of_further(claimed[:-1], key.primary))
    found = action_key("capture", folder, store, memo)
    assert set(found.further) == set(believed)
    layer = open_folder(sun.root / "projects/a")
    primary = action_key("parse", layer, store, memo).primary
    store.shelf.write("entries", primary, bytes_of_further(["a.lair", "dodo.py"], primary))
    assert action_key("parse", layer, store, memo).further == {}


def test_any_folder_of_a_program_is_watched_but_what_is_built(sun):
    sun.build("sun")
    folder = sun.root / "projects/sun"
    for name in ("parts/deep", "__pycache__", ".git", "inputs"):
        (folder / name).mkdir()
    found = {place.relative_to(folder).as_posix() for place in _places(folder)}
    assert found == {".", "inputs", "parts", "parts/deep"}
    assert _places(sun.root / "projects/a") == [sun.root / "projects/a"]


def test_a_name_that_no_file_may_have_is_no_input(sun):
    sun.write("projects/sun/heat.py", "opened = see('mesh.txt')\nsee('x' * 5000)\n")
    assert sun.build("sun") == ["sun:translate", "sun:capture"]
    assert sun.build("sun") == []


@pytest.mark.wide
def test_looking_runs_no_program(sun):
    sun.write("projects/sun/heat.py", "open(trace, 'a').write('ran')\n")
    sun.write("projects/sun/program.yaml", f"parameters: {{trace: {sun.root}/trace}}\n")
    looks = [["list", "--all"], ["dry", "sun"], ["show", "sun", "translate"], ["why", "sun"],
             ["info", "sun:capture"], ["graph", "sun"], ["clean", "sun"], ["forget", "sun"]]
    for words in looks[:4]:
        sun.run(*words)
    assert not (sun.root / "trace").exists()
    sun.build("sun")
    assert sun.read("trace") == "ran"
    for words in looks:
        sun.run(*words)
    assert sun.read("trace") == "ran"


def test_a_text_of_a_program_may_be_edited_and_kept(sun):
    sun.build("sun")
    sun.write("cache/sun/program.il", "see('mesh.txt')\n")
    assert sun.build("--keep-edits", "sun") == ["sun:capture"]
    assert sun.read("cache/sun/program.il") == "see('mesh.txt')\n"
    assert sun.build("sun") == []
    assert sun.read("cache/sun/program.il") == "see('mesh.txt')\nsee('parts/size.txt')\n"
    sun.write("cache/sun/program.il", "see('mesh.txt'\n")
    assert sun.run("--keep-edits", "sun").err == """\
cache/sun/program.il:1:4: error: no Python: '(' was never closed
  see('mesh.txt'
     ^
"""


def test_the_log_says_which_opened_file_changed(sun):
    sun.build("sun")
    sun.write("projects/sun/parts/size.txt", "4\n")
    sun.build("sun")
    (event,) = json.loads(printed(sun.run("why", "--json", "sun:capture")))
    assert [cause["name"] for cause in event["causes"]] == ["parts/size.txt"]
