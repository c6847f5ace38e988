"""What neighbours need of each other in the next invocation: halos, bit for bit as NumPy has it."""

import islpy as isl
import numpy as np
import pytest

from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.layer.routes import halos
from lairmake.stages.layer.streams import plan
from tests.layer.built import build, function
from tests.layer.test_graph_values import right

pytestmark = pytest.mark.usefixtures("ends_soon")

STEP = """lair step(): {type} u[{n}][{m}] -> {type} un[{n}][{m}]
{{
  all (i, j, r, s) in ({n}, {m}, 3, 3) where {taps} and 1 <= i <= {n} - 2 and 1 <= j <= {m} - 2
    un[i][j] += u[i + r - 1][j + s - 1] * 0.25
}}
"""
STAR, BOX, CORNERS = "(r + s) mod 2 = 1", "r + s >= 0", "(r + s) mod 2 = 0"
MAPPING = """target: "{{ PE[{target}] }}"
placement: "{{ step[i,j,r,s] -> PE[{placement}] }}"
invocations: 3
tensors: {{u: {{next: un}}}}
"""


def stencil(n=9, m=9, taps=STAR, type_="float32", target="3, 3", placement="j//3, i//3", more=""):
    """Return a layer of three steps of a stencil, built up to its results."""
    lair = STEP.format(n=n, m=m, taps=taps, type=type_)
    mapping = MAPPING.format(target=target, placement=placement) + more
    return given(build(lair, mapping, "route"), type_, u=(n, m))


def given(built, type_=np.float32, **shapes):
    """Return the results of a layer for seeded inputs of small integers."""
    rng = np.random.default_rng(42)
    (built.folder / "inputs").mkdir(exist_ok=True)
    for name, shape in shapes.items():
        values = rng.integers(-4, 5, shape).astype(type_)
        np.save(built.folder / f"inputs/{name}.npy", values)
    return built.through("simulate")


def in_numpy(built, taps, steps=3):
    """Return what the steps give, of the input of a layer: exactly, for its numbers are short."""
    u = np.load(built.folder / "inputs/u.npy").astype(np.float64)
    inside = [(r, s) for r in range(3) for s in range(3) if {
        STAR: (r + s) % 2 == 1, BOX: True, CORNERS: (r + s) % 2 == 0}[taps]]
    n, m = u.shape
    for _ in range(steps):
        un = np.zeros_like(u)
        for r, s in inside:
            un[1:-1, 1:-1] += u[r:n - 2 + r, s:m - 2 + s] * 0.25
        u = un
    return u


def rounds(built):
    """Return the rounds of each move."""
    moves = built.yaml("tasks.yaml").get("moves", {})
    return {name: ["".join(sides) for sides in move["rounds"]] for name, move in moves.items()}


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({}, ["EWSN"]),
        pytest.param({"taps": BOX}, ["EW", "SN"], marks=pytest.mark.wide),
        pytest.param({"taps": CORNERS}, ["EW", "SN"], marks=pytest.mark.wide),
        pytest.param({"n": 8, "m": 12, "type_": "float16", "target": "4, 2",
                      "placement": "j//3, i//4"}, ["EWSN"], marks=pytest.mark.wide),
        pytest.param({"n": 10, "m": 8, "taps": BOX, "placement": "j//3, i//4"}, ["EW", "SN"],
                     marks=pytest.mark.wide),
        pytest.param({"n": 7, "m": 5, "target": "6, 8", "placement": "j + 1, i + 1"}, ["EWSN"],
                     marks=pytest.mark.wide),
        pytest.param({"n": 6, "m": 6, "taps": BOX, "target": "6, 6", "placement": "i, 5 - j"},
                     ["EW", "SN"], marks=pytest.mark.wide),
        pytest.param({"target": "1, 3", "placement": "0, i//3"}, ["SN"], marks=pytest.mark.wide),
        pytest.param({"taps": BOX, "target": "3, 1", "placement": "j//3, 0"}, ["EW"],
                     marks=pytest.mark.wide),
    ],
    ids=["star", "box", "corners", "wide", "ragged", "one element a PE", "turned", "a column",
         "a row"],
)
@pytest.mark.parametrize("machine", ["plain", pytest.param("wse3", marks=pytest.mark.wide),
                                     pytest.param("ideal", marks=pytest.mark.wide)])
