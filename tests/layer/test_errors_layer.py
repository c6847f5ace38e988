"""Errors in layer.yaml, apart from its isl texts, and in the folder: the whole text of each."""

from __future__ import annotations

from typing import Any

import pytest

LAYERS = {
    "no_size": (
        "{M: 8, N: 8}",
        "{M: 8}",
        """\
ff.lair:1:23: error: size N of ff has no value
  lair ff<T=float16>(M, N):
                        ^
hint: add `sizes: {N: ...}` to layer.yaml
""",
    ),
    "unknown_size": (
        "{M: 8, N: 8}",
        "{M: 8, N: 8, K: 8}",
        """\
layer.yaml:1:24: error: ff has no size K
  sizes: {M: 8, N: 8, K: 8}
                         ^
hint: size parameters of ff: M, N
""",
    ),
    "size_in_quotes": (
        "M: 8",
        'M: "8"',
        """\
layer.yaml:1:12: error: sizes.M must be an integer
  sizes: {M: "8", N: 8}
             ^^^
""",
    ),
    "negative_size": (
        "M: 8",
        "M: -8",
        """\
layer.yaml:1:12: error: M is -8, and a size of W
  sizes: {M: -8, N: 8}
             ^^
hint: sizes are positive
""",
    ),
    "large_size": (
        "N: 8}",
        "N: 10000000000}",
        """\
ff.lair:2:10: error: this size is 10000000000
    T W[M][N], T x[N] -> T y[M]
           ^
hint: sizes go up to 1073741824

ff.lair:2:18: error: this size is 10000000000
    T W[M][N], T x[N] -> T y[M]
                   ^
hint: sizes go up to 1073741824

ff.lair:4:21: error: this size is 10000000000
    all (i, j) in (M, N)
                      ^
hint: sizes go up to 1073741824
""",
    ),
    "unknown_type": (
        "tensors:",
        """\
types: {T: float8}
tensors:""",
        """\
layer.yaml:4:12: error: unknown type float8
  types: {T: float8}
             ^^^^^^
hint: types: float16, float32, int16, int32
""",
    ),
    "unknown_type_parameter": (
        "tensors:",
        """\
types: {S: float16}
tensors:""",
        """\
layer.yaml:4:12: error: ff has no type S
  types: {S: float16}
             ^^^^^^^
hint: type parameters of ff: T
""",
    ),
    "unknown_node": (
        "tensors:",
        """\
top: fg
tensors:""",
        """\
layer.yaml:4:6: error: top names fg, which is no node
  top: fg
       ^^
hint: did you mean ff?
""",
    ),
    "unknown_key": (
        "placement:",
        "placment:",
        """\
layer.yaml:3:1: error: unknown key placment
  placment: "{ ff[i,j] -> PE[j//4, 1 + i//4] }"
  ^^^^^^^^
hint: did you mean placement?
""",
    ),
    "unknown_key_of_a_tensor": (
        "arrives:",
        "arives:",
        """\
layer.yaml:5:7: error: unknown key arives
    x: {arives: "{ x[i] -> [PE[0, -1] -> index[i]] }", sparse: true}
        ^^^^^^
hint: did you mean arrives?
""",
    ),
    "no_target": (
        """\
target: "{ PE[2, 3] }"
""",
        "",
        """\
layer.yaml:1:1: error: target is missing
  sizes: {M: 8, N: 8}
  ^^^^^^^^^^^^^^^^^^^
hint: say how many PEs there are: `target: "{ PE[4, 5] }"`
""",
    ),
    "tensor_without_value": (
        '{leaves: "{ y[i] -> [PE[2, 1 + i//4] -> index[i mod 4]] }"}',
        "",
        """\
layer.yaml:6:5: error: tensors.y must be a mapping
    y: 
      ^
""",
    ),
    "unknown_preference": (
        "tensors:",
        """\
simd: {prefer: fast}
tensors:""",
        """\
layer.yaml:4:16: error: simd.prefer must be 'hull', 'exact', 'relaxed', 'lattice', \
'basis', 'enumerate', 'configure', 'nested', 'scalar', 'loops' or 'paper'
  simd: {prefer: fast}
                 ^^^^
""",
    ),
    "no_invocations": (
        "tensors:",
        """\
invocations: 0
tensors:""",
        """\
layer.yaml:4:14: error: invocations must be at least 1
  invocations: 0
               ^
""",
    ),
    "many_invocations": (
        "tensors:",
        """\
invocations: 10000000
tensors:""",
        """\
layer.yaml:4:14: error: invocations must be at most 1048576
  invocations: 10000000
               ^^^^^^^^
""",
    ),
    "yaml_syntax": (
        "sizes: {M: 8, N: 8}",
        "sizes: {M: 8, N: 8",
        """\
layer.yaml:2:7: error: YAML: found `:`, expected `,` or `}`
  target: "{ PE[2, 3] }"
        ^
hint: isl texts stand in quotes, or below `|`
""",
    ),
    "no_lair": (
        "tensors:",
        """\
lair: fc.lair
tensors:""",
        """\
layer.yaml:4:7: error: fc.lair does not exist
  lair: fc.lair
        ^^^^^^^
hint: the .lair files here: ff.lair
""",
    ),
    "no_lair_by_its_name": (
        "tensors:",
        """\
lair: fc.txt
tensors:""",
        """\
layer.yaml:4:7: error: fc.txt is not the name of a .lair file
  lair: fc.txt
        ^^^^^^
hint: the .lair files here: ff.lair
""",
    ),
}


@pytest.mark.parametrize("case", LAYERS)
def test_layer_yaml(layer: Any, case: str) -> None:
    old, new, expected = LAYERS[case]
    layer.edit("layer.yaml", old, new)
    assert layer.error() == expected


def test_several_lair_files(layer: Any) -> None:
    layer.write("gg.lair", "")
    assert layer.error() == """\
error: this folder holds 2 .lair files (ff.lair, gg.lair)
hint: name the one to build in layer.yaml: `lair: NAME.lair`
"""


def test_no_lair_file(layer: Any) -> None:
    (layer.path / "ff.lair").unlink()
    assert layer.error() == """\
error: this folder holds no .lair file
hint: what is computed is said in NAME.lair beside layer.yaml, or in NAME.mlir alone
"""


def test_no_layer_yaml(layer: Any) -> None:
    (layer.path / "layer.yaml").unlink()
    assert layer.error() == """\
error: layer.yaml: No such file or directory
hint: the folder of a layer holds NAME.lair and layer.yaml
"""


@pytest.mark.parametrize("name", ["layer.yaml", "ff.lair"])
def test_file_that_is_no_text(layer: Any, name: str) -> None:
    (layer.path / name).write_bytes(b"lair \xff")
    assert layer.error() == f"error: {name} is not UTF-8 text: byte 5 is damaged\n"


def test_folder_that_cannot_be_written_to(layer: Any) -> None:
    layer.write("build", "a file in the place of the folder")
    assert layer.error() == "error: cannot write build/simd: Not a directory\n"
