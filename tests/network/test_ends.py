"""Names of parts and their tensors in network.yaml, before anything is built."""

import pytest

from lairmake.stages.diagnose import UserErrors
from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.core.pipeline import tasks_until
from tests.network.test_connect import Network


@pytest.fixture
def net(tmp_path):
    return Network(tmp_path)


@pytest.mark.parametrize(("old", "new"), [
    ("b.x: a.y", "b.z: a.x"), ("{a: ,", "{a: , lost: ../gone,"),
])
def test_names_that_are_wrong_are_told_before_any_part_is_built(net, old, new):
    """Though what crosses is known only where its parts have their places, after a search."""
    net.edit("net/network.yaml", old, new)
    folder = net.open()
    assert [(each.name, stage) for each, stage in tasks_until(folder, "conclude")] == [
        ("net", "connect"), ("net", "conclude"),
    ]
    with pytest.raises(UserErrors):
        run_stage("connect", folder)
    net.edit("net/network.yaml", new, old)
    assert len(tasks_until(net.open(), "connect")) == 1 + 2 * 3
