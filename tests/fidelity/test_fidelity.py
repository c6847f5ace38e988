"""docs/fidelity.md is what `doit fidelity` writes, and what it says of the models holds."""

import dataclasses
from pathlib import Path

import pytest
import yaml

from tools.fidelity.layouts import CASES
from tools.fidelity.rows import ROWS, modelled, read_rows
from tools.fidelity.running import PROGRAMS, compiled, cycles_of
from tools.fidelity.tables import (
    document,
    list_tables,
    model_machine,
    points_of,
    run_measured,
    run_models,
)

DOCUMENT = Path(__file__).resolve().parents[2] / "docs/fidelity.md"
ROWS_READ = read_rows()
MACHINE = model_machine(ROWS_READ.models)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("fidelity"))


def expected(program, elements, pes):
    """Return what the programs of models take; the formula of a star lacks a hop."""
    return modelled(program, elements, pes, MACHINE.ramp) + (program == "star")


EXPECTED = {point: expected(*point) for point in points_of(ROWS_READ.models)}


@pytest.mark.wide_after(15)
@pytest.mark.parametrize(("elements", "pes"), [(1, 2), (8, 8), (3, 16), (128, 32), (32, 128)])
@pytest.mark.parametrize("program", ["broadcast", "broadcast_2d", "star", "chain"])
def test_programs_take_the_cycles_of_the_model(library, program, elements, pes):
    assert cycles_of(library, program, elements, pes, MACHINE) == expected(program, elements, pes)


@pytest.mark.wide
def test_the_document_is_what_the_task_writes(library):
    """Those of models as they are expected: the tests beside this one run them."""
    text = document(ROWS_READ, EXPECTED, run_measured(library, ROWS_READ))
    assert text == DOCUMENT.read_text(encoding="utf-8"), "./do fidelity writes it anew"


@pytest.mark.long
def test_all_programs_of_models_take_what_the_document_says(library):
    assert run_models(library, ROWS_READ.models) == EXPECTED


def test_each_row_has_a_source_a_grade_and_a_program():
    data = yaml.safe_load(ROWS.read_text(encoding="utf-8"))
    rows = [*data["models"]["programs"], *data["programs"]]
    assert all(row["source"] and row["grade"] in ("A", "B", "C") for row in rows)
    assert {row["program"] for row in rows} == set(CASES)


def test_rows_are_fitted_or_unseen_and_those_that_are_fitted_say_by_which_figure():
    uses = [program.use for program, _ in ROWS_READ.list_measured()]
    assert uses.count("unseen") >= 10 and uses.count("fitted") >= 15
    assert all((each.use == "fitted") == bool(each.figure) for each in ROWS_READ.programs)
    whole = [each for each in ROWS_READ.programs if each.program == "stencil"]
    assert [(each.use, len(each.rows)) for each in whole] == [("fitted", 8)]


def test_no_row_is_in_both_tables():
    rows = [(program.program, row.machine, row.elements, row.size, *sorted(row.options.items()))
            for program, row in ROWS_READ.list_measured()]
    assert len(rows) == len(set(rows))


def test_the_first_sentence_has_the_median_of_rows_that_no_figure_was_chosen_by():
    measured = [row.published * (100 if program.use == "fitted" else 108) // 100
                for program, row in ROWS_READ.list_measured()]
    text = document(ROWS_READ, EXPECTED, measured).split("\n\n")
    assert " is 8.0 %: of " in " ".join(text[1].split())
    tables = [part for part in list_tables(ROWS_READ, measured).split("\n\n") if part[0] == "|"]
    assert [len(table.splitlines()) - 2 for table in tables] == [
        sum(program.use == use for program, _ in ROWS_READ.list_measured())
        for use in ("fitted", "unseen")]


def test_each_program_is_run():
    roles = {role for make in CASES.values() for role in make(4, 1).layout.roles}
    assert {f"pe_{role}.c" for role in roles} == {path.name for path in PROGRAMS.glob("*.c")}


def test_values_are_checked(library, monkeypatch):
    case = CASES["copy"](4, 1)
    wrong = dataclasses.replace(case, expected=case.expected + 1)
    monkeypatch.setitem(CASES, "copy", lambda *_: wrong)
    with pytest.raises(ValueError) as caught:
        cycles_of(library, "copy", 4, 1, MACHINE)
    assert str(caught.value) == "copy 4 x 1: a value is wrong"
