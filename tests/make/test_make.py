"""What the Make promises to the stages."""

import pytest

from lairmake.stages.diagnose import UndeclaredReadError, UserError
from lairmake.stages.machine.profile import PROFILES
from lairmake.stages.make.core.inputs import FolderInputs
from lairmake.stages.make.core.layers import find_layers, open_folder
from lairmake.stages.make.core.outputs import write_outputs
from lairmake.stages.make.core.stage import check_names
from lairmake.stages.make.store.folders import shown_path
from lairmake.stages.mapping.machine import read_machine


@pytest.fixture
def layer(tmp_path):
    folder = tmp_path / "projects" / "a"
    (folder / "inputs").mkdir(parents=True)
    (folder / "layer.yaml").write_text("machine: ideal\n", encoding="utf-8")
    return open_folder(folder)


def test_a_file_that_is_not_declared_is_not_read(layer):
    with pytest.raises(UndeclaredReadError, match="lair\\.isl is read but not declared"):
        FolderInputs(layer, ("layer.yaml",)).text("lair.isl")


def test_a_file_deeper_than_a_declared_pattern_is_not_read(layer):
    (layer.path / "inputs/more").mkdir()
    (layer.path / "inputs/more/x.npy").touch()
    with pytest.raises(UndeclaredReadError, match=r"inputs/more/x\.npy is read but not declared"):
        FolderInputs(layer, ("inputs/*",)).array("inputs/more/x.npy")


@pytest.mark.parametrize("pattern", ["*.mlir", "inputs/*/*", "*"])
def test_files_that_are_not_declared_are_not_looked_for(layer, pattern):
    with pytest.raises(UndeclaredReadError):
        FolderInputs(layer, ("*.lair", "inputs/*")).names(pattern)


def test_a_stage_must_return_what_it_declares():
    with pytest.raises(AssertionError, match=r"stage route did not return \['routes\.isl'\]"):
        check_names("route", ("routes.isl",), {})


def test_a_stage_must_not_return_what_it_does_not_declare():
    with pytest.raises(AssertionError, match=r"route does not declare \['more\.isl'\]"):
        check_names("route", ("routes.isl",), {"routes.isl": b"", "more.isl": b""})


def test_a_file_that_holds_its_content_is_left_alone(layer):
    write_outputs(layer, ("lair.isl",), {"lair.isl": b"same"})
    before = (layer.cache / "lair.isl").stat()
    write_outputs(layer, ("lair.isl",), {"lair.isl": b"same"})
    after = (layer.cache / "lair.isl").stat()
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)


def test_files_are_written_all_or_none(layer):
    layer.cache.mkdir(parents=True)
    (layer.cache / "b").touch()
    with pytest.raises(UserError) as raised:
        write_outputs(layer, ("a.isl", "b/c.isl"), {"a.isl": b"a", "b/c.isl": b"c"})
    assert str(raised.value).startswith(f"error: cannot write {shown_path(layer.cache / 'b')}")
    assert [p.name for p in layer.cache.iterdir()] == ["b"]


def test_text_is_utf_8_with_plain_line_ends(layer):
    (layer.path / "layer.yaml").write_bytes(b"\xef\xbb\xbfmachine: wse2\r\ntop: a\r\n")
    assert FolderInputs(layer, ("layer.yaml",)).text("layer.yaml") == "machine: wse2\ntop: a\n"


def test_text_that_is_damaged_is_a_user_error(layer):
    (layer.path / "layer.yaml").write_bytes(b"machine: \xff\n")
    with pytest.raises(UserError) as raised:
        FolderInputs(layer, ("layer.yaml",)).text("layer.yaml")
    place = shown_path(layer.path / "layer.yaml")
    assert str(raised.value) == f"error: {place} is not UTF-8 text: byte 9 is damaged\n"


def test_an_input_that_is_no_array_is_a_user_error(layer):
    (layer.path / "inputs/x.npy").write_bytes(b"\x93NUMPY but no more")
    with pytest.raises(UserError) as raised:
        FolderInputs(layer, ("inputs/*",)).arrays()
    assert str(raised.value) == (
        f"error: {shown_path(layer.path / 'inputs/x.npy')} is not a NumPy array\n"
        "hint: numpy.save writes such a file; arrays of objects are refused\n"
    )


