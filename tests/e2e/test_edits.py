"""What stages wrote, edited by hand: repaired, kept for one build, or pinned."""

import re
import shutil
import subprocess

import pytest

from tests.e2e.conftest import ROOT, Space

EDIT = ("  by: hull\n", "  by: loops\n")
CODE = "projects/fc/build/simd/pe_compute.c"
LOOP = "for (int i = 8 * PE_Y; i <= 8 * PE_Y + 7; i += 1)"
KEPT = "kept cache/fc/simd.yaml, as it was edited by hand\n"
REPAIRED = re.compile(
    r"repaired cache/fc/simd\.yaml, which was edited by hand: keep such edits with --keep-edits "
    r"or pin: \(this one is in (\.lairmake/store/edits/\w\w/\w{64})\)\n"
)
WHY = """
  cache/fc/simd.yaml, edited by hand
    line {line}, on_x.by: hull -> loops
  render  ran             simd.yaml changed: another program.yaml, simd/pe_compute.c
"""


@pytest.fixture
def fc(paper, tmp_path):
    """The layers of the paper for one test, built."""
    shutil.copytree(paper.root, tmp_path / "space")
    return Space(tmp_path / "space", ROOT)


def edit(space, name, old, new):
    text = space.read(name)
    assert old in text
    space.write(name, text.replace(old, new))


def contents(space):
    names = [*space.files("cache/fc"), *space.files("projects/fc/build")]
    return {name: (space.root / name).read_bytes() for name in names}


def number_of(text, line):
    return text.split(line)[0].count("\n") + 1


@pytest.mark.wide
def test_an_edit_that_is_kept_changes_the_programs_and_is_repaired_by_the_next_build(fc):
    before = contents(fc)
    assert LOOP not in fc.read(CODE)
    edit(fc, "cache/fc/simd.yaml", *EDIT)
    edited = fc.read("cache/fc/simd.yaml")
    said = fc.run("dry", "fc").out
    assert "  simd  from the store  what it wrote is not there, or edited" in said
    assert "  render    would run  " in fc.run("dry", "--keep-edits", "fc").out

    run = fc.run("--keep-edits", "fc")
    assert (run.code, run.ran, run.hits) == (0, ["fc:render", "fc:simulate"], [])
    assert run.out.startswith(KEPT)
    assert "  cycles  370 with vector instructions, 370 with loops: 1.00 times" in run.out
    assert LOOP in fc.read(CODE)
    assert fc.run("why", "fc:render").out.endswith(WHY.format(line=number_of(edited, EDIT[1])))
    again = fc.run("--keep-edits", "fc")
    assert (again.ran, again.hits) == ([], [])
    assert again.out.startswith(KEPT)

    repaired = fc.run("fc")
    assert (repaired.ran, repaired.hits) == ([], ["fc:simd", "fc:render", "fc:simulate"])
    (kept,) = REPAIRED.findall(repaired.out)
    assert fc.read(kept) == edited
    assert contents(fc) == before

    fc.write("cache/fc/simd.yaml", edited)
    assert fc.run("--keep-edits", "fc").hits == ["fc:render", "fc:simulate"]


@pytest.mark.wide
def test_an_edit_is_kept_by_two_processes_too(fc):
    edit(fc, "cache/fc/simd.yaml", *EDIT)
    run = fc.run("-n", "2", "--keep-edits", "fc")
    assert (run.code, run.ran) == (0, ["fc:render", "fc:simulate"])
    assert KEPT in run.out


@pytest.mark.wide
def test_an_edit_is_kept_while_what_comes_before_it_changes(fc):
    edit(fc, "cache/fc/simd.yaml", *EDIT)
    edit(fc, "projects/fc/layer.yaml", "N: 16", "N: 12")
    edit(fc, "projects/fc/layer.yaml", "i=0:15", "i=0:11")
    edit(fc, "projects/fc/layer.yaml", "j//4", "j//3")
    run = fc.run("--keep-edits", "fc")
    assert (run.code, "fc:simd" in run.ran) == (0, True)
    assert KEPT in run.out
    assert "on_x    a loop" in run.out
    repaired = fc.run("fc")
    assert (repaired.code, repaired.hits) == (0, ["fc:simd"])
    assert repaired.ran == ["fc:render", "fc:simulate"]
    assert REPAIRED.search(repaired.out)


@pytest.mark.wide
def test_a_pinned_file_stays_and_lets_the_layer_be_unchanged(fc):
    layer = fc.read("projects/fc/layer.yaml")
    edit(fc, "cache/fc/hulls.isl", "on_x_size := { [8] }", "on_x_size := { [7] }")
    fc.write("projects/fc/layer.yaml", layer + "pin: [hulls.isl]\n")
    run = fc.run("fc")
    place = f"cache/fc/hulls.isl:{line_of(fc, 'on_x_size :=')}:1"
    assert run.code == 1
    assert f"{place}: error: edited by hand, and stage simulate fails: y is wrong\n" in run.err
    assert "ON_X, MAC, SIZES(7)" in fc.read(CODE)
    fc.write("projects/fc/layer.yaml", layer)
    assert "repaired cache/fc/hulls.isl" in fc.run("fc").out
    assert "ON_X, MAC, SIZES(8)" in fc.read(CODE)

    edit(fc, "cache/fc/simd.yaml", *EDIT)
    fc.write("projects/fc/layer.yaml", layer + "pin: [simd.yaml]\n")
    assert KEPT in fc.run("fc").out
    assert fc.run().out.endswith(" layers unchanged\n")
    (fc.root / "cache/fc/simd.yaml").unlink()
    fc.build("fc")
    assert EDIT[0] in fc.read("cache/fc/simd.yaml")