def test_a_stencil_is_as_numpy_has_it(options, found, machine):
    more = "" if machine == "plain" else f"machine: {machine}\n"
    built = stencil(**options, more=more)
    assert rounds(built) == {"u_halo": found}
    assert np.array_equal(built.output("un"), in_numpy(built, options.get("taps", STAR)))
    graph = built.yaml("tasks.yaml")
    assert not graph["arrivals"] and not graph["departures"]
    assert graph["moves"]["u_halo"]["ways"]["halo"] < graph["moves"]["u_halo"]["ways"]["around"]


def test_all_pes_send_the_same_columns_and_rows_of_what_is_their_own():
    """Those at the ends of the field as many elements as those between, of which all are needed."""
    built = stencil()
    adapted, memory = built.objects("adapted.isl"), built.objects("memory.isl")
    routes = built.objects("routes.isl")
    east = "{ u[i,j] -> [PE[x,y] -> PE[x + 1,y]] : 3x + 2 = j and 3y <= i <= 3y + 2 "
    east += "and 0 <= y <= 2 and 0 <= x < 2 }"
    assert routes["u_halo_east"].is_equal(isl.UnionMap(east))
    needed = adapted["moves"].intersect(isl.UnionMap(east))
    assert needed.is_equal(isl.UnionMap(east).intersect_domain(isl.UnionSet("{ u[1:7, 0:8] }")))
    local = isl.UnionSet("{ u_local[b,i,j] : 0 <= b <= 1 and 0 <= i < 5 and 0 <= j < 5 }")
    assert local.is_subset(memory["local"])


def test_routers_between_two_neighbours_turn_and_others_do_not():
    built = stencil()
    colours = built.yaml("build/layout.yaml")["colours"]
    assert sorted(colours) == [f"u_halo_{axis}_{end}" for axis in "xy" for end in ("even", "odd")]
    for name, colour in colours.items():
        middle = "y" if "_y_" in name else "x"
        counts = isl.UnionMap(f"{{ PE[x,y] -> [2] : 0 <= x,y <= 2 and {middle} = 1; "
                              f"PE[x,y] -> [1] : 0 <= x,y <= 2 and {middle} != 1 }}")
        assert isl.UnionMap(colour["counts"]).is_equal(counts), name
        assert isl.UnionMap(colour["ring"]).range().is_equal(isl.UnionSet("{ [1] }"))


def test_a_pe_starts_what_moves_along_an_axis_first_before_what_moves_back():
    built = stencil()
    body = "\n".join(function(built.program("simd/pe_compute.c"), "exchange_u_halo"))
    for axis, first, second in (("x", "east", "west"), ("y", "south", "north")):
        for verb in ("send", "receive"):
            assert body.index(f"{verb}_u_halo_{first}") < body.index(f"{verb}_u_halo_{second}")
        assert body.count(f"send_control(pe, out_{axis}, COMMANDS(ADVANCE), 0, 1);") == 2


@pytest.mark.wide
def test_more_invocations_than_positions_and_results_that_leave():
    leaves = 'tensors: {u: {next: un}, un: {leaves: "{ un[i,j] -> [PE[j//3, -1] -> index[i]] }"}}'
    mapping = MAPPING.format(target="3, 3", placement="j//3, i//3")
    mapping = mapping.replace("tensors: {u: {next: un}}", leaves).replace("index[i]", "index[i, j]")
    built = build(STEP.format(n=9, m=9, taps=STAR, type="float32"),
                  mapping.replace("invocations: 3", "invocations: 5"), "simulate")
    assert right(built) and rounds(built) == {"u_halo": ["EWSN"]}


TWO = """lair a(): float32 u[8][8], float32 v[8][8] -> float32 un[8][8]
{ all (i, j, r) in (8, 8, 3) where 1 <= i <= 6 un[i][j] += u[i + r - 1][j] * 0.25 + v[i][j] * 0.5 }
lair b(): float32 u[8][8], float32 v[8][8] -> float32 vn[8][8]
{ all (i, j, r) in (8, 8, 3) where 1 <= j <= 6 vn[i][j] += v[i][j + r - 1] * 0.25 - u[i][j] }
graph g(): float32 u[8][8], float32 v[8][8] -> float32 un[8][8], float32 vn[8][8]
{ un = a(u, v) vn = b(u, v) }
"""


