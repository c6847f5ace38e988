"""Damaged paintings and layouts: an error for a user, or one that runs as it is; nothing else."""

import random

import pytest

from lairmake.stages.diagnose import Source, UserError, UserErrors
from lairmake.stages.fabric.driver import FabricFailure, FabricStuck
from lairmake.stages.fabric.grid import check_texts
from lairmake.stages.fabric.layout import read_layout, write_layout
from lairmake.stages.program.vm.geometry import ROLES, Geometry
from lairmake.stages.program.vm.paint_isl import check_painting, read_painting
from tests.program.laid_out import ALL, make_layout, paint, paint_text
from tests.program.test_painted_machine import library, run_layout  # noqa: F401
from tests.property.mutator import damage_string

WIDTH, HEIGHT = 5, 3
ORDINARY, LONG, CHUNK = 50, 1000, 50


def read_damaged(text):
    """Return the layout of a damaged painting, as it is lowered. Raises UserErrors."""
    painting = read_painting(Source(path="paint.isl", text=text))
    geometry = Geometry(width=WIDTH, height=HEIGHT, responses=1)
    check_painting(painting, geometry, ALL, "paint.isl")
    return make_layout(painting, WIDTH, HEIGHT)


def read_damaged_layout(text):
    source = Source(path="layout.yaml", text=text)
    layout = read_layout(source)
    check_texts(layout, source)
    if set(layout.roles) != set(ROLES):
        raise UserError("a role without a program, in layout.yaml")
    return layout


@pytest.mark.wide
@pytest.mark.parametrize("kind", ["paint.isl", "layout.yaml"])
@pytest.mark.parametrize("first", [
    *range(0, ORDINARY, CHUNK),
    *(pytest.param(first, marks=pytest.mark.long) for first in range(ORDINARY, LONG, CHUNK)),
])
def test_damaged_texts_are_refused_or_run(library, first, kind):  # noqa: F811
    refused = 0
    for seed in range(first, first + CHUNK):
        rng = random.Random(seed)
        try:
            if kind == "paint.isl":
                layout = read_damaged(damage_string(kind, paint_text(WIDTH, HEIGHT), rng))
            else:
                sound = write_layout(make_layout(paint(WIDTH, HEIGHT), WIDTH, HEIGHT))
                layout = read_damaged_layout(damage_string(kind, sound, rng))
            run_layout(library, layout, WIDTH, HEIGHT, 1, "wse2")
        except (UserError, UserErrors) as error:
            assert kind in str(error), (seed, str(error))
            refused += 1
        except (FabricFailure, FabricStuck):
            refused += 1
        except Exception as error:
            raise AssertionError(f"seed {seed}") from error
    assert refused > CHUNK // 2
