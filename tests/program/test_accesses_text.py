"""The text of accesses is the one that stages/poly/text.py writes of the same relations."""

import random

import islpy as isl
import pytest

from lairmake.stages.diagnose import Source
from lairmake.stages.poly.text import read_objects, write_objects
from lairmake.stages.program.il.run import capture_program
from lairmake.stages.program.irg.graph import HEADER, GraphAccess, write_accesses
from lairmake.stages.program.source.translation import translate_source
from tests.program.random_programs import RandomProgram


def draw_access(chosen, node):
    on_pes = chosen.random() < 0.8
    rank = chosen.choice([0, 1, 2, 3, 4, 5, 6])
    instances = tuple(
        (first, first + chosen.choice([0, 1, 2, 40]))
        for first in (chosen.randrange(-9, 10) for _ in range(rank))
    )
    axes = [axis for axis in range(rank) if chosen.random() < 0.9]
    element = [(axis, chosen.choice([-3, -1, 1, 1, 1, 2]), chosen.randrange(-9, 9))
               for axis in axes]
    for _ in range(chosen.choice([0, 0, 1, 2])):
        element.insert(chosen.randrange(len(element) + 1), (0, 0, chosen.randrange(9)))
    place = chosen.choice(["dst", "src0", "src1"])
    entry = chosen.choice(["myLA", "x", "t4", f"n{node}", "min"])
    return GraphAccess(
        node=node, place=place, entry=entry, instances=instances, on_pes=on_pes,
        element=tuple(element))


def make_relation(access):
    names = [f"c{k}" for k in range(len(access.instances))]
    names = list("xyzuvw" if access.on_pes else "ijklmn")[: len(names)]
    bounds = zip(names, access.instances, strict=True)
    ranges = " and ".join(f"{first} <= {name} <= {last}" for name, (first, last) in bounds)
    element = [f"{factor} {names[axis]} + {constant}" if factor else str(constant)
               for axis, factor, constant in access.element]
    head = f"n{access.node}[{', '.join(names)}] -> {access.entry}[{', '.join(element)}]"
    return isl.Map(f"{{ {head} : {ranges or 'true'} }}")


@pytest.mark.wide
def test_the_text_is_the_one_that_isl_objects_have():
    chosen = random.Random(17)
    accesses = [draw_access(chosen, node) for node in range(400)]
    relations = {f"n{each.node}_{each.place}": make_relation(each) for each in accesses}
    assert write_accesses(accesses) == write_objects(HEADER, relations)


def test_the_accesses_of_programs_are_what_writing_what_was_read_gives():
    for seed in range(4):
        source = RandomProgram(seed).text
        il = translate_source(Source(path="a.py", text=source)).text
        text = capture_program(il, source, "a.py")["accesses.isl"].decode()
        assert write_objects(HEADER, read_objects(text)) == text
