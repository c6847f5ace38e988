"""The kernel of F in projects/krnl0: every map that they print."""

from pathlib import Path

import islpy as isl
import pytest

from lairmake.stages.volumes.element_maps import chosen, lenient

KRNL0 = Path(__file__).resolve().parents[2] / "projects/krnl0/krnl0.mlir"
STAGES = ("shape", "relate", "compose")
DOM_ACT0 = "{ act0[n, f, h, w] : 0 <= n < 1 and 0 <= f < 8 and 0 <= h < 256 and 0 <= w < 256 }"
DOM_IFM = "{ ifm[n, c, h, w] : 0 <= n < 1 and 0 <= c < 3 and 0 <= h < 512 and 0 <= w < 512 }"
M1 = """{ pad0[n, c, h, w] -> ifm[n, c, h - 1, w - 1] : 1 <= h < 513 and 1 <= w < 513;
          pad0[n, c, h, w] -> cst0[] : h < 1 or w < 1 or h >= 513 or w >= 513 }"""
M2 = """{ conv0[n, f, y, x] -> pad0[n, c, h, w]
            : exists a, b : h = 2y + a and w = 2x + b and 0 <= a < 5 and 0 <= b < 5;
          conv0[n, f, y, x] -> wgt0[f, c, a, b] }"""
M3 = "{ act0[n, f, h, w] -> conv0[n, f, h, w] }"
PROGRAM = """{ act0[n, f, h, w] -> ifm[n, c, y, x]
    : y >= 2h - 1 and 0 <= y <= 511 and y <= 3 + 2h and x >= 2w - 1 and 0 <= x <= 511
      and x <= 3 + 2w;
  act0[n, f, h, w] -> cst0[] : h >= 255 or w >= 255 or h <= 0 or w <= 0 }"""
TO_WEIGHTS = "{ act0[n, f, h, w] -> wgt0[f, c, a, b] }"


@pytest.fixture(scope="module")
def krnl0(tmp_path_factory):
    from tests.kernel.conftest import Folder

    folder = Folder(tmp_path_factory.mktemp("krnl0") / "kernel")
    return folder.write(KRNL0.read_text(encoding="utf-8")).build(*STAGES)


def within(krnl0, text):
    """Return a map as the paper prints it, within its implied context (F Def. 4.10)."""
    volumes = krnl0.objects["volumes"]
    return isl.UnionMap(text).intersect_domain(volumes).intersect_range(volumes)


def test_definition_4_1_index_domains(krnl0):
    volumes = chosen(["act0", "ifm"], krnl0.objects["volumes"])
    assert volumes["act0"].is_equal(isl.Set(DOM_ACT0))
    assert volumes["ifm"].is_equal(isl.Set(DOM_IFM))


def test_definition_4_2_a_scalar_has_one_element(krnl0):
    assert chosen(["cst0"], krnl0.objects["volumes"])["cst0"].is_equal(isl.Set("{ cst0[] }"))


@pytest.mark.parametrize(("name", "text"), [("pad0", M1), ("conv0", M2), ("act0", M3)])
def test_definition_4_10_volume_element_maps(krnl0, name, text):
    assert krnl0.objects[name].is_equal(within(krnl0, text))


def test_program_map_to_ifm_and_cst0(krnl0):
    volumes = chosen(["ifm", "cst0"], krnl0.objects["volumes"])
    found = krnl0.objects["program"].intersect_range(
        isl.UnionSet.from_set(volumes["ifm"]).union(isl.UnionSet.from_set(volumes["cst0"]))
    )
    assert found.is_equal(within(krnl0, PROGRAM))


def test_program_map_to_the_weights(krnl0):
    both = within(krnl0, PROGRAM).union(within(krnl0, TO_WEIGHTS))
    assert krnl0.objects["program"].is_equal(both)


def test_program_map_is_that_of_the_three_maps_in_the_order_of_the_paper(krnl0):
    m1, m2, m3 = (krnl0.objects[name] for name in ("pad0", "conv0", "act0"))
    assert lenient(lenient(m3, m2), m1).is_equal(krnl0.objects["program"])


def test_program_map_is_the_transitive_closure_between_outputs_and_inputs(krnl0):
    maps = [krnl0.objects[name] for name in ("pad0", "conv0", "act0")]
    closure, exact = maps[0].union(maps[1]).union(maps[2]).transitive_closure()
    ends = isl.UnionSet("{ ifm[a, b, c, d]; cst0[]; wgt0[a, b, c, d] }")
    start = isl.UnionSet("{ act0[a, b, c, d] }")
    between = closure.intersect_domain(start).intersect_range(ends)
    assert krnl0.objects["program"].is_subset(between)
    assert not exact or between.is_equal(krnl0.objects["program"])


def test_definition_4_15_what_the_second_map_has_not_stays(krnl0):
    a = isl.UnionMap("{ R[i] -> S[i] : 0 <= i < 8; R[i] -> T[i] : 0 <= i < 8 }")
    b = isl.UnionMap("{ S[i] -> U[i + 1] : i < 3 }")
    assert lenient(a, b).is_equal(isl.UnionMap("""{
        R[i] -> U[i + 1] : 0 <= i < 3; R[i] -> S[i] : 3 <= i < 8; R[i] -> T[i] : 0 <= i < 8
    }"""))
