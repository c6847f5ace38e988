"""Arrays that an instruction reads at once begin in different banks, as far as they can."""

import pytest

from lairmake.stages.diagnose import Source
from lairmake.stages.program.irg.addresses import read_addresses
from lairmake.stages.program.irg.graph_yaml import read_graph
from tests.program.sectioned import section_program

HEAD = """\
from lairmake import numpy as np
from lairmake.objects import LocalArray, global_range
"""
READS = "machine: {profile: wse2, write_latency: 0}\n"


def as_text(content):
    return content if isinstance(content, str) else content.decode()


def find_words(names, body, settings=READS, type_="float32", length=8, bank=2):
    """Return the bank of four in which each array of a program begins, and the workers' bytes.

    A bank holds so many bytes side by side.
    """
    text = HEAD + "".join(
        f'{name} = LocalArray("{name}", 1, shape=(4, 2, {length}), dtype="{type_}", output=True)\n'
        for name in names)
    files = section_program(text + body, settings)
    sources = {name: Source(path=name, text=as_text(files[name])) for name in (
        "graph.yaml", "objects.yaml", "addresses.yaml")}
    graph = read_graph(sources["graph.yaml"], sources["objects.yaml"])
    found = read_addresses(sources["addresses.yaml"], graph)
    assert all(found.places[name].address % 4 == 0 for name in names)
    return [found.places[name].address // bank % 4 for name in names], found.workers


@pytest.mark.parametrize("type_", ["float16", "float32"])
@pytest.mark.parametrize(("body", "apart"), [
    ("a[...] = a + b", True),
    ("a[...] = b", False),
    ("a[:, :, 1:] = b[:, :, 1:] + a[:, :, 1:]", True),
    ("a[1:] = a[1:] + b[:-1]", False),
    ("a[...] = a * a\nb[...] = b * 2", False),
])
def test_two_arrays_of_an_instruction_begin_in_two_banks(body, apart, type_):
    """A neighbour's elements come over the fabric; an array meets itself wherever it lies."""
    (a, b), _ = find_words("ab", body, type_=type_)
    assert (a != b) == apart
    assert apart or (a, b) == (0, 0)


def test_where_in_their_arrays_operands_begin_counts():
    """Of float32, element 1 of `a` lies in the other bank than element 0 of `b`."""
    (a, b), _ = find_words("ab", "a[:, :, 1:] = a[:, :, 1:] * b[:, :, :-1]")
    assert a == b


def test_of_three_arrays_those_in_a_loop_are_apart():
    loop = "for _ in global_range(5):\n    c[...] = c + {}\n"
    before = "a[...] = a + c\nb[...] = b + c\na[...] = a + b\n"
    (a, b, c), _ = find_words("abc", before + loop.format("a"))
    assert a != c
    (a, b, c), _ = find_words("abc", before + loop.format("b"))
    assert b != c


def test_memory_grows_by_less_than_an_alignment_and_without_banks_by_nothing():
    names, body = "abcd", "a[...] = a + b\nc[...] = c + d"
    apart, more = find_words(names, body)
    packed, least = find_words(names, body, "machine: {profile: wse2, read_banks: 0}\n")
    assert packed == [0] * 4 != apart
    assert least == 4 * 32 and more - least < 4 * 16
    assert find_words(names, body, "machine: ideal\n") == ([0] * 4, least)


@pytest.mark.parametrize(("body", "apart"), [
    ("a[...] = a + b", {1, 3}),
    ("a[:, :, 1:] = a[:, :, 1:] * b[:, :, :-1]", {0, 2}),
    ("a[...] = b", {0, 1, 3}),
])
def test_where_writes_take_banks_arrays_begin_beside_those_too(body, apart):
    """What is written in a cycle was read six cycles ago, of float32 six banks before."""
    (a, b), _ = find_words("ab", body, "machine: wse2\n", bank=4)
    assert (b - a) % 4 in apart