@pytest.mark.wide
def test_two_fields_that_need_each_other_exchange_one_after_the_other():
    mapping = """target: "{ PE[2, 4] }"
placement: "{ a[i,j,r] -> PE[j//4, i//2]; b[i,j,r] -> PE[j//4, i//2] }"
invocations: 3
tensors: {u: {next: un}, v: {next: vn}}
"""
    built = given(build(TWO, mapping, "route"), u=(8, 8), v=(8, 8))
    right(built)
    assert rounds(built) == {"u_halo": ["SN"], "v_halo": ["EW"]}
    u, v = (np.load(built.folder / f"inputs/{name}.npy").astype(float) for name in "uv")
    for _ in range(3):
        un, vn = np.zeros_like(u), np.zeros_like(v)
        un[1:-1] = sum(u[r:6 + r] * 0.25 + v[1:-1] * 0.5 for r in range(3))
        vn[:, 1:-1] = sum(v[:, r:6 + r] * 0.25 - u[:, 1:-1] for r in range(3))
        u, v = un, vn
    assert np.array_equal(built.output("un"), u) and np.array_equal(built.output("vn"), v)


def fields(number):
    """Return stars that each need the next one's values, and where they run on 3 x 3 PEs."""
    shape, names = "[9][9]", range(number)
    star = STEP.format(n=9, m=9, taps=STAR, type="float32").replace("step():", "{name}():")
    star = star.replace("u[9][9] ->", "u[9][9], float32 v[9][9] ->")
    star = star.replace("* 0.25", "* 0.25 - v[i][j] * 0.125")
    nodes = "".join(star.replace("{name}", f"s{k}") for k in names)
    given, made = (", ".join(f"float32 {name}{k}{shape}" for k in names) for name in "un")
    calls = " ".join(f"n{k} = s{k}(u{k}, u{(k + 1) % number})" for k in names)
    places = "; ".join(f"s{k}[i,j,r,s] -> PE[j//3, i//3]" for k in names)
    following = ", ".join(f"u{k}: {{next: n{k}}}" for k in names)
    mapping = f"""target: "{{ PE[3, 3] }}"
placement: "{{ {places} }}"
invocations: 3
tensors: {{{following}}}
"""
    return f"{nodes}graph g(): {given} -> {made} {{ {calls} }}\n", mapping


@pytest.mark.wide
def test_many_fields_take_turns_with_colours_and_configurations():
    """A PE has 16 descriptors: 24 streams of three fields, and what computes, would need more."""
    lair, mapping = fields(3)
    built = given(build(lair, mapping, "route"), u0=(9, 9), u1=(9, 9), u2=(9, 9))
    right(built)
    assert rounds(built) == {f"u{k}_halo": ["EWSN"] for k in range(3)}
    assert len(built.yaml("tasks.yaml")["colours"]) == 4
    values = [np.load(built.folder / f"inputs/u{k}.npy").astype(float) for k in range(3)]
    for _ in range(3):
        made = [np.zeros_like(u) for u in values]
        for k, (u, v) in enumerate(zip(values, values[1:] + values[:1], strict=True)):
            for r, s in [(0, 1), (1, 0), (1, 2), (2, 1)]:
                made[k][1:-1, 1:-1] += u[r:7 + r, s:7 + s] * 0.25 - v[1:-1, 1:-1] * 0.125
        values = made
    assert all(np.array_equal(built.output(f"n{k}"), u) for k, u in enumerate(values))


FAR = """lair step(): float32 u[{n}][{m}] -> float32 un[{n}][{m}]
{{
  all (i, j, r, s) in ({n}, {m}, {k}, {k})
  where {taps} and {r} <= i < {n} - {r} and {r} <= j < {m} - {r}
    un[i][j] += u[i + r - {r}][j + s - {r}] * 0.25
}}
"""


