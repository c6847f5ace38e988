"""Sets for hypothesis to draw: boxes, diagonals, strides and floors, with symbolic constants."""

import islpy as isl
from hypothesis import strategies as st

CONSTANTS = ["n", "m"]
SMALL = st.integers(-4, 6)


@st.composite
def constraints(draw: st.DrawFn, names: list[str]) -> str:
    left, right = draw(st.sampled_from(names)), draw(st.sampled_from([*names, *CONSTANTS]))
    low, factor, modulus = draw(SMALL), draw(st.integers(-3, 3)), draw(st.integers(2, 6))
    shapes = [
        f"{low} <= {left} <= {low + modulus}",
        f"{low} <= {left} + {factor}{right} <= {low + modulus}",
        f"({left} + {factor}{right}) mod {modulus} = 1",
        f"{modulus}{left} = {factor}{right} + {low}n",
        f"{left} = {factor}{right} + m + {low}",
        f"{left} // {modulus} = {right} + {factor}",
    ]
    return draw(st.sampled_from(shapes))


@st.composite
def sets(draw: st.DrawFn, most_disjuncts: int = 2) -> isl.Set:
    """Draw `[n, m] -> { A[i0, ...] : ... }` of one to three bounded dimensions."""
    names = [f"i{position}" for position in range(draw(st.integers(1, 3)))]
    box = [f"-6 <= {name} <= 12" for name in names]
    disjunct = st.lists(constraints(names), min_size=1, max_size=3)
    disjuncts = draw(st.lists(disjunct, min_size=1, max_size=most_disjuncts))
    texts = [f"A[{', '.join(names)}] : {' and '.join([*box, *parts])}" for parts in disjuncts]
    return isl.Set(f"[n, m] -> {{ {'; '.join(texts)} }}")
