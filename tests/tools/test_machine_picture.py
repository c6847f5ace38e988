"""docs/virtual_machine.svg is what the painting of the virtual machine gives."""

from tools.evaluation.machine_picture import PLACE, draw_machine


def test_the_picture_is_that_of_the_painting():
    drawn = draw_machine()
    assert PLACE.read_text(encoding="utf-8") == drawn, "python -m tools.evaluation.machine_picture"
    assert drawn.count("<rect") == 1 + 10 * 9 + 10
