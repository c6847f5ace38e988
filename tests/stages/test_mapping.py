"""layer.yaml: what it means, and the whole text of every error in it."""

from __future__ import annotations

import pytest

from stages.diagnose import Source, UserErrors
from stages.lair import parse_lair, specialise
from stages.lair.mapping import Mapping, check_tensors, read_mapping, schema

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
ERRORS = {
    "empty": (
        '',
        """\
layer.yaml:1:1: error: target is missing
  
  ^
hint: say how many PEs there are: `target: "{ PE[4, 5] }"`
""",
    ),
    "no_mapping": (
        '[1]',
        """\
layer.yaml:1:1: error: layer.yaml must be a mapping
  [1]
  ^^^
""",
    ),
    "no_isl": (
        'target: 3',
        """\
layer.yaml:1:9: error: target must be a text in isl syntax
  target: 3
          ^
""",
    ),
    "unknown_key": (
        TARGET + 'plcement: x',
        """\
layer.yaml:2:1: error: unknown key plcement
  plcement: x
  ^^^^^^^^
hint: did you mean placement?
""",
    ),
    "unknown_key_of_a_tensor": (
        TARGET + 'tensors: {x: {arives: 3}}',
        """\
layer.yaml:2:15: error: unknown key arives
  tensors: {x: {arives: 3}}
                ^^^^^^
hint: did you mean arrives?
""",
    ),
    "unknown_key_of_data": (
        TARGET + 'data: {sed: 3}',
        """\
layer.yaml:2:8: error: unknown key sed
  data: {sed: 3}
         ^^^
hint: did you mean seed?
""",
    ),
    "size_is_no_integer": (
        TARGET + 'sizes: {M: x}',
        """\
layer.yaml:2:12: error: sizes.M must be an integer
  sizes: {M: x}
             ^
""",
    ),
    "size_is_true": (
        TARGET + 'sizes: {M: true}',
        """\
layer.yaml:2:12: error: sizes.M must be an integer
  sizes: {M: true}
             ^^^^
""",
    ),
    "sizes_are_no_mapping": (
        TARGET + 'sizes: 3',
        """\
layer.yaml:2:8: error: sizes must be a mapping
  sizes: 3
         ^
""",
    ),
    "type_is_no_text": (
        TARGET + 'types: {T: 16}',
        """\
layer.yaml:2:12: error: types.T must be a text
  types: {T: 16}
             ^^
""",
    ),
    "sparse_is_no_truth_value": (
        TARGET + 'tensors: {x: {sparse: 1}}',
        """\
layer.yaml:2:23: error: tensors.x.sparse must be true or false
  tensors: {x: {sparse: 1}}
                        ^
""",
    ),
    "tensor_is_empty": (
        TARGET + 'tensors: {x: }',
        """\
layer.yaml:2:13: error: tensors.x must be a mapping
  tensors: {x: }
              ^
""",
    ),
    "arrives_is_no_text": (
        TARGET + 'tensors: {x: {arrives: [1]}}',
        """\
layer.yaml:2:24: error: tensors.x.arrives must be a text in isl syntax
  tensors: {x: {arrives: [1]}}
                         ^^^
""",
    ),
    "resident_and_arrives": (
        TARGET + "tensors:\n  x: {arrives: '{ x[i] -> PE[i] }', resident: true}",
        """\
layer.yaml:3:6: error: x is resident and arrives
    x: {arrives: '{ x[i] -> PE[i] }', resident: true}
       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: a tensor is in memory from the start, or arrives
""",
    ),
    "unknown_simd": (
        TARGET + 'simd: {prefer: hul}',
        """\
layer.yaml:2:16: error: simd.prefer must be 'hull', 'exact', 'enumerate' or 'loops'
  simd: {prefer: hul}
                 ^^^
""",
    ),
    "no_invocations": (
        TARGET + 'invocations: 0',
        """\
layer.yaml:2:14: error: invocations must be at least 1
  invocations: 0
               ^
""",
    ),
    "several": (
        TARGET + 'data: {density: 2, kind: x, seed: -1}',
        """\
layer.yaml:2:17: error: data.density must be at most 1.0
  data: {density: 2, kind: x, seed: -1}
                  ^

layer.yaml:2:26: error: data.kind must be 'integers' or 'reals'
  data: {density: 2, kind: x, seed: -1}
                           ^

layer.yaml:2:35: error: data.seed must be at least 0
  data: {density: 2, kind: x, seed: -1}
                                    ^^
""",
    ),
    "density_is_no_number": (
        TARGET + 'data: {density: .nan}',
        """\
layer.yaml:2:17: error: data.density must be a number
  data: {density: .nan}
                  ^^^^
""",
    ),
    "machine_is_a_number": (
        TARGET + 'machine: 3',
        """\
layer.yaml:2:10: error: machine must be a profile's name, a path, or a mapping with `profile`
  machine: 3
           ^
""",
    ),
    "machine_without_profile": (
        TARGET + 'machine: {lanes: 3}',
        """\
layer.yaml:2:10: error: machine must be a profile's name, a path, or a mapping with `profile`
  machine: {lanes: 3}
           ^^^^^^^^^^
""",
    ),
    "open_bracket": (
        TARGET + 'a: [1',
        """\
layer.yaml:2:6: error: YAML: expected ',' or ']', but got '<stream end>'
  a: [1
       ^
hint: isl texts stand in quotes, or below `|`
""",
    ),
    "key_twice": (
        TARGET + TARGET,
        """\
layer.yaml:2:1: error: target is given twice
  target: "{ PE[4, 5] }"
  ^^^^^^
hint: keep one
""",
    ),
    "key_is_no_name": (
        TARGET + '? [a]\n: 1',
        """\
layer.yaml:2:3: error: YAML: a key is a name
  ? [a]
    ^^^
""",
    ),
    "unknown_alias": (
        'a: *b',
        """\
layer.yaml:1:4: error: YAML: found undefined alias 'b'
  a: *b
     ^
hint: isl texts stand in quotes, or below `|`
""",
    ),
    "isl_without_quotes": (
        TARGET + 'placement: [n] -> { a[i] -> PE[i, 0] }',
        """\
layer.yaml:2:16: error: YAML: expected <block end>, but found '<scalar>'
  placement: [n] -> { a[i] -> PE[i, 0] }
                 ^
hint: isl texts stand in quotes, or below `|`
""",
    ),
    "endless": (
        '&a [*a]',
        """\
layer.yaml:1:1: error: YAML: nested too deeply
  &a [*a]
  ^
""",
    ),
    "tab": (
        TARGET + '\tx: 3',
        """\
layer.yaml:2:1: error: YAML: found character '\\t' that cannot start any token
  \tx: 3
  ^
hint: isl texts stand in quotes, or below `|`
""",
    ),
    "control_character": (
        'a: \x01',
        """\
layer.yaml:1:4: error: YAML: a character that no text may hold
  a: \x01
     ^
""",
    ),
    "unknown_tag": (
        TARGET + 'top: !!foo x',
        """\
layer.yaml:2:6: error: YAML: could not determine a constructor for the tag 'tag:yaml.org,2002:foo'
  top: !!foo x
       ^
hint: isl texts stand in quotes, or below `|`
""",
    ),
    "no_date": (
        TARGET + 'lair: 2020-99-99',
        """\
layer.yaml:2:7: error: YAML: month must be in 1..12
  lair: 2020-99-99
        ^^^^^^^^^^
hint: quote the text
""",
    ),
    "date": (
        TARGET + 'lair: 2020-01-01',
        """\
layer.yaml:2:7: error: lair must be a text
  lair: 2020-01-01
        ^^^^^^^^^^
""",
    ),
    "colon_in_a_value": (
        'a: b: c',
        """\
layer.yaml:1:5: error: YAML: mapping values are not allowed here
  a: b: c
      ^
hint: isl texts stand in quotes, or below `|`
""",
    ),
}


def mapping_of(text: str) -> Mapping:
    return read_mapping(Source(path="layer.yaml", text=text))


@pytest.mark.parametrize("error", ERRORS)
def test_error_in_layer_yaml(error: str) -> None:
    text, expected = ERRORS[error]
    with pytest.raises(UserErrors) as caught:
        mapping_of(text)
    assert str(caught.value) == expected


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
    assert list(tensors) == ["x", "y", "on"]
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
    assert schema()["properties"].keys() == Mapping.model_fields.keys()
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
    "tensors: {w: {next: y}, x: {sparse: true}, y: {leaves: '{}'}}": "",
}


@pytest.mark.parametrize("text", TENSORS)
def test_tensors_that_the_layer_has_not(text: str) -> None:
    mapping = mapping_of(TARGET + text)
    assert "\n".join(map(str, check_tensors(mapping, LAYER))) == TENSORS[text]
