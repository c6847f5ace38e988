"""ResNet-18 and MobileNetV2 by real doit processes, whole: each part is right, equal ones once.

Parts are equal that compute alike, and over the same lanes: with the same LAIR and layer.yaml.

Their structure is that of the papers; images have 32 x 32 points, ten classes are told apart, and
there are fewer channels, so that a build takes minutes and not hours.
"""

import json

import pytest
import yaml

from tests.e2e.conftest import DODO
from tests.network.onnx.networks import make_mobilenet, make_resnet


@pytest.mark.long
@pytest.mark.parametrize(("model", "count", "distinct", "placed"), [
    pytest.param(make_resnet(width=8, image=32, classes=10), 31, 22, 22, id="ResNet-18"),
    pytest.param(make_mobilenet(width=0.25, image=32, classes=10), 66, 36, 38, id="MobileNetV2"),
])
def test_a_known_network_is_right(space, model, count, distinct, placed):
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
    layers = {
        (each["lair"], space.read(f"projects/net/build/parts/{name}/layer.yaml"))
        for name, each in parts.items()
    }
    assert sum(task.endswith(":choose") for task in ran) == len(layers) == placed
    assert space.hits() == []