@pytest.mark.wide
@pytest.mark.parametrize(
    ("reach", "taps", "target", "placement", "found"),
    [
        (2, "r = 2", "9, 8", "j, i", {"u_halo": ["EW"], "u_halo2": ["EW"]}),
        (2, "r + s >= 0", "5, 8", "j//2, i",
         {"u_halo": ["EW", "SN"], "u_halo2": ["SN"]}),
        (3, "s = 3 and r >= 1", "3, 4", "j//3, i//2", {"u_halo": ["SN"], "u_halo2": ["N"]}),
    ],
    ids=["a line", "corners", "one side farther"],
)
def test_a_halo_beyond_a_block_comes_step_by_step(reach, taps, target, placement, found):
    lair = FAR.format(n=8, m=9, k=2 * reach + 1, r=reach, taps=taps)
    mapping = MAPPING.format(target=target, placement=placement)
    built = given(build(lair, mapping, "route"), u=(8, 9))
    u, span = np.load(built.folder / "inputs/u.npy").astype(float), range(2 * reach + 1)
    holds = {"r = 2": lambda r, s: r == 2, "r + s >= 0": lambda r, s: True,
             "s = 3 and r >= 1": lambda r, s: s == 3 and r >= 1}[taps]
    for _ in range(3):
        un, inside = np.zeros_like(u), (slice(reach, 8 - reach), slice(reach, 9 - reach))
        for r, s in ((r, s) for r in span for s in span if holds(r, s)):
            un[inside] += u[r:8 - 2 * reach + r, s:9 - 2 * reach + s] * 0.25
        u = un
    assert np.array_equal(built.output("un"), u)
    assert rounds(built) == found


WAVE = """lair w(): float32 u[9][8], float32 v[9][8] -> float32 un[9][8]
{
  all (i, j, r, s) in (9, 8, 3, 3) where (r + s) mod 2 = 1 and 1 <= i <= 7 and 1 <= j <= 6
    un[i][j] += u[i + r - 1][j + s - 1] * 0.5 - v[i + r - 1][j + s - 1] * 0.25
}
graph g(): float32 u[9][8] -> float32 un[9][8] { un = w(u, u) }
"""


WAVES = """target: "{ PE[2, 3] }"
placement: "{ w[i,j,r,s] -> PE[j//4, i//3] }"
invocations: STEPS
delays: {w.v: BACK}
tensors: {u: {next: un}}
"""


def wave(steps, back=1):
    """Return the mapping of waves."""
    return WAVES.replace("STEPS", str(steps)).replace("BACK", str(back))


def waves(u, steps, back):
    """Return what steps of waves give, with the field of so many steps ago."""
    before = [np.zeros_like(u)] * back
    for _ in range(steps):
        un, sides = np.zeros_like(u), [(0, 1), (1, 0), (1, 2), (2, 1)]
        for r, s in sides:
            un[1:-1, 1:-1] += u[r:7 + r, s:6 + s] * 0.5 - before[0][r:7 + r, s:6 + s] * 0.25
        u, before = un, [*before[1:], u]
    return u


@pytest.mark.wide
@pytest.mark.parametrize("back", [1, 2])
def test_what_is_delayed_is_taken_with_its_halo_before_that_is_new(back, monkeypatch):
    monkeypatch.setattr(plan, "count_more", lambda names, placed: 1 << 20)
    built = given(build(WAVE, wave(5, back), "route", copy=1), u=(9, 8))
    right(built)
    assert rounds(built) == {"u_halo": ["EWSN"]}
    body = "".join(function(built.program("simd/pe_compute.c"), "complete"))
    late = [f"carry_u_delay{k}" for k in range(back, 0, -1)]
    order = [body.index(f"{name}(pe)") for name in (*late, "exchange_u_halo", "carry_u")]
    assert order == sorted(order)
    u = np.load(built.folder / "inputs/u.npy").astype(float)
    assert np.array_equal(built.output("un"), waves(u, 5, back))


def test_where_there_is_no_room_for_buffers_of_one_shape_a_field_is_copied(monkeypatch):
    monkeypatch.setattr(plan, "count_more", lambda names, placed: 1 << 20)
    mapping = ALONG.format(place="i//20, 1").replace("[i] ->", "[i,r] ->")
    built = given(build(LINE, mapping, "route", copy=1), np.int32, u=40)
    assert buffers(built) == ({}, ["u"])
    u = np.load(built.folder / "inputs/u.npy")
    for _ in range(3):
        u = np.concatenate([[0], u[:-2] + u[1:-1] + u[2:], [0]])
    assert np.array_equal(built.output("un"), u)


