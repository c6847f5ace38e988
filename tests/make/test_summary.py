"""The summary of a result, whole."""

from lairmake.stages.make.report.summary import inputs, is_layer_right, summarise_layer

RESULTS = {
    "top": "ff",
    "machine": "wse2",
    "invocations": 2,
    "cycles": {"simd": 202, "loops": 301},
    "speedup": 1.49,
    "bound": {"cycles": 21, "by": "latency"},
    "tasks": {
        "on_x": {
            "by": "hull",
            "why": "it fits",
            "sizes": [8],
            "calls": 28,
            "instances": 224,
            "extra": 3,
        },
        "compute_g": {
            "by": "loops",
            "why": "`y = a + b + c` is more than one operation",
            "sizes": [],
            "calls": 1,
            "instances": 8,
            "extra": 0,
        },
    },
    "data": {"W": "integers, seed 1", "x": "inputs/x.npy", "b": "integers, seed 1"},
    "check": {
        "y": {"exact": True, "right": True, "max_abs_error": 0.0},
        "z": {"exact": False, "right": True, "max_abs_error": 0.25},
    },
    "memory": {"bytes_per_pe": 3408, "of": 49152},
    "pes": {"compute": 16, "of": 20},
    "fabric": {"wavelets": 351, "hops": 204, "stalls": 24},
}
TEXT = """\
ff on wse2, 2 invocations
  y       right, bit for bit
  z       right, within rounding: 0.25 at most
  inputs  W, b generated (integers, seed 1); x from inputs/x.npy
  cycles  202 with vector instructions, 301 with loops: 1.49 times as fast
  bound   21 cycles, by latency
  memory  3408 of 49152 bytes on the fullest PE
  PEs     16 of 20 of the target compute
  fabric  351 wavelets, 204 hops, 24 stalls
  on_x       a vector instruction [8] by the box hull; 28 calls, 224 instances and 3 extra
  compute_g  a loop, for `y = a + b + c` is more than one operation; 1 call, 8 instances
"""


def test_summary_says_what_came_out():
    assert summarise_layer(RESULTS) == TEXT


def test_a_target_most_of_which_has_nothing_to_do_is_told():
    few = summarise_layer({**RESULTS, "pes": {"compute": 4, "of": 17}}).splitlines()[7]
    assert few == (
        "  PEs     4 of 17 of the target compute, less than a quarter: another placement may take "
        "less time"
    )
    assert summarise_layer({**RESULTS, "pes": {"compute": 4, "of": 16}}).splitlines()[7] == (
        "  PEs     4 of 16 of the target compute"
    )


def test_a_line_says_what_copying_takes_where_the_machine_does():
    link = {way: {"calls": 1, "words": 8, "cycles": cycles} for way, cycles in
            (("into", 489), ("out", 12345))}
    assert summarise_layer({**RESULTS, "host": link}) == TEXT.replace("24 stalls\n", (
        "24 stalls\n"
        "  host    489 cycles to copy in, 12 345 to copy out, which no other cycles have\n"))


def test_of_many_inputs_the_first_are_named():
    assert list(inputs({f"x{k}": "reals, seed 0" for k in range(12)})) == [
        ("inputs", "x0, x1, x2, x3, x4, x5, x6, x7 and 4 more generated (reals, seed 0)")
    ]
    assert list(inputs({})) == []


def test_a_wrong_value_is_not_right():
    wrong = RESULTS | {"check": {"y": {"exact": True, "right": False, "max_abs_error": 37.0}}}
    assert not is_layer_right(wrong)
    assert "  y       WRONG, by up to 37\n" in summarise_layer(wrong)


def test_what_multicast_is_worth_stands_beside_the_cycles():
    lines = summarise_layer(RESULTS | {"multicast": {"cycles": 100}}).splitlines()
    assert [line for line in lines if line.endswith("; 100 with multicast")] == [
        line + "; 100 with multicast" for line in TEXT.splitlines() if "with loops:" in line
    ]
