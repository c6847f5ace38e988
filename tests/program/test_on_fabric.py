"""Programs give on the fabric what NumPy and the graph give, on all machines and fields."""

import functools

import pytest

from tests.program.agreeing import read_outputs, read_results, run_program, run_virtual
from tests.program.on_fields import EVERY, choose_pairs, source_on

CHOSEN = choose_pairs()


@functools.cache
def captured(program, field):
    """Return the files of a program up to interpret; they are the same on all machines."""
    return run_program(*source_on(program, field))


def name(each):
    program, profile, (columns, rows), responses = each
    return f"{program}-{profile}-{columns}x{rows}-{responses}"


@pytest.mark.wide
@pytest.mark.parametrize("each", [
    pytest.param(each, id=name(each), marks=() if each in CHOSEN else pytest.mark.long)
    for each in EVERY
])
def test_a_program_gives_on_the_fabric_what_numpy_gives(each):
    """And what procedures took, by the clocks of workers, is all but their waiting for a call."""
    program, profile, field, responses = each
    files = run_virtual(captured(program, field), profile, responses)
    results = read_results(files)
    assert (results["machine"], results["field"], results["responses"]) == (
        profile, list(field), responses)
    found, wanted = read_outputs(files, "outputs"), read_outputs(files, "numpy")
    assert found.keys() == wanted.keys() and wanted
    for output, values in wanted.items():  # none of these programs gives a NaN
        assert found[output].dtype == values.dtype
        assert found[output].tobytes() == values.tobytes()
    took = sum(each["calls"] * each["cycles"] for each in results["procedures"].values())
    waited = results["workers"]["control"] * results["cycles"]
    assert took + waited == pytest.approx(results["cycles"], rel=2e-3)


def test_elements_of_a_procedure_are_told_where_they_are_counted():
    """Sixteen workers add two elements each; exp of them is a loop, which counts none."""
    source = (
        "from lairmake import numpy as np\nfrom lairmake.objects import LocalArray\n"
        "T = LocalArray('T', 1.0, shape=(4, 4, 2), output=True)\nT[...] = np.exp(T + T)\n"
    )
    files = run_virtual(run_program(source, {}), "wse2", None)
    told = {name: each.get("elements") for name, each in read_results(files)["procedures"].items()}
    assert told == {"ar_ar_addiii_float32_center": 32, "ar_expii_float32_center": None}


def test_what_pes_of_all_roles_were_used_for_is_summed_up():
    results = read_results(run_virtual(captured(*CHOSEN[0][::2]), *CHOSEN[0][1::2]))
    usage, (columns, rows) = results["usage"], results["field"]
    pes, left = divmod(sum(usage["cycles"].values()), usage["until"])
    assert left == 0 and pes > columns * rows and usage["until"] >= results["cycles"]
    assert usage["busiest_link"]["wavelets"] > 0
