"""What took isl too long is told of a graph by its name: it has no lines."""

from lairmake.stages.make.core.faults import too_hard
from lairmake.stages.make.core.layers import open_folder
from tests.e2e.conftest import ROOT


def test_a_graph_that_is_too_hard_for_isl_is_named():
    lenet = open_folder(ROOT / "projects/lenet")
    error = too_hard("fit", lenet, "isl needs more than 100 operations")
    assert str(error).endswith(
        "projects/lenet/lenet.onnx: stage fit: isl needs more than 100 operations\n"
        "hint: smaller `sizes`, a smaller `target`, or a graph of fewer nodes, are less work\n"
    )
