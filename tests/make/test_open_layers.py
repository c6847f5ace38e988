"""Which layers have slots, told from layer.yaml, mostly without reading YAML; what is in them."""

import pytest

from lairmake.stages import PIPELINE, SEARCHED, SLOTS
from lairmake.stages.diagnose import Source
from lairmake.stages.make.core import derived
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.store.folders import folders_of, parts_of, wholes_of
from lairmake.stages.mapping.layer_yaml import read_mapping

PLACED = 'placement: "{ a[i] -> PE[i, 0] }"\n'
ARRIVES = 'arrives: "{ x[i] -> [PE[i, -1] -> index[0]] }"'
TEXTS = {
    PLACED: False,
    "placement: |\n  { a[i] -> PE[i, 0] }\n": False,
    "placement: |-\n  # a word\n  { a[i] -> PE[i, 0] }\n": False,
    "'placement': '{ a[i] -> PE[i, 0] }'\n": False,
    "": True,
    "# placement: { }\n": True,
    "placement: (j, i)\n": True,
    "placement: search\n": True,
    f"{PLACED}search: [a]\n": True,
    f"{PLACED}search: []\n": False,
    f"{PLACED}tensors: {{x: {{{ARRIVES}}}}}\n": False,
    f"{PLACED}tensors:\n  x:\n    {ARRIVES}\n": False,
    f"{PLACED}tensors: {{x: {{arrives: true}}}}\n": True,
    f"{PLACED}tensors: {{x: {{leaves: yes}}}}\n": True,
    f"{PLACED}tensors: {{x: {{'leaves' : True}}}}\n": True,
    f"{PLACED}tensors: {{arrives: {{resident: true}}}}\n": False,
}


@pytest.fixture
def layer(tmp_path):
    folder = tmp_path / "projects/a"
    folder.mkdir(parents=True)
    return folder


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_open_is_seen_as_the_model_sees_it(layer, text):
    given = f'target: "{{ PE[2, 2] }}"\n{text}'
    (layer / "layer.yaml").write_text(given, encoding="utf-8")
    folder = open_folder(layer)
    assert read_mapping(Source(path="layer.yaml", text=given)).is_open is TEXTS[text]
    assert folder.is_searched is TEXTS[text]
    assert folder.stages == (SEARCHED if TEXTS[text] else PIPELINE)
    slots = [part.cache.name for part in parts_of(folder) if part.is_slot]
    assert slots == list(SLOTS if TEXTS[text] else ())


def test_yaml_is_read_once_for_a_layer_that_leaves_something_open(layer, monkeypatch):
    (layer / "layer.yaml").write_text('target: "{ PE[2, 2] }"\n', encoding="utf-8")
    assert open_folder(layer).is_searched
    monkeypatch.setattr(derived, "_is_open", lambda folder, content: 1 / 0)
    assert open_folder(layer).is_searched


def test_a_layer_that_is_wrong_has_the_stages_that_say_so(layer):
    (layer / "layer.yaml").write_text("target: [", encoding="utf-8")
    assert open_folder(layer).stages == PIPELINE


def test_slots_of_a_part_are_those_of_its_network(layer):
    (layer / "layer.yaml").write_text('target: "{ PE[2, 2] }"\n', encoding="utf-8")
    net = layer.parent / "net"
    net.mkdir()
    (net / "network.yaml").write_text("parts: {p: ../a}\n", encoding="utf-8")
    folder = open_folder(net)
    assert [f.name for f in folders_of(folder)] == [*(f"net/p/{s}" for s in SLOTS), "net/p", "net"]
    names = {f"net/p/{slot}" for slot in SLOTS} | {"net/p"}
    assert wholes_of(folders_of(folder)) == dict.fromkeys(names, "net")
