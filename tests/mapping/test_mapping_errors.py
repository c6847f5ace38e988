"""Errors in the keys and values of layer.yaml: the whole text of each."""

from __future__ import annotations

import pytest

from lairmake.stages.diagnose import Source, UserErrors
from lairmake.stages.mapping.layer_yaml import read_mapping

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
layer.yaml:2:24: error: tensors.x.arrives must be a text in isl syntax, or true: anywhere
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
'basis', 'enumerate', 'configure', 'nested', 'scalar', 'loops' or 'paper'
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
}


@pytest.mark.parametrize("error", ERRORS)
def test_error_in_layer_yaml(error: str) -> None:
    text, expected = ERRORS[error]
    assert errors_of(text) == expected


def errors_of(text: str) -> str:
    with pytest.raises(UserErrors) as caught:
        read_mapping(Source(path="layer.yaml", text=text))
    return str(caught.value)