@pytest.mark.wide
def test_results_that_leave_take_turns_with_buffers():
    leaves = 'un: {leaves: "{ un[i,j] -> [PE[j//4, -1] -> index[i, j mod 4]] }"}}'
    built = build(WAVE, wave(5).replace("un}}", f"un}}, {leaves}"), "route")
    right(given(built, u=(9, 8)))
    assert buffers(built) == ({"u_delay1": 0, "u": 1, "un": 2}, [])
    u = np.load(built.folder / "inputs/u.npy").astype(float)
    for steps in range(1, 6):
        assert np.array_equal(built.output("un")[steps - 1], waves(u, steps, 1))


def buffers(built):
    """Return the numbers of buffers by tensor, and the tensors that are copied."""
    graph = built.yaml("tasks.yaml")
    found = {n: t["buffer"] for n, t in graph["tensors"].items() if "buffer" in t}
    copied = [t["target"] for t in graph["tasks"].values() if t["kind"] == "carry"]
    return found, copied


@pytest.mark.parametrize("steps", [1, 2, 3, pytest.param(4, marks=pytest.mark.wide)])
def test_a_field_and_the_next_one_swap_two_buffers_of_one_shape(steps):
    """Results lie in the second buffer after odd numbers of invocations, else in the first."""
    mapping = ALONG.format(place="i//20, 1").replace("[i] ->", "[i,r] ->")
    built = build(LINE, mapping.replace("invocations: 3", f"invocations: {steps}"), "route")
    given(built, np.int32, u=40)
    assert buffers(built) == ({"u": 0, "un": 1}, [])
    u = np.load(built.folder / "inputs/u.npy")
    for _ in range(steps):
        u = np.concatenate([[0], u[:-2] + u[1:-1] + u[2:], [0]])
    assert np.array_equal(built.output("un"), u)
    placed = built.objects("memory.isl")["to_local"]
    same = isl.UnionMap("{ [PE[x,y] -> u[i]] -> [PE[x,y] -> un[i]] }").apply_range(placed)
    moved = isl.UnionMap("{ u_local[b,l] -> u_local[1 - b,l] }")
    of_u = placed.intersect_domain(isl.UnionSet("{ [PE[x,y] -> u[i]] }"))
    assert of_u.apply_range(moved).is_equal(same)
    assert built.objects("memory.isl")["lifetime"].is_equal(
        isl.UnionMap("{ u_local[] -> always[] }"))


@pytest.mark.wide
@pytest.mark.parametrize(("steps", "back"), [(4, 1), (5, 1), (6, 1), (5, 2), (7, 2)])
def test_what_is_delayed_takes_turns_with_the_field(steps, back):
    built = given(build(WAVE, wave(steps, back), "route"), u=(9, 8))
    right(built)
    late = [f"u_delay{k}" for k in range(back, 0, -1)]
    assert buffers(built) == ({n: k for k, n in enumerate([*late, "u", "un"])}, [])
    u = np.load(built.folder / "inputs/u.npy").astype(float)
    assert np.array_equal(built.output("un"), waves(u, steps, back))


@pytest.mark.wide
def test_of_two_tensors_that_one_becomes_one_is_copied_before_the_swap():
    """Both have halos; what is sent of v is what the buffer has that is now that of u."""
    mapping = """target: "{ PE[2, 3] }"
placement: "{ w[i,j,r,s] -> PE[j//4, i//3] }"
invocations: 4
tensors: {u: {next: un}, v: {next: un}}
"""
    lair = WAVE.replace("float32 u[9][8] -> float32 un[9][8] { un = w(u, u) }",
                        "float32 u[9][8], float32 v[9][8] -> float32 un[9][8] { un = w(u, v) }")
    built = given(build(lair, mapping, "route"), u=(9, 8), v=(9, 8))
    right(built)
    assert rounds(built) == {"u_halo": ["EWSN"], "v_halo": ["EWSN"]}
    assert buffers(built) == ({"u": 0, "un": 1}, ["v"])
    u, v = (np.load(built.folder / f"inputs/{name}.npy").astype(float) for name in "uv")
    for _ in range(4):
        un, sides = np.zeros_like(u), [(0, 1), (1, 0), (1, 2), (2, 1)]
        for r, s in sides:
            un[1:-1, 1:-1] += u[r:7 + r, s:6 + s] * 0.5 - v[r:7 + r, s:6 + s] * 0.25
        u = v = un
    assert np.array_equal(built.output("un"), u)


