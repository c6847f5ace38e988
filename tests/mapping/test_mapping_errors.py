"""Errors in layer.yaml: the whole text of each."""

from __future__ import annotations

import pytest

from stages.diagnose import Source, UserErrors
from stages.mapping.layer_yaml import read_mapping

TARGET = 'target: "{ PE[4, 5] }"\n'
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
hint: a tensor stays in the memory of the PEs, or it arrives or leaves
""",
    ),
    "unknown_simd": (
        TARGET + 'simd: {prefer: hul}',
        """\
layer.yaml:2:16: error: simd.prefer must be 'hull', 'exact', 'relaxed', 'lattice', \
'basis', 'enumerate', 'configure', 'nested' or 'loops'
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
    "skew_along_no_dimension": (
        TARGET + 'skew: z',
        """\
layer.yaml:2:7: error: skew must be true, false, x or y
  skew: z
        ^
""",
    ),
    "topology_of_no_kind": (
        TARGET + 'topology: ring',
        """\
layer.yaml:2:11: error: topology must be 'mesh', 'torus', 'hexagonal' or 'octagonal'
  topology: ring
            ^^^^
""",
    ),
    "topology_of_a_torus_on_two_levels": (
        TARGET + 'topology: {kind: torus, inner: [2, 2]}',
        """\
layer.yaml:2:11: error: topology: levels are of meshes
  topology: {kind: torus, inner: [2, 2]}
            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: give `{inner: [4, 4], fine: x}`, or the name of a network: `torus`
""",
    ),
    "topology_with_one_size": (
        TARGET + 'topology: {inner: [2]}',
        """\
layer.yaml:2:19: error: topology.inner must be at least 2 values
  topology: {inner: [2]}
                    ^^^
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
hint: quote a text that begins with `*`
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
layer.yaml:1:1: error: YAML: this contains itself
  &a [*a]
  ^
hint: say less
""",
    ),
    "tab": (
        TARGET + '\tx: 3',
        """\
layer.yaml:2:1: error: YAML: found character '\\t' that cannot start any token
  \tx: 3
  ^
hint: YAML indents with spaces, not with tabs
""",
    ),
    "missing_quote": (
        'target: "{ PE[4, 5] }\nplacement: "{ ff[i] -> PE[i, 0] }"',
        """\
layer.yaml:2:13: error: YAML: expected <block end>, but found '{'
  placement: "{ ff[i] -> PE[i, 0] }"
              ^
hint: line 1 has a `\"` too few: a text ends with the quote that it begins with
""",
    ),
    "text_without_end": (
        'placement: "{ ff[i] -> PE[i, 0] }\nsizes: {M: 3}',
        """\
layer.yaml:1:12: error: YAML: this text has no end
  placement: "{ ff[i] -> PE[i, 0] }
             ^
hint: line 1 has a `\"` too few: a text ends with the quote that it begins with
""",
    ),
    "control_character": (
        'a: \x01',
        """\
layer.yaml:1:4: error: YAML: a character that no text may hold
  a: ?
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
    "a_key_without_a_colon": (
        'sizes {M: 8, N: 8}',
        """\
layer.yaml:1:15: error: YAML: mapping values are not allowed here
  sizes {M: 8, N: 8}
                ^
hint: a line is `key: value`; a text that has a `:` itself stands in quotes
""",
    ),
    "colon_in_a_value": (
        'a: b: c',
        """\
layer.yaml:1:5: error: YAML: mapping values are not allowed here
  a: b: c
      ^
hint: a line is `key: value`; a text that has a `:` itself stands in quotes
""",
    ),
}


@pytest.mark.parametrize("error", ERRORS)
def test_error_in_layer_yaml(error: str) -> None:
    text, expected = ERRORS[error]
    with pytest.raises(UserErrors) as caught:
        read_mapping(Source(path="layer.yaml", text=text))
    assert str(caught.value) == expected
