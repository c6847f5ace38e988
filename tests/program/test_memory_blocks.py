"""Memory is given out along the ids: best fit, split, joined, grown at the end, aligned."""

import pytest

from lairmake.stages.program.irg.allocation import Request, place_requests


def request(name, size, first, last, alignment=2):
    return Request(name=name, bytes=size, alignment=alignment, first=first, last=last)


CASES = {
    "what a node reads is kept while it writes": (
        [request("a", 8, 0, 1), request("b", 8, 1, 2)], {"a": 0, "b": 8}, 16),
    "what is read no more is free": (
        [request("a", 8, 0, 1), request("b", 8, 2, 3)], {"a": 0, "b": 0}, 8),
    "the smallest hole that has room": (
        [request("a", 40, 0, 1), request("x", 20, 0, 9), request("b", 8, 0, 1),
         request("y", 2, 0, 9), request("c", 8, 2, 9)],
        {"a": 0, "x": 40, "b": 60, "y": 68, "c": 60}, 70),
    "a hole is split": (
        [request("a", 40, 0, 1), request("x", 30, 0, 9), request("b", 8, 2, 9),
         request("c", 30, 2, 9)],
        {"a": 0, "x": 40, "c": 0, "b": 30}, 70),
    "holes beside each other are one": (
        [request("a", 20, 0, 1), request("b", 18, 0, 2), request("x", 6, 0, 9),
         request("c", 38, 3, 4)],
        {"a": 0, "b": 20, "x": 38, "c": 0}, 44),
    "a hole at the end grows": (
        [request("x", 10, 0, 9), request("a", 8, 0, 1), request("b", 12, 2, 3)],
        {"x": 0, "a": 10, "b": 10}, 22),
    "arrays are aligned, scalars come into the holes": (
        [request("a", 20, 0, 9, 16), request("b", 6, 0, 9, 16), request("s", 4, 0, 9),
         request("r", 2, 0, 9)],
        {"a": 0, "b": 32, "s": 20, "r": 24}, 38),
    "an odd size takes whole words": (
        [request("a", 3, 0, 9), request("b", 2, 0, 9)], {"a": 0, "b": 4}, 6),
}


@pytest.mark.parametrize("case", CASES)
def test_places(case):
    requests, addresses, end = CASES[case]
    assert place_requests(requests) == (addresses, end)