def test_what_is_computed_elsewhere_is_copied_or_comes_around():
    """Where places differ, none takes the buffer of another one."""
    built = build(SHIFT, ALONG.format(place="i mod 4, 1"), "route")
    assert buffers(built) == ({}, ["u"])


LINE = """lair s(): int32 u[40] -> int32 un[40]
{ all (i, r) in (40, 3) where 1 <= i <= 38 un[i] += u[i + r - 1] }
"""


def test_on_a_line_all_hear_from_both_sides():
    """Whatever turns at a wrong time, or is not there in time, hangs or is wrong here.

    The PE in the middle has most to do, and the others wait for it.
    """
    mapping = ALONG.format(place="(i + 26)//32, 1").replace("[i] ->", "[i,r] ->")
    built = given(build(LINE, mapping, "route"), np.int32, u=40)
    assert rounds(built) == {"u_halo": ["EW"]}
    u = np.load(built.folder / "inputs/u.npy")
    for _ in range(3):
        u = np.concatenate([[0], u[:-2] + u[1:-1] + u[2:], [0]])
    assert np.array_equal(built.output("un"), u)


SHIFT = """lair s(): int32 u[12] -> int32 un[12]
{ all (i) in (12) where 1 <= i un[i] += u[i - 1] + 1 }
"""
ALONG = """target: "{{ PE[5, 2] }}"
placement: "{{ s[i] -> PE[{place}] }}"
invocations: 3
tensors: {{u: {{next: un}}}}
"""


@pytest.mark.wide
@pytest.mark.parametrize(
    ("place", "found"),
    [("i//4, 1", {"u_halo": ["E"]}), ("1, i//6", {"u_halo": ["S"]}), ("i mod 4, 1", {}),
     ("2*(i//4), 1", {})],
    ids=["east", "south", "not neighbours", "beyond a gap"],
)
def test_what_moves_one_way_is_a_halo_where_it_reaches_neighbours(place, found):
    built = given(build(SHIFT, ALONG.format(place=place), "route"), np.int32, u=12)
    assert rounds(built) == found
    u = np.load(built.folder / "inputs/u.npy")
    for _ in range(3):
        u = np.concatenate([[0], u[:-1] + 1])
    assert np.array_equal(built.output("un"), u)


def refused(lair, mapping):
    """Return the error of a layer."""
    with pytest.raises((UserError, UserErrors)) as error:
        build(lair, mapping, "adapt")
    return str(error.value).partition(": error: ")[2]


def test_a_halo_that_is_none_is_refused():
    mapping = ALONG.format(place="i mod 4, 1") + "moves: {u: halo}\n"
    assert refused(SHIFT, mapping) == """\
u has no halo: u[3] of PE[3, 1] is needed on PE[0, 1], which needs nothing of a PE between
  moves: {u: halo}
          ^
hint: place what computes u next to what reads it, or leave `u` out of `moves`, and it goes around \
by adapters
"""


def test_moves_are_of_tensors_that_change():
    mapping = ALONG.format(place="i//4, 1") + "moves: {un: halo}\n"
    assert refused(SHIFT, mapping) == """\
un is no tensor that changes from one invocation to the next
  moves: {un: halo}
          ^^
hint: those that do are u: say of these how they move, or leave `moves` out
"""


def test_what_is_to_go_around_goes_around():
    built = build(SHIFT, ALONG.format(place="i//4, 1") + "moves: {u: around}\n", "route")
    graph = built.yaml("tasks.yaml")
    assert rounds(built) == {} and graph["departures"]["un_away"]["feedback"] == "un_feedback"


def test_a_halo_of_which_isl_does_not_find_out_soon_is_none(monkeypatch):
    monkeypatch.setattr(halos, "MOST_OPERATIONS", 1)
    mapping = ALONG.format(place="i//3, 1") + "moves: {u: halo}\n"
    assert refused(SHIFT, mapping).startswith("u has no halo: isl does not find out soon\n")


def test_gaps_between_pes_that_leave_no_room_for_adapters_are_told():
    lair = STEP.format(n=18, m=18, taps=STAR, type="float16")
    mapping = MAPPING.format(target="11, 6", placement="2*(j//3), i//3")
    assert refused(lair, mapping).startswith("un[1, 2] is computed on PE[0, 0], but PE[2, 0] needs")


