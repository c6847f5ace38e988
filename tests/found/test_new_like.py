"""What `new --like` takes: any kind of folder, of the workspace or shipped; or what to do first."""

import pytest

from lairmake.stages.diagnose import UserError
from lairmake.stages.make.doit.commands import models, new
from tests.e2e.conftest import ROOT

KINDS = {
    "fc": ["a.lair", "dodo.py", "layer.yaml"],
    "lenet": ["README.md", "dodo.py", "lenet.onnx", "network.yaml"],
    "krnl0_16": ["dodo.py", "kernel.yaml", "krnl0.mlir"],
    "heat": ["a.py", "dodo.py", "program.yaml"],
    "mlp": ["dodo.py", "first/dodo.py", "first/first.lair", "first/layer.yaml", "last/dodo.py",
            "last/last.lair", "last/layer.yaml", "network.yaml", "relu/dodo.py", "relu/layer.yaml",
            "relu/relu.lair"],
}
EXAMPLES = (
    "there are fc, the network mlp, the graph lenet, the kernel krnl0_16, the program heat, and "
    f"others below {ROOT}/projects"
)
HINTS = {
    "lenet/conv2": "lenet has parts once it was built: `lairmake new lenet --like lenet`, "
                   "`lairmake lenet`, `lairmake new a --like lenet/conv2`",
    "krnl0_16/act0_8": "krnl0_16 has parts once it was built: `lairmake new krnl0_16 --like "
                       "krnl0_16`, `lairmake krnl0_16`, `lairmake new a --like krnl0_16/act0_8`",
    "mlp/frst": "did you mean mlp/first?",
    "mlp/zzzzz": "the parts of mlp are mlp/first, mlp/last, mlp/relu",
    "fc/x": "did you mean fc?",
    "attention": "did you mean catalogue/attention?",
    "nothing": EXAMPLES,
}


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    """A workspace of somebody who has nothing but what is shipped."""
    (tmp_path / "projects").mkdir()
    monkeypatch.setattr(models, "user_folder", lambda: tmp_path)
    return tmp_path


def copied(like, name="a"):
    folder = models.place_of(name)
    new.copy_layer(models.find_model(like, name, "lairmake").path, folder, inputs=False)
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


@pytest.mark.parametrize("like", KINDS)
def test_a_folder_of_any_kind_is_copied(workspace, like):
    assert copied(like) == KINDS[like]


@pytest.mark.parametrize("like", HINTS)
def test_where_there_is_none_a_hint_says_what_to_type(workspace, like):
    with pytest.raises(UserError) as refused:
        models.find_model(like, "a", "lairmake")
    assert (refused.value.message, refused.value.hint) == (
        f"there is no layer {like}", HINTS[like]
    )


def test_a_folder_of_layers_says_which_are_in_it(workspace):
    with pytest.raises(UserError) as refused:
        models.find_model("catalogue", "a", "lairmake")
    assert refused.value.hint.startswith("catalogue is a folder of them: catalogue/attention, ")


@pytest.mark.long
def test_a_part_is_found_by_its_path_and_is_to_be_built_first(workspace):
    copied("krnl0_16", "own")
    for like in ("own/act0_8", "projects/own/act0_8"):
        with pytest.raises(UserError) as refused:
            models.find_model(like, "a", "lairmake")
        assert (refused.value.message, refused.value.hint) == (
            f"{like} is not built", "`lairmake own/act0_8` builds it"
        )


def test_paths_out_of_the_folder_start_from_the_new_one(workspace):
    copied("fc")
    (workspace / "projects/net").mkdir()
    given = 'parts:\n  first: ../a  # also ../a, not ../ab\n  last: "../b"\n'
    (workspace / "projects/net/network.yaml").write_text(given, encoding="utf-8")
    (workspace / "projects/a/layer.yaml").write_text("machine: ../my.yaml\n", encoding="utf-8")
    assert copied("net", "in/net") == ["dodo.py", "network.yaml"]
    assert copied("a", "in/it/layer") == ["dodo.py", "layer.lair", "layer.yaml"]
    network, layer = workspace / "projects/in/net/network.yaml", workspace / "projects/in/it/layer"
    assert network.read_text(encoding="utf-8") == (
        'parts:\n  first: ../../a  # also ../../a, not ../ab\n  last: "../../b"\n'
    )
    assert (layer / "layer.yaml").read_text(encoding="utf-8") == "machine: ../../../my.yaml\n"
