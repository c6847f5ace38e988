"""What a limit of the machine costs that nobody published: the same layer with enough of it."""

import pytest

from stages.diagnose import UserError, source_of
from stages.layer.texts.limits import with_enough
from stages.machine.profile import load_profile
from stages.make.report.summary import summary
from tests.layer.built import build

TWO = """lair f(): float16 x[64] -> float16 y[64], float16 z[64]
{
  all (i) in (64) y[i] = x[i] * 2
  all (i) in (64) z[i] = x[i] * 3
}
"""
MAPPING = """machine: {machine}
target: "{{ PE[1, 1] }}"
placement: "{{ f_y[i] -> PE[0, 0]; f_z[i] -> PE[0, 0] }}"
"""
OWN = "like: wse2\ndescriptors: {value: 1, source: a guess, grade: %s}\n"


def on_own_machine(grade, last):
    """Return the layer of two instructions on a machine that has one, by a figure of a grade."""
    built = build(TWO, MAPPING.format(machine=f"{grade}.yaml"), "parse")
    (built.folder / f"{grade}.yaml").write_text(OWN % grade, encoding="utf-8")
    return built.through(last)


@pytest.fixture(scope="module")
def limited():
    """The layer on a machine of which nobody has published how many it has."""
    return on_own_machine("chosen", "simulate")


def test_what_a_limit_costs_is_what_a_machine_with_enough_saves(limited):
    limits, more = limited.results()["limits"], "{profile: wse2, descriptors: 2}"
    assert limits["figures"] == {"descriptors": {"of": 1, "enough": 2}}
    other = build(TWO, MAPPING.format(machine=more), "simulate").results()
    assert limits["cycles"] == other["cycles"]["simd"] < limited.results()["cycles"]["simd"]
    assert "limits" not in other


def test_the_summary_says_what_a_limit_costs_and_what_would_do(limited):
    results = limited.results()
    costs = results["cycles"]["simd"] - results["limits"]["cycles"]
    said = f"{costs} cycles on descriptors (1; 2 would do), not published\n"
    assert costs > 0 and said in summary(results)


def test_a_limit_that_costs_nothing_is_not_said(limited):
    results = limited.results()
    results["limits"]["cycles"] = results["cycles"]["simd"]
    assert "descriptors (" not in summary(results)


def test_a_task_that_is_limited_says_by_which_figure(limited):
    y, z = (limited.yaml("simd.yaml")[f"compute_f_{each}"] for each in "yz")
    assert [each["by"] for each in (y, z)] == ["hull", "loops"]
    assert "limited" not in y and z["limited"] == ["descriptors"]


@pytest.mark.parametrize("machine", ["published", "given"])
def test_a_limit_that_is_known_is_not_tried(machine):
    known = "{profile: wse2, descriptors: 1}"
    built = (
        on_own_machine("A", "simd") if machine == "published"
        else build(TWO, MAPPING.format(machine=known), "simd")
    )
    assert built.yaml("simd.yaml")["compute_f_z"]["limited"] == ["descriptors"]
    assert not (built.folder / "build/limits").exists()


@pytest.mark.parametrize("figures", ["descriptors: 0", "colour: 2", "descriptors: 2, name: 3"])
def test_figures_that_are_none_are_refused_where_they_stand(figures):
    source = source_of("machine.yaml", f"enough: {{{figures}}}\n".encode())
    with pytest.raises(UserError) as error:
        with_enough(load_profile("wse2"), source)
    assert str(error.value) == (
        "machine.yaml:1:1: error: these are no figures of wse2\n"
        f"  enough: {{{figures}}}\n  ^\nhint: undo the edit\n"
    )