BOTH = """lair a(): float32 u[12] -> float32 un[12]
{ all (i, r) in (12, 3) where 1 <= i <= 10 un[i] += u[i + r - 1] * 0.25 }
lair d(): float32 u[12], float32 un[12] -> float32 e[12]
{ all (i) in (12) e[i] = un[i] - u[i] }
graph g(): float32 u[12] -> float32 un[12], float32 e[12] { un = a(u) e = d(u, un) }
"""


@pytest.mark.wide
@pytest.mark.parametrize("steps", [3, 4])
def test_a_statement_may_read_both_of_two_tensors_that_swap_buffers(steps):
    mapping = f"""target: "{{ PE[3, 1] }}"
placement: "{{ a[i,r] -> PE[i//4, 0]; d[i] -> PE[i//4, 0] }}"
invocations: {steps}
tensors: {{u: {{next: un}}, e: {{leaves: "{{ e[i] -> [PE[i//4, -1] -> index[i]] }}"}}}}
"""
    built = given(build(BOTH, mapping, "route"), u=12)
    assert buffers(built) == ({"u": 0, "un": 1}, [])
    u = np.load(built.folder / "inputs/u.npy").astype(float)
    for step in range(steps):
        un = np.concatenate([[0], (u[:-2] + u[1:-1] + u[2:]) * 0.25, [0]])
        assert np.array_equal(built.output("e")[step], un - u)
        u = un
    assert np.array_equal(built.output("un"), u)


@pytest.mark.wide
def test_a_number_swaps_its_buffer():
    lair = """lair s(): int32 a, int32 b[8] -> int32 c
{ all (i) in (8) c += b[i] * a }
"""
    mapping = """target: "{ PE[1, 1] }"
placement: "{ s[i] -> PE[0, 0] }"
invocations: 4
tensors: {a: {next: c}}
"""
    built = build(lair, mapping, "route")
    (built.folder / "inputs").mkdir(exist_ok=True)
    np.save(built.folder / "inputs/a.npy", np.array(3, np.int32))
    np.save(built.folder / "inputs/b.npy", np.array([1, 0, 1, 1, -1, 0, 0, 0], np.int32))
    built.through("simulate")
    assert buffers(built) == ({"a": 0, "c": 1}, []) and built.output("c") == 3 * 2**4


MIRROR = """lair m(): float32 u[480] -> float32 un[480]
{ all (i) in (480) un[i] += u[479 - i] * 0.5 }
"""
ON_A_LINE = """machine: wse2
target: "{ PE[14, 3] }"
placement: "{ m[i] -> PE[1 + i//40, 1] }"
invocations: STEPS
tensors: {u: {next: un}}
"""


def test_what_goes_around_says_why_and_about_what_it_takes():
    few, many = (build(MIRROR, ON_A_LINE.replace("STEPS", n), "simulate") for n in "37")
    right(few)
    around = few.yaml("tasks.yaml")["arrivals"]["un_feedback"]["around"]
    assert around["why"] == "u[0] of PE[1, 1] is needed on PE[12, 1], more than 4 away"
    assert few.results()["around"] == {"un": around}
    cycles = [built.results()["cycles"]["simd"] for built in (few, many)]
    assert abs(around["cycles"] / ((cycles[1] - cycles[0]) / 4) - 1) < 0.25


@pytest.mark.wide
def test_what_goes_around_over_adapters_takes_about_what_is_expected():
    cycles = []
    for steps in (3, 7):
        mapping = MAPPING.format(target="4, 4", placement="j//12, i//12")
        mapping = mapping.replace("invocations: 3", f"invocations: {steps}\nmoves: {{u: around}}")
        lair = STEP.format(n=36, m=36, taps=STAR, type="float16")
        built = build(lair, mapping, "simulate")
        cycles.append(built.results()["cycles"]["simd"])
    around = built.yaml("tasks.yaml")["arrivals"]["un_feedback"]["around"]
    assert around["why"] == "layer.yaml has u go around"
    assert abs(around["cycles"] / ((cycles[1] - cycles[0]) / 4) - 1) < 0.25


