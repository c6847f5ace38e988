"""Which operands come from other PEs, and that the texts of hops and filters are isl's own."""

from pathlib import Path

import pytest

from lairmake.stages.poly.text import read_objects, write_objects
from lairmake.stages.program.sections.hops_isl import EXCHANGES_HEADER, FILTERS_HEADER
from tests.program.sectioned import section_program

PROJECTS = Path(__file__).resolve().parents[2] / "projects"
SIZES = {"listing1": {}, "heat": {"n": 6, "z": 5}, "cg": {"n": 6}, "cavity": {"n": 8},
         "ising": {"n": 24}}


@pytest.mark.parametrize("name", SIZES)
def test_the_texts_of_hops_and_filters_are_those_that_isl_objects_have(name):
    files = section_program((PROJECTS / name / f"{name}.py").read_text("utf-8"), **SIZES[name])
    headers = {"exchanges.isl": EXCHANGES_HEADER, "filters.isl": FILTERS_HEADER}
    for file, header in headers.items():
        assert write_objects(header, read_objects(files[file])) == files[file]


def test_listing_1_takes_what_its_eastern_neighbours_have():
    files = section_program((PROJECTS / "listing1/listing1.py").read_text("utf-8"))
    lines = [each for each in files["exchanges.isl"].splitlines() if ":=" in each]
    assert lines == [
        "n4_src1_0 := { PE[x, y] -> PE[1 + x, y] : 1 <= x <= 4 and 1 <= y <= 4 };"]
    lines = [each for each in files["filters.isl"].splitlines() if ":=" in each]
    assert lines == [
        "filter_0 := { PE[x, y] : 1 <= x <= 4 and 1 <= y <= 4 };",
        "filter_1 := { PE[x, y] : 2 <= x <= 5 and 1 <= y <= 4 };",
        "filter_2 := { PE[x, y] : 0 <= x <= 5 and 0 <= y <= 5 };"]
