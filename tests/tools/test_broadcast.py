"""The tables of docs/broadcast.md, from counts."""

from lairmake.stages.mapping.records import reader_of
from lairmake.stages.skewing.skew_yaml import SkewCounts
from tools.evaluation.broadcasts import document, pictures


def clock(remote, neighbour, local, steps):
    part = {"number": 2, "remote": remote, "neighbour": neighbour, "local": local}
    inside = {**part, "number": 10}
    return {"steps": steps, "accesses": remote + neighbour + local, "remote": remote,
            "neighbour": neighbour, "local": local, "percent": [], "tensors": {},
            "pes": {"inside": inside, "north_west": part}}


BOTH = {"before": clock(75, 0, 25, 10), "after": clock(25, 50, 25, 15)}
COUNTS = reader_of(SkewCounts)(BOTH, ())


def test_the_tables_have_shares_and_factors():
    text = document({"matmul": COUNTS}, {4: COUNTS}).splitlines()
    assert "| remote accesses | 75.000 % | 25.000 % |" in text
    assert "| steps | 10 | 15 |" in text
    assert "| north west | 2 | 37.5 | 12.5 |" in text
    assert ("| matmul | 100 | 75.00 % | 25.00 % | 3.00 | 0.00 % | 50.00 % | 25.00 % | 25.00 % "
            "| 10 | 15 | 1.50 |") in text
    assert "| matmul | 7.5 | 2.5 | 37.5 | 12.5 | north west |" in text
    assert "| 4 x 4 | 75.000 % | 25.000 % | 10 | 15 | 1.50 |" in text


def test_the_plots_are_those_that_the_document_shows():
    drawn = pictures({2: COUNTS, 4: COUNTS})
    text = document({"matmul": COUNTS}, {2: COUNTS})
    assert all(f"(broadcast_{name}.svg)" in text for name in drawn)
    assert drawn["remote"].count("<polyline") == 2 and drawn["steps"].count("<polyline") == 1