ROWS = """lair step(): {type} u[{n}][{z}] -> {type} un[{n}][{z}]
{{ all (i, k) in ({n}, {z}) where 1 <= i and i <= {n} - 2 and 1 <= k and k <= {z} - 2
    un[i][k] += u[i - 1][k] * 0.5 + u[i + 1][k] * 0.25 }}
"""
BLOCKS = """target: "{{ PE[1, {pes}] }}"
placement: "{{ step[i,k] -> PE[0, i//{block}] }}"
invocations: {times}
tensors: {{u: {{next: un}}}}
machine: {machine}
"""


def rows_of(type_, z, *, pes=5, block=1, times=3, machine="wse2"):
    """Return a layer in which PEs with blocks of rows exchange z elements behind a first one."""
    lair = ROWS.format(type=type_, n=pes * block, z=z + 2)
    mapping = BLOCKS.format(pes=pes, block=block, times=times, machine=machine)
    return given(build(lair, mapping, "route"), type_, u=(pes * block, z + 2))


@pytest.mark.parametrize(("type_", "z", "block", "paired"), [
    ("float16", 12, 1, True),
    pytest.param("float16", 6, 2, True, marks=pytest.mark.wide),
    ("float16", 11, 1, False),
    pytest.param("float32", 12, 1, False, marks=pytest.mark.wide),
])
@pytest.mark.parametrize("machine", ["wse2", "ideal"])
def test_rows_of_elements_of_16_bits_move_in_pairs(type_, z, block, paired, machine):
    """Where they have an even number of elements; they begin at 32 bits, in each buffer."""
    built = rows_of(type_, z, block=block, machine=machine)
    u = np.load(built.folder / "inputs/u.npy").astype(np.float64)
    for _ in range(3):
        new = np.zeros_like(u)
        new[1:-1, 1:-1] = u[:-2, 1:-1] * 0.5 + u[2:, 1:-1] * 0.25
        u = new
    assert np.array_equal(built.output("un"), u)
    simd, program = built.yaml("simd.yaml"), built.program("simd/pe_compute.c")
    streams = {name: each for name, each in simd.items() if "_halo_" in name}
    assert len(streams) == 4
    for each in streams.values():
        assert each.get("paired", False) == paired
        assert (each["sizes"], each["extents"]) == ([z // 2 if paired else z], [z])
    assert program.count("INT32_FABRIC, INT32_OPERAND(1)") == (2 if paired else 0)
    if paired:
        objects = built.objects("memory.isl")
        moved = objects["to_local"].intersect_domain(isl.UnionSet("{ [PE[x,y] -> u[i,1]] }"))
        byte = moved.apply_range(objects["address"]).range()
        assert byte.is_subset(isl.UnionSet("{ compute[k] : k mod 4 = 0 }"))


def test_pairs_are_expected_to_take_what_half_as_many_elements_of_32_bits_do():
    ways = [
        rows_of(type_, z).yaml("tasks.yaml")["moves"]["u_halo"]["ways"]["halo"]
        for type_, z in (("float16", 12), ("float32", 6), ("float16", 11), ("float32", 11))
    ]
    assert ways[0] == ways[1] < ways[2] == ways[3]


def test_columns_of_blocks_do_not_move_in_pairs():
    """Their elements do not lie side by side; those of rows do, and rows have an even length."""
    built = stencil(n=12, m=12, type_="float16", placement="j//4, i//4", more="machine: wse2\n")
    assert np.array_equal(built.output("un"), in_numpy(built, STAR))
    simd = built.yaml("simd.yaml")
    paired = {name.rpartition("_")[2] for name, each in simd.items() if each.get("paired")}
    assert paired == {"north", "south"}


def test_what_is_exchanged_is_said_by_side_and_alike_on_all_pes():
    """A PE in the middle has neighbours on all sides, and one at an end needs as much of its own.
    """
    built = stencil()
    moves = (built.cache / "adapted.isl").read_text("utf-8").partition("moves := ")[2]
    steps = [line.partition(" -> [")[2].partition("]]")[0] for line in moves.splitlines()[1:-1]]
    assert len(steps) >= 4 and not any("'" in step for step in steps)
    instances = built.objects("instances.isl")
    for side in ("east", "west", "south", "north"):
        for task in ("send", "receive"):
            access = instances[f"{task}_u_halo_{side}_access"]
            assert access.is_equal(isl.UnionMap("{ index[i, j] -> u[i, j] }"))
