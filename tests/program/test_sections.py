"""What workers are told, and what the executive does, of small programs."""

from pathlib import Path

import pytest

from stages.program.sections.sections_yaml import write_sections
from tests.program.sectioned import read_files, section_program
from tests.program.test_exchanges import SIZES

PROJECTS = Path(__file__).resolve().parents[2] / "projects"


@pytest.mark.parametrize("name", SIZES)
def test_what_is_read_is_what_was_written(name):
    files = section_program((PROJECTS / name / f"{name}.py").read_text("utf-8"), **SIZES[name])
    _, sections = read_files(files)
    assert write_sections(sections) == files["sections.yaml"]


def test_listing_1_is_two_sections_and_nine_states():
    files = section_program((PROJECTS / "listing1/listing1.py").read_text("utf-8"))
    assert files["sections.yaml"].partition("sections:\n")[2] == """\
  0:
    shares: [2, 1]
    calls:
    - n4: ar_copyii_float32_east(24, 0, 7, 0, 1, 1)
    - n4: ar_ar_addiii_float32_center(2, 2, 24, 7, 0)
    - special_turn(2)
  1:
    shares: [1, 2]
    calls:
    - n5: ar_reduceGlobalSumii_float32_center(1, 0, 8, 2)
    - n5: special_reduceBroadcast_float32(16)
    - special_halt()
states:
  0: {begin: fl_0}
  1: {next: fl_0, otherwise: 7}
  2: {compute: 2}
  3: {go_unless: 3, to: 5}
  4: {go: 7}
  5: {send_section: 0}
  6: {go: 1}
  7: {send_section: 1}
  8: {stop: true}
"""
