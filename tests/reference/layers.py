"""Layers for the reference."""

from __future__ import annotations

from lairmake.stages.diagnose import Source
from lairmake.stages.lair import Layer, parse_lair, specialise


def layer_of(text: str, **sizes: int) -> Layer:
    return specialise(parse_lair(Source(path="f.lair", text=text)), None, sizes, {})


def fc(m: int, n: int, type_: str = "float16") -> Layer:
    text = """lair ff(M, N): T W[M][N], T x[N] -> T y[M]
      { all (i, j) in (M, N) y[i] += W[i][j] * x[j] }"""
    return layer_of(text.replace("T ", f"{type_} "), M=m, N=n)