def test_layers_are_found_at_any_depth_but_not_in_what_they_build(tmp_path):
    for name in ("a", "b/c", "a/build/d", "a/.lairmake/e"):
        (tmp_path / "projects" / name).mkdir(parents=True)
        (tmp_path / "projects" / name / "layer.yaml").touch()
    assert [layer.name for layer in find_layers(tmp_path)] == ["a", "b/c"]


def test_a_layer_by_another_spelling_is_the_same_layer(layer, tmp_path):
    (tmp_path / "link").symlink_to(layer.path)
    assert open_folder(tmp_path / "link") == layer
    assert open_folder(layer.path / ".." / "a") == layer


LAIR = "lair id() : float16 x[2] -> float16 y[2] { all (i) in (2) y[i] += x[i] }\n"
ONE_PE = 'target: "{ PE[1, 1] }"\n'
BOTH = ("layer.yaml", "*.lair")


def write(layer, **files):
    for name, text in files.items():
        (layer.path / name.replace("_", ".")).write_text(text, encoding="utf-8")


def test_the_only_lair_is_the_one_to_build(layer):
    write(layer, layer_yaml=ONE_PE, some_lair=LAIR)
    inputs = FolderInputs(layer, BOTH)
    assert inputs.lair().name == "id"
    assert sorted(inputs.reads) == ["layer.yaml", "some.lair"]


def test_of_two_lairs_one_must_be_named(layer):
    write(layer, layer_yaml=ONE_PE, a_lair=LAIR, b_lair=LAIR)
    with pytest.raises(UserError) as raised:
        FolderInputs(layer, BOTH).lair()
    assert str(raised.value) == (
        f"error: {shown_path(layer.path)} holds 2 .lair files (a.lair, b.lair)\n"
        "hint: name the one to build in layer.yaml: `lair: NAME.lair`\n"
    )


def test_a_layer_without_lair_is_a_user_error(layer):
    write(layer, layer_yaml=ONE_PE)
    with pytest.raises(UserError) as raised:
        FolderInputs(layer, BOTH).lair()
    assert str(raised.value) == (
        f"error: {shown_path(layer.path)} holds no .lair file\n"
        "hint: what is computed is said in NAME.lair beside layer.yaml, or in NAME.mlir alone\n"
    )


def test_the_lair_named_must_be_there(layer):
    write(layer, layer_yaml=ONE_PE + "lair: c.lair\n", a_lair=LAIR)
    with pytest.raises(UserError) as raised:
        FolderInputs(layer, BOTH).lair()
    assert str(raised.value) == (
        f"{shown_path(layer.path / 'layer.yaml')}:2:7: error: c.lair does not exist\n"
        "  lair: c.lair\n"
        "        ^^^^^^\n"
        "hint: the .lair files here: a.lair\n"
    )


def machine_of(layer):
    inputs = FolderInputs(layer, BOTH)
    return read_machine(inputs.mapping(), inputs)


def test_a_machine_may_change_figures_of_a_profile(layer):
    write(layer, layer_yaml=ONE_PE + "machine: {profile: wse2, hop: 7}\n")
    profile = machine_of(layer)
    assert (profile.name, profile.hop) == ("wse2", 7)


def test_a_machine_may_be_a_file_which_counts_as_read(layer):
    write(layer, layer_yaml=ONE_PE + "machine: mine.yaml\n")
    write(layer, mine_yaml=(PROFILES / "ideal.yaml").read_text(encoding="utf-8"))
    inputs = FolderInputs(layer, BOTH)
    assert read_machine(inputs.mapping(), inputs).name == "mine"
    assert list(inputs.further) == ["figures//mine.yaml"]


def test_an_unknown_machine_is_a_user_error(layer):
    write(layer, layer_yaml=ONE_PE + "machine: wse9\n")
    with pytest.raises(UserError) as raised:
        machine_of(layer)
    assert str(raised.value) == (
        f"{shown_path(layer.path / 'layer.yaml')}:2:10: error: unknown profile wse9\n"
        "  machine: wse9\n"
        "           ^^^^\n"
        "hint: profiles: ideal, paper, systolic, wse1, wse2, wse3\n"
    )
