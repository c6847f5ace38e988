"""Whatever a name is, nothing is written outside of the folder it comes from.

Names reach paths from MLIR (a function: the `.lair` of tiles; values: parts, inputs/, outputs/),
from LAIR (tensors: outputs/, programs), from layer.yaml (`lair`, `machine`), from network.yaml
(parts, tensors) and kernel.yaml (`mlir`, volumes), from the names of files in inputs/, and from
what somebody edited in operations.yaml and tiles.yaml.
"""

import re

import pytest
import yaml
from hypothesis import example, given, settings, strategies as st

from lairmake.stages import KERNEL, TILES
from lairmake.stages.diagnose import Source, UserError, UserErrors
from lairmake.stages.lair.grammar import parse_lair
from lairmake.stages.lair.tree import LONGEST_NAME, make_plain_name
from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.core.inputs import FolderInputs
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.store.folders import file_of
from lairmake.stages.mapping.network_yaml import read_network
from lairmake.stages.parts.tiling import list_placed_tiles
from lairmake.stages.volumes.operation import read_program
from tests.kernel.tiled import MATMUL, compared, opened

PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
PIECES = ["..", "/", "\\", "a", "\0", "é", "*", "~", ".lair", " "]
UGLY = st.one_of(st.text(max_size=200), st.lists(st.sampled_from(PIECES)).map("".join))


@pytest.mark.wide
@given(UGLY)
@example("../../x")
@example("torch-jit-export")
@example("")
@example("main")
def test_any_name_of_mlir_becomes_one_of_lair(wish):
    name = make_plain_name(wish)
    assert PLAIN.fullmatch(name) and len(name) <= LONGEST_NAME + 2
    body = f"{{ all (i) in (2) y[i] = {name}[i] }}"
    tensor = f"lair {name}x(): float16 {name}[2] -> float16 y[2] {body}"
    assert parse_lair(Source(path="a.lair", text=tensor)).nodes[0].inputs[0].name == name


@pytest.mark.parametrize(("wish", "name"), [
    ("../../x", "v______x"), ("torch-jit-export", "torch_jit_export"), ("main", "main_"),
])
def test_a_function_gives_its_name_to_the_tiles(tmp_path, wish, name):
    text = MATMUL.replace("@matmul", f'@"{wish}"')
    folder = opened(tmp_path / "a/b/k", text, "tiles: {c: [4, 6, 6]}\n")
    before = {p for p in tmp_path.rglob("*") if not p.is_relative_to(folder.path)}
    given_, expected = compared(folder)
    assert (given_ == expected).all()
    found = {p.name for p in (folder.build / "parts").glob("*/*.lair")}
    assert found == {f"{name}.lair"}
    assert before == {p for p in tmp_path.rglob("*") if not p.is_relative_to(folder.path)}


@pytest.mark.parametrize("name", ["../../x", "/tmp/x", "a/b", "a.b", "", "a\n"])
def test_no_stage_believes_a_name_in_a_text_that_somebody_edited(name):
    with pytest.raises(UserError, match="cannot be a name"):
        read_program({"kernel": name, "types": {}})
    with pytest.raises(UserError, match="cannot be a name"):
        read_program({"kernel": "k", "types": {name: "float32"}})
    with pytest.raises(UserError, match="cannot be a name"):
        list(list_placed_tiles({name: {"counts": [1]}}))
    with pytest.raises(UserError, match="cannot be a name"):
        list(list_placed_tiles({"a": {"counts": [1], "inputs": {name: {}}}}))


@pytest.mark.wide
@given(UGLY)
@example("../../y")
def test_ends_of_crossings_are_names(word):
    for value in (f"a.{word}", [{"from": f"a.{word}"}]):
        text = yaml.safe_dump({"parts": {"a": None, "b": None}, "tensors": {"b.x": value}})
        try:
            network = read_network(Source(path="network.yaml", text=text))
        except UserErrors:
            continue
        assert all(PLAIN.fullmatch(g.end.tensor) for c in network.crossings for g in c.given)


@given(UGLY)
@example("../b")
def test_parts_of_networks_are_names(word):
    text = yaml.safe_dump({"parts": {word: None}})
    try:
        network = read_network(Source(path="network.yaml", text=text))
    except UserErrors:
        return
    assert all(PLAIN.fullmatch(name) for name in network.parts)


@settings(max_examples=40)
@given(UGLY)
@example("../other/a.lair")
@example("/etc/passwd.lair")
def test_a_layer_is_read_from_a_file_of_its_folder(tmp_path_factory, word):
    folder = tmp_path_factory.mktemp("named")
    (folder / "other").mkdir()
    (folder / "l").mkdir()
    (folder / "other/a.lair").write_text("lair f(): float16 x -> float16 y\n", encoding="utf-8")
    mapping = yaml.safe_dump({"lair": word, "target": "{ PE[1, 1] }"})
    (folder / "l/layer.yaml").write_text(mapping, encoding="utf-8")
    with pytest.raises((UserError, UserErrors)):
        FolderInputs(open_folder(folder / "l"), ("layer.yaml", "*.lair")).lair()


@settings(max_examples=40)
@given(UGLY)
@example("other/k.mlir")
def test_a_kernel_is_read_from_a_file_of_its_folder(tmp_path_factory, word):
    folder = tmp_path_factory.mktemp("named")
    (folder / "other").mkdir()
    (folder / "other/k.mlir").write_text(MATMUL, encoding="utf-8")
    (folder / "kernel.yaml").write_text(yaml.safe_dump({"mlir": word}), encoding="utf-8")
    with pytest.raises((UserError, UserErrors)):
        run_stage("shape", open_folder(folder))


@pytest.mark.parametrize("key", ["outputs", "inputs", "facts", "sizes", "tiles"])
def test_names_in_kernel_yaml_are_those_of_volumes(tmp_path, key):
    value = {"sizes": {"../../x": 1}, "tiles": {"../../x": [1]}}.get(key, ["../../x"])
    folder = opened(tmp_path / "k", MATMUL, yaml.safe_dump({"facts": [], key: value}))
    with pytest.raises((UserError, UserErrors)) as caught:
        for stage in (KERNEL + TILES)[:-1]:
            run_stage(stage, folder)
    assert "../../x" in str(caught.value)
    assert not file_of(folder, "build/parts").exists()
