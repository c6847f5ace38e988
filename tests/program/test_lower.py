"""What the executive decides and computes on the fabric is what the graph does; and errors."""

import re

import pytest

from lairmake.stages.diagnose import UserError
from tests.program.agreeing import read_results, run_on_fabric
from tests.program.read_back import assert_programs_read_back
from tests.program.run_on_fabric import are_equal, lower_program, run_programs

HEAD = """
from lairmake import numpy as np
from lairmake.objects import (
    GlobalArray, GlobalScalar, LocalArray, MACHScalar, Run_On_Host, UniformLocalScalar, field,
    global_range,
)
with Run_On_Host():
    import numpy
    rng = numpy.random.default_rng(3)

field(4, 3)
a = LocalArray("a", rng.integers(-9, 10, (4, 3, 4)).astype("float32"), output=True)
h = LocalArray("h", rng.integers(-9, 10, (4, 3, 2)).astype("float16"), output=True)
u = UniformLocalScalar("u", 1.5, output=True)
"""
PROGRAMS = {
    "values": """
for type in ("float16", "float32", "int16", "int32"):
    s = GlobalScalar(f"s_{type}", 3, dtype=type, output=True)
    v = GlobalArray(f"v_{type}", rng.integers(-9, 10, (3, 5)).astype(type), output=True)
    s[...] = s * 7 - np.sum(v) + np.maximum(np.max(v), -s)
    v[:, 1:] = v[:, :-1] + v[:, 1:]
    v[1, ::2] = np.where(v[0, ::2] > s, v[2, ::2], np.abs(v[1, ::2]))
    s[...] = np.min(v[1:, ::-1]) + s
    v[0, 1] = v[0, 0] + v[0, 1]
    v[2, 3] = np.sum(v[:2]) - v[0, 1]
""",
    "loops": """
k = GlobalScalar("k", 0, output=True)
g = GlobalScalar("g", 0.1, output=True)
t = GlobalScalar("t", 0.0)
steps = GlobalArray("steps", rng.integers(-3, 9, 6).astype("float32"))
for i in global_range(7, -5, -3):
    k[...] += i
    for step in steps:
        if step < 0.0 or not 3.0 < g + step:
            continue
        g[...] = g + step / 3.0
        if g > 9.5 and k != 5:
            break
        a[...] = a + g
    t[...] = 2.0
    while t < g:
        t[...] = t * 2.0
        u[...] = u + t
    if k == 11:
        a[1:] = a[:-1] * 2.0
    elif k > 11:
        a[...] -= g
    else:
        g[...] += 1.0
""",
    "sums": """
g = GlobalScalar("g", 0.0, output=True)
s = GlobalScalar("s", 0.0, dtype="float16", output=True)
k = GlobalScalar("k", 0, output=True)
g[...] = np.sum(a, controller=True)
while g < 500.0 and k < 4:
    a[...] = a * 1.5 + g
    g[...] = np.sum(np.abs(a), controller=True)
    s[...] = np.sum(h, controller=True) + s
    h[...] = h * s
    k[...] += 1
""",
    "scalars that are sent often": """
for type in ("float16", "float32", "int16", "int32"):
    x = LocalArray(f"x_{type}", 1, shape=(3, 3, 2), dtype=type, output=True)
    s = GlobalScalar(f"s_{type}", 3, dtype=type)
    for k in global_range(3):
        x[...] += s
        s[...] = s * 5
        x[1:] = x[:-1] * s
        s[...] = np.max(x, controller=True) - s
        x[...] = s - x
        s[...] = s + 1
        x[...] += s
""",
    "loops in loops, and what leaves them": """
k = GlobalScalar("k", 0, output=True)
g = GlobalScalar("g", 9.0, output=True)
for i in global_range(3):
    while g > 0.5:
        for j in global_range(4):
            v: MACHScalar = np.max(a)
            a[1:] = a[:-1] - v
            if j == i:
                continue
            g[...] = np.sum(a, controller=True)
            if g > 40.0 or j > 2:
                break
            for _ in global_range(2, 2):
                a[...] = 0.0
                u[...] = np.sum(a)
            k[...] += 1
        g[...] -= 50.0
        if k > 5:
            break
        while True:
            a[:, 1:] = a[:, :-1] + 0.5
            k[...] += 1
            if k > 3:
                break
    a[...] += g
    g[...] = 1.0
u[...] = np.min(a)
w: MACHScalar = np.sum(a, controller=True)
""",
    "nothing for workers": """
k = GlobalScalar("k", 3, output=True)
k[...] += k
""",
}


@pytest.mark.wide
@pytest.mark.parametrize("program", PROGRAMS)
def test_the_executive_does_what_the_graph_does(program):
    files = lower_program(HEAD + PROGRAMS[program], "machine: ideal\n")
    assert_programs_read_back(files)
    found, wanted = run_programs(files, "ideal")
    assert [name for name in wanted if not are_equal(found[name], wanted[name])] == []


@pytest.mark.wide
def test_sums_that_nobody_waits_for_go_on_where_queues_hold_one():
    """Each is taken before so many are under way that workers could no longer send the next."""
    sums = "".join(f"s{k}: MACHScalar = np.sum(a * {k}.0)\n" for k in range(10))
    files = run_on_fabric(HEAD + sums, "{profile: ideal, queue_depth: 1, input_queues: "
                          "[2, 2, 2, 2, 2, 2, 2, 2], output_queues: [2, 2, 2, 2, 2, 2]}")
    assert read_results(files)["sums"]["count"] == 10


ERRORS = {
    "input_queues: [2]": """\
program.yaml:1:10: error: PE[0, 0] takes what comes on 3 colours, wse2 has 1 input_queues: args, \
ctrl, global_broadcast
  machine: {profile: wse2, input_queues: [2]}
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: a machine with 3 `input_queues`
""",
    "memory: 2048": """\
program.py:12:5: error: a PE of role worker needs 4938 bytes, wse2 has 2048
  a = LocalArray("a", rng.integers(-9, 10, (4, 3, 4)).astype("float32"), output=True)
      ^^^^^^^^^^^^^^
hint: code 4864, a 16, t3 16, h 4, u 4, constant_0 4; a machine with more `memory`, or \
fewer kinds of operations: each has its own code
""",
    "output_queues: [2]": """\
program.yaml:1:10: error: PE[0, 2] sends on 2 colours, wse2 has 1 output_queues: args_dist, \
ctrl_dist
  machine: {profile: wse2, output_queues: [2]}
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: a machine with 2 `output_queues`
""",
    "descriptors: 1": """\
program.yaml:1:10: error: role worker has 3 instructions, wse2 has 1 descriptors
  machine: {profile: wse2, descriptors: 1}
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: a machine with `descriptors: 3`
""",
}


@pytest.mark.parametrize("figure", ERRORS)
def test_a_machine_with_too_little_is_refused(figure):
    with pytest.raises(UserError) as error:
        lower_program(HEAD + PROGRAMS["sums"],
                      f"machine: {{profile: wse2, {figure}}}\n")
    assert str(error.value) == ERRORS[figure]


@pytest.mark.parametrize(("tasks", "looked_up"), [(0, None), (1, 0), (2, None)])
def test_procedures_without_a_control_task_are_looked_up(tasks, looked_up):
    files = lower_program(HEAD + "a[...] = a + 1.0\n",
                          f"machine: {{profile: wse2, control_tasks: {tasks}}}\n")
    text = files["build/vm/pe_worker.c"]
    assert "counts[2] = {" in text
    found = re.findall(r"if \(my->called >= (\d+)\)", text)
    assert found == ([] if looked_up is None else [str(looked_up)])