@pytest.mark.wide
def test_an_edit_that_does_not_fit_its_space_is_an_error(fc):
    edit(fc, "cache/fc/hulls.isl", "on_x_size := { [8] }", "on_x_size := { [8, 1] }")
    before = contents(fc)
    run = fc.run("--keep-edits", "fc")
    assert (run.code, run.ran) == (1, ["fc:approximate"])
    assert run.err == f"""cache/fc/hulls.isl:{line_of(fc, "on_x_size :=")}:14: error: \
{{ [i0, i1] }} is another space
  on_x_size := {{ [8, 1] }};
               ^^^^^^^^^^
hint: on_x_size is in {{ [i0] }}
"""
    assert contents(fc) == before


def line_of(space, text):
    return space.read("cache/fc/hulls.isl").split(text)[0].count("\n") + 1


def test_an_edit_that_a_later_stage_stumbles_over_is_an_error_of_the_user(fc):
    text = fc.read("cache/fc/compressions.isl")
    fc.write("cache/fc/compressions.isl", re.sub(r"\non_x := .*;", "\non_x := { };", text))
    run = fc.run("--keep-edits", "fc")
    assert (run.code, run.ran) == (1, ["fc:approximate"])
    line = fc.read("cache/fc/compressions.isl").split("on_x :=")[0].count("\n") + 1
    said = f"cache/fc/compressions.isl:{line}:1: error: edited by hand, and stage approximate fails"
    assert run.err == (
        f"{said}: what it says does not fit the other texts\n"
        "  on_x := { };\n  ^^^^^^^^^^^^\nhint: undo the edit\n"
    )


@pytest.mark.wide_after(2)
@pytest.mark.parametrize(("name", "old", "new", "said"), [
    ("simd.yaml", "  by: hull", "  by: luck",
     "on_x.by must be one of hull, exact, relaxed, lattice, basis, enumerate, configure, nested"),
    ("simd.yaml", "on_x:\n", "on_x: loops\nx:\n", "on_x must be a mapping"),
    ("simd.yaml", "  operation: MAC", "  operation: [MAC]", "on_x.operation must be a text"),
    ("simd.yaml", "  operation: MAC", "  operation: ASK",
     "edited by hand, and stage simulate fails"),
    ("simd.yaml", "  - {element: x,", "  - {element: z,", "edited by hand, and stage render fails"),
    ("tasks.yaml", "    shape: [16]", "    shape: 16", "tensors.x.shape must be a list"),
    ("tasks.yaml", "arrival: x}", "arrival: z}", "edited by hand, and stage instances fails"),
])
def test_a_wrong_value_in_yaml_is_an_error_of_the_user(fc, name, old, new, said):
    edit(fc, f"cache/fc/{name}", old, new)
    run = fc.run("--keep-edits", "fc")
    line = number_of(fc.read(f"cache/fc/{name}"), new)
    assert (run.code, "Traceback" in run.err) == (1, False)
    assert any(
        each.startswith(f"cache/fc/{name}:{line}:") and f"error: {said}" in each
        for each in run.err.splitlines()
    ), run.err


def test_only_texts_in_the_cache_are_kept(fc):
    edit(fc, CODE, "SIZES(8)", "SIZES(7)")
    run = fc.run("--keep-edits", "fc")
    assert run.hits == ["fc:render"]
    assert f"repaired {CODE}, which was edited by hand: no edit in build/ can be kept (" in run.out


def test_a_stale_text_is_no_edit(fc):
    """The cache of another state of the sources, as git leaves it there, is never built from."""
    other = fc.read("cache/fc/placement.isl")
    edit(fc, "projects/fc/layer.yaml", "1 + i//8", "i//8")
    fc.run("fc:place")
    assert fc.read("cache/fc/placement.isl") != other
    new = fc.read("cache/fc/placement.isl")
    fc.write("cache/fc/placement.isl", other)
    run = fc.run("--keep-edits", "fc:place")
    assert (run.hits, "kept" in run.out) == (["fc:place"], False)
    assert fc.read("cache/fc/placement.isl") == new


def test_a_text_that_git_brought_is_no_edit(small):
    """Another version of the stages wrote it, and no store here knows it."""
    small.build()
    small.write("cache/a/placement.isl", "another version\n")
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b")
    for words in (("init",), ("add", "cache"), ("commit", "-m", "a")):
        subprocess.run([*git, *words], cwd=small.root, check=True, capture_output=True)
    run = small.run()
    assert (run.code, run.hits, "edited" in run.out) == (0, ["a:place"], False)
    small.write("cache/a/placement.isl", "by hand\n")
    assert "repaired cache/a/placement.isl, which was edited by hand" in small.run().out


def test_only_a_text_of_a_stage_can_be_pinned(fc):
    with (fc.root / "projects/fc/layer.yaml").open("a") as file:
        file.write("pin: [hull.isl]\n")
    run = fc.run("fc")
    line = fc.read("projects/fc/layer.yaml").count("\n")
    assert (run.code, run.ran) == (1, ["fc:parse"])
    assert run.err == f"""projects/fc/layer.yaml:{line}:7: error: hull.isl cannot be pinned
  pin: [hull.isl]
        ^^^^^^^^
hint: did you mean hulls.isl?
"""
