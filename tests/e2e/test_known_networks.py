"""ResNet-18 and MobileNetV2 by real doit processes, whole: each part is right, equal ones once.

Their structure is that of the papers; images have 32 x 32 points, ten classes are told apart, and
there are fewer channels, so that a build takes minutes and not hours.
"""

import json

import pytest
import yaml

from tests.e2e.conftest import DODO
from tests.network.onnx.networks import make_mobilenet, make_resnet


@pytest.mark.long
@pytest.mark.parametrize(("model", "count", "distinct"), [
    pytest.param(make_resnet(width=8, image=32, classes=10), 31, 22, id="ResNet-18"),
    pytest.param(make_mobilenet(width=0.25, image=32, classes=10), 65, 36, id="MobileNetV2"),
])
def test_a_known_network_is_right(space, model, count, distinct):
    space.write("dodo.py", DODO)
    folder = space.root / "projects/net"
    folder.mkdir(parents=True)
    (folder / "net.onnx").write_bytes(model.SerializeToString())
    ran = space.build()
    found = json.loads(space.read("projects/net/build/results.json"))
    assert len(found["parts"]) == count
    assert [each["right"] for each in found["check"].values()] == [True]
    parts = yaml.safe_load(space.read("cache/net/parts.yaml"))
    assert len({each["lair"] for each in parts.values()}) == distinct
    assert sum(task.endswith(":choose") for task in ran) == distinct
    assert space.hits() == []
