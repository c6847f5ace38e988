"""layer.yaml: what it means."""

from __future__ import annotations

import pytest

from lairmake.stages.diagnose import Source
from lairmake.stages.lair import parse_lair, specialise
from lairmake.stages.mapping.layer_yaml import LayerMapping, read_mapping, schema
from lairmake.stages.mapping.ports import check_tensors

TARGET = 'target: "{ PE[4, 5] }"\n'
FULL = """# fc
lair: fc.lair
top: ff
sizes: {M: 32, N: 16}
types: {T: float16}
machine: {profile: wse2, lanes: 8}
target: "{ PE[4, 5] }"
placement: |
  { ff[i,j] -> PE[j//4,
      1 + i//8] }
schedule: >-
  { ff[i,j]
    -> [j] }
tensors:
  x: {arrives: "{ x[i=0:15] -> [PE[0, -1] -> index[i]] }", sparse: true}
  y: {leaves: '{ y[i=0:31] -> [PE[4, 1 + i//8] -> index[i mod 8]] }'}
  on: {resident: true, next: y}
simd: {prefer: hull}
invocations: 2
data: {seed: 3, kind: reals, density: 1}
"""


def mapping_of(text: str) -> LayerMapping:
    return read_mapping(Source(path="layer.yaml", text=text))


def test_every_field_is_read() -> None:
    mapping = mapping_of(FULL)
    assert (mapping.lair, mapping.top, mapping.invocations) == ("fc.lair", "ff", 2)
    assert (mapping.sizes, mapping.types) == ({"M": 32, "N": 16}, {"T": "float16"})
    assert mapping.machine == {"profile": "wse2", "lanes": 8}
    assert mapping.placement is not None and mapping.schedule is not None
    assert mapping.placement.text == "{ ff[i,j] -> PE[j//4,\n    1 + i//8] }\n"
    assert mapping.tensors["x"].sparse and mapping.tensors["x"].leaves is None
    assert mapping.simd.prefer == "hull"
    assert (mapping.data.seed, mapping.data.kind, mapping.data.density) == (3, "reals", 1.0)


def test_defaults() -> None:
    mapping = mapping_of(TARGET)
    assert (mapping.lair, mapping.top, mapping.machine) == (None, None, "wse2")
    assert (mapping.placement, mapping.schedule, mapping.tensors) == (None, None, {})
    assert (mapping.simd.prefer, mapping.invocations) == (None, 1)
    assert (mapping.data.seed, mapping.data.kind, mapping.data.density) == (0, "integers", 0.5)


def test_names_that_yaml_takes_for_truth_values() -> None:
    tensors = mapping_of(FULL).tensors
    assert set(tensors) == {"x", "y", "on"}
    assert mapping_of(TARGET + "tensors: {no: {sparse: true}, 1: {}}").tensors["no"].sparse


def test_spans_of_values_and_keys() -> None:
    mapping = mapping_of(FULL)
    values = (("tensors", "x", "arrives"), ("sizes", "N"), ("placement",), ("simd", "prefer"))
    spans = [mapping.span(*path) for path in values] + [mapping.key_span("tensors", "on")]
    assert [FULL[span.start : span.end] for span in spans] == [
        '"{ x[i=0:15] -> [PE[0, -1] -> index[i]] }"',
        "16",
        "|\n  { ff[i,j] -> PE[j//4,\n      1 + i//8] }",
        "hull",
        "on",
    ]


def test_the_span_of_what_is_absent_is_that_of_what_encloses_it() -> None:
    mapping = mapping_of(FULL)
    assert mapping.span("tensors", "x", "leaves") == mapping.span("tensors", "x")
    assert mapping.span("tensors", "z") == mapping.key_span("tensors", "z")
    assert mapping.span("tensors", "z") == mapping.span("tensors")
    assert mapping.span().start == FULL.index("lair:")


@pytest.mark.parametrize("part", ["PE", "[", "->", "}", "ff", "i//8", "-1", "mod 8"])
def test_isl_texts_know_where_they_stand(part: str) -> None:
    mapping = mapping_of(FULL)
    texts = [mapping.target, mapping.placement, mapping.schedule]
    texts += [mapping.tensors["x"].arrives, mapping.tensors["y"].leaves]
    for text in texts:
        start = text.text.find(part) if text is not None else -1
        if text is not None and start >= 0:
            span = text.span(start, start + len(part))
            assert FULL[span.start : span.end] == part


def test_the_schema_names_every_key() -> None:
    assert schema()["properties"].keys() == LayerMapping.model_fields.keys()
    assert schema()["required"] == ["target"]
    assert schema()["properties"]["target"]["type"] == "string"
    assert schema()["additionalProperties"] is False


LAYER = specialise(
    parse_lair(Source(path="f.lair", text="""
      lair f(): int16 x[2], int16 w[2] -> int16 y[2], int16 z[1]
      { all (i) in (2) y[i] = x[i] * w[i] all (i, j) in (1, 2) z[i] += x[j] }""")),
    None, {}, {},
)
TENSORS = {
    "tensors: {xx: {sparse: true}}": """\
layer.yaml:2:11: error: unknown tensor xx
  tensors: {xx: {sparse: true}}
            ^^
hint: did you mean x?
""",
    "tensors: {y: {arrives: '{}'}}": """\
layer.yaml:2:11: error: y is an output and cannot arrive
  tensors: {y: {arrives: '{}'}}
            ^
hint: outputs leave
""",
    "tensors: {x: {leaves: '{}'}}": """\
layer.yaml:2:11: error: x is an input and cannot leave
  tensors: {x: {leaves: '{}'}}
            ^
hint: inputs arrive
""",
    "tensors: {w: {next: x}}": """\
layer.yaml:2:21: error: x is no output
  tensors: {w: {next: x}}
                      ^
hint: outputs: y, z
""",
    "tensors: {w: {next: z}}": """\
layer.yaml:2:21: error: z has not the type and shape of w
  tensors: {w: {next: z}}
                      ^
hint: after an invocation the one takes the other's place
""",
    "tensors: {w: {next: y}}": "",
    "tensors: {w: {arrives: '{}', next: y}}": """\
layer.yaml:2:36: error: w arrives, and has a next
  tensors: {w: {arrives: '{}', next: y}}
                                     ^
hint: leave one of them out: what arrives is given for every invocation
""",
    "tensors: {z: {sparse: true}}": """\
layer.yaml:2:15: error: z is an output that does not leave, and sparse
  tensors: {z: {sparse: true}}
                ^^^^^^
hint: zeros are left out of what moves: say where it leaves, or leave `sparse` out
""",
    "tensors: {x: {sparse: true}, y: {leaves: '{}'}, z: {resident: true}}": "",
    "tensors: {y: {leaves: '{}', sparse: true}}": "",
}


@pytest.mark.parametrize("text", TENSORS)
def test_tensors_that_the_layer_has_not(text: str) -> None:
    mapping = mapping_of(TARGET + text)
    assert "\n".join(map(str, check_tensors(mapping, LAYER))) == TENSORS[text]
