"""What documents say that a build prints is what it prints, but for what `...` leaves out."""

import re

import pytest

from tests.e2e.conftest import DODO, ROOT, Space

BLOCK = re.compile(r"^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def workspace(tmp_path):
    """Return a function that copies a folder of projects/ into a workspace."""
    space = Space(tmp_path / "space", ROOT)
    space.write("dodo.py", DODO)

    def copy(name):
        space.copy(ROOT / "projects" / name, f"projects/{name}")
        return space

    return copy


def block(document, word):
    """The lines of the one block of a document that begins with a word."""
    text = (ROOT / document).read_text(encoding="utf-8")
    (found,) = (each for each in BLOCK.findall(text) if each.lstrip().startswith(word))
    return found.splitlines()


def is_shown(line, printed):
    """Say whether a line of a document is among those that were printed, up to `...`."""
    kept, *more = line.partition(" ...")
    return any(each.startswith(kept.rstrip()) if more[0] else each == line for each in printed)


def printed_by(space, name):
    run = space.plain(name)
    assert run.code == 0, run.err
    return run.out.splitlines()


@pytest.mark.long
def test_the_summary_of_fc_in_documents_is_what_a_build_prints(workspace):
    printed = printed_by(workspace("fc"), "fc")
    for document in ("README.md", "docs/results.md"):
        said = block(document, "ff on wse2")
        assert printed[-len(said):] == said, document


@pytest.mark.long
@pytest.mark.parametrize(("document", "name"), [
    ("docs/networks.md", "mlp"), ("docs/kernels.md", "krnl0_tiled"),
])
def test_a_table_of_parts_in_a_document_is_what_a_build_prints(workspace, document, name):
    said, printed = block(document, f"{name}: "), printed_by(workspace(name), name)
    assert len(said) > 6 and [line for line in said if not is_shown(line, printed)] == []


@pytest.mark.long
def test_what_is_said_of_lenet_is_what_a_build_prints(workspace):
    """But for the last digits of what onnx.reference gives: they depend on NumPy."""
    said = [*block("docs/graphs.md", "lenet: "), *block("docs/graphs.md", "on one fabric")]
    printed = "\n".join(printed_by(workspace("lenet"), "lenet"))
    digits = re.compile(r"[\d.e-]+(?= at most from onnx)")
    lines = digits.sub("E", printed).splitlines()
    assert len(said) > 8 and [line for line in said if digits.sub("E", line) not in lines] == []


@pytest.mark.long
def test_what_networks_on_one_fabric_take_is_what_a_build_prints(workspace):
    space = workspace("mlp")
    network = "projects/mlp/network.yaml"
    space.write(network, "run: whole\n" + space.read(network))
    said, printed = block("docs/networks.md", "on one fabric"), printed_by(space, "mlp")
    assert len(said) == 2 and [line for line in said if line not in printed] == []
    for part in ("first", "relu", "last"):
        layer = f"projects/mlp/{part}/layer.yaml"
        space.write(layer, "invocations: 3\n" + space.read(layer))
    (first,) = re.findall(r"first result after \d+ cycles, then one per \d+",
                          " ".join(printed_by(space, "mlp")))
    assert f"`{first}`" in " ".join((ROOT / "docs/networks.md").read_text("utf-8").split())
