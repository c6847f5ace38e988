"""Departures to whose elements each PE of a line adds its own: nothing is summed or initialised."""

from __future__ import annotations

import numpy as np
import pytest

from tests.stages.built import build, function

COPY = "lair f(): float16 x[12][10] -> float16 y[12][10] { all (i, j) in (12, 10) y[i][j] = 2*x[i][j] }\n"
SUMS = (
    "lair f(): float16 W[12][10][5] -> float16 y[12][10]\n"
    "{ all (i, j, k) in (12, 10, 5) y[i][j] += W[i][j][k] }\n"
)
VECTOR = "lair f(): float16 x[20] -> float16 y[20] { all (i) in (20) y[i] = x[i] + 1 }\n"


def leaving(target, placement, ports, more=""):
    """Return a layer.yaml whose y leaves by `ports`."""
    return (
        f'target: "{{ PE[{target}] }}"\nplacement: "{{ {placement} }}"\n{more}'
        f'tensors:\n  y: {{leaves: "{{ {ports} }}"}}\n'
    )


ROWS = "f[i,j] -> PE[j//3, i//4]"
COLUMNS = "f[i,j] -> PE[j//3, i//5]"
LINE = "f[i] -> PE[i//4, 0]"

LAYERS = {
    "east_with_the_farthest_first": (VECTOR, leaving("5, 1", LINE, "y[i] -> [PE[5, 0] -> index[i]]")),
    "east_with_the_nearest_first": (
        VECTOR, leaving("5, 1", LINE, "y[i] -> [PE[5, 0] -> index[19 - i]]"),
    ),
    "west_in_steps": (VECTOR, leaving("5, 1", LINE, "y[i] -> [PE[-1, 0] -> index[3*i + 7]]")),
    "a_ragged_line": (
        VECTOR, leaving("3, 1", "f[i] -> PE[i//7, 0]", "y[i] -> [PE[3, 0] -> index[i]]"),
    ),
    "a_ragged_line_backwards": (
        VECTOR, leaving("3, 1", "f[i] -> PE[i//7, 0]", "y[i] -> [PE[-1, 0] -> index[i]]"),
    ),
    "from_the_middle_to_the_ends": (
        VECTOR, leaving("5, 1", LINE, "y[i] -> [PE[5, 0] -> index[(i + 8) mod 20]]"),
    ),
    "idle_pes_and_a_border_between": (
        VECTOR, leaving("1, 9", "f[i] -> PE[0, 1 + 3*(i//10)]", "y[i] -> [PE[0, 9] -> index[i]]"),
    ),
    "rows_to_the_east": (
        COPY, leaving("4, 3", ROWS, "y[i,j] -> [PE[4, i//4] -> index[i mod 4, j]]"),
    ),
    "rows_to_the_west_backwards": (
        COPY, leaving("4, 3", ROWS, "y[i,j] -> [PE[-1, i//4] -> index[3 - i mod 4, 9 - j]]"),
    ),
    "columns_to_the_north": (
        COPY, leaving("4, 3", COLUMNS, "y[i,j] -> [PE[j//3, -1] -> index[j mod 3, i]]"),
    ),
    "columns_to_the_south_whole": (
        COPY, leaving("4, 3", COLUMNS, "y[i,j] -> [PE[j//3, 3] -> index[i, j mod 3]]"),
    ),
    "rows_of_rows": (
        COPY, leaving("4, 3", ROWS, "y[i,j] -> [PE[4, i//4] -> index[(i mod 4)//2, i mod 2, j]]"),
    ),
    "rows_that_start_off_zero": (
        COPY, leaving("4, 3", ROWS, "y[i,j] -> [PE[4, i//4] -> index[i, j]]"),
    ),
    "to_both_sides": (
        COPY,
        leaving("4, 3", ROWS, "y[i,j] -> [PE[4, i//4] -> index[i mod 4, j]] : j mod 2 = 0; "
                "y[i,j] -> [PE[-1, i//4] -> index[j, i mod 4]] : j mod 2 = 1"),
    ),
    "the_same_on_both_sides": (
        COPY,
        leaving("4, 3", ROWS, "y[i,j] -> [PE[4, i//4] -> index[i mod 4, j]]; "
                "y[i,j] -> [PE[-1, i//4] -> index[j, i mod 4]]"),
    ),
    "memory_in_another_order": (
        COPY, leaving("4, 3", ROWS, "y[i,j] -> [PE[4, i//4] -> index[(3*i) mod 4, (j//3), (2*j) mod 3]]"),
    ),
    "sums_that_one_pe_makes": (
        SUMS, leaving("4, 3", "f[i,j,k] -> PE[j//3, i//4]", "y[i,j] -> [PE[4, i//4] -> index[i mod 4, j]]"),
    ),
    "interleaved_in_one_index": (
        COPY, leaving("4, 3", ROWS, "y[i,j] -> [PE[4, i//4] -> index[10*(i mod 4) + j]]"),
    ),
    "to_adapters_that_collect": (
        COPY, leaving("5, 3", ROWS, "y[i,j] -> [PE[5, 1] -> index[j, i]]"),
    ),
}


@pytest.mark.parametrize("invocations", [1, 3])
@pytest.mark.parametrize("name", LAYERS)
def test_values_agree(name, invocations):
    lair, mapping = LAYERS[name]
    built = build(lair, f"{mapping}invocations: {invocations}\nmachine: ideal\n", "simulate")
    assert built.results()["check"]["y"]["right"]
