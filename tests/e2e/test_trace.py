"""`doit trace` on fc: what Perfetto reads, and what is refused."""

import shutil

import pytest

from lairmake.stages.picture.trace import BEGIN, CLASSES, COUNTER, END, INSTANT
from tests.e2e.conftest import DODO, ROOT, Space
from tests.e2e.test_unwritable import read_only, without_write_rights, writable

NONE = """--pes:1:1: error: that is no PE of the grid
  { PE[x, 9] }
  ^^^^^^^^^^^^
hint: the PEs are { PE[x, y] : 0 <= x <= 3 and 0 <= y <= 4 }
"""
BROKEN = """--pes:1:11: error: isl: syntax error: unexpected '}'
  { PE[x, 1 }
            ^
hint: the text has 1 `[` and 0 `]`
"""
HALFWAY = """
from lairmake.stages.fabric import driver
from lairmake.stages.make.core import workers

ended, workers.INTERVAL = driver._ended, 0

def run(opened, layout, loaded, tell, tasks):
    tell(0.5)
    return ended(opened, layout, loaded, None, tasks)

driver._ended = run
"""
INTERRUPTED = """
from lairmake.stages.fabric import driver

def interrupt(*given):
    raise KeyboardInterrupt

driver._ended = interrupt
"""
REFUSED = {
    "a set without PEs": (["fc", "--pes", "{ PE[x, 9] }"], 1, NONE),
    "no set": (["fc", "--pes", "{ PE[x, 1 }"], 1, BROKEN),
    "too many events": (
        ["fc", "--most", "10"], 1,
        "error: the trace would have 512 events, and may have 10\n"
        "hint: fewer PEs, --pes, or cycles, --cycles; or --most 512\n",
    ),
    "cycles after the end": (
        ["fc", "--cycles", "5000:"], 1,
        "error: nothing happens on these PEs in cycles 5000:; the run has 137\n"
        "hint: more PEs, --pes, or other cycles, --cycles\n",
    ),
    "no cycles": (
        ["fc", "--cycles", "5:3"], 3,
        "ERROR: trace: --cycles 5:3 names no cycle\nhint: from and to: `--cycles 0:500`\n",
    ),
    **{f"--most {most}": (
        ["fc", "--most", most], 3,
        f"ERROR: trace: --most {most} is no number from 1 to 100000000\n",
    ) for most in ("0", "-5", "1000000000000")},
    "all layers": (
        [], 3,
        "ERROR: trace: one layer is traced at a time\nhint: name it: `trace fc`\n",
    ),
    "no layer": (["ff"], 3, "ERROR: trace: ff is no layer and no stage\nhint: did you mean fc?\n"),
}


@pytest.fixture(scope="module")
def space(tmp_path_factory):
    space = Space(tmp_path_factory.mktemp("trace"), ROOT)
    space.write("dodo.py", DODO)
    space.copy(ROOT / "projects/fc", "projects/fc")
    return space


def read(space):
    """Return the tracks by number, names by number, and the packets of events, in their order."""
    trace = CLASSES["Trace"]()
    trace.ParseFromString((space.root / "projects/fc/build/trace.pftrace").read_bytes())
    names = {each.iid: each.name for p in trace.packet for each in p.interned_data.event_names}
    tracks = {
        p.track_descriptor.uuid: p.track_descriptor
        for p in trace.packet if p.track_descriptor.uuid
    }
    return tracks, names, [p for p in trace.packet if p.track_event.type]


@pytest.mark.wide
def test_a_trace_has_the_tasks_of_a_pe_with_their_cycles(space):
    """PE[0, 4] takes x[0], x[2] and x[3], then its sequence ends and it sends its sums.

    It is one of the last row, as layer.yaml has it: ff runs on rows 1 to 4, adapters on row 0.
    """
    run = space.run("trace", "fc", "--pes", "{ PE[0, 4] }")
    assert run.code == 0, run.err
    assert run.out.endswith(" events; https://ui.perfetto.dev opens it\n")
    tracks, names, packets = read(space)
    assert {each.name for each in tracks.values()} >= {
        "PE[0, 4] compute", "tasks", "vector instructions", "queue x"
    }
    tasks = next(uuid for uuid, each in tracks.items() if each.name == "tasks")
    found = [(p.timestamp, p.track_event) for p in packets if p.track_event.track_uuid == tasks]
    begins = [(at, names[e.name_iid]) for at, e in found if e.type == BEGIN]
    ends = [at for at, e in found if e.type == END]
    assert [name for _, name in begins if name == "on_x"] == ["on_x"] * 2
    assert [name for _, name in begins][-3:] == ["end_x", "finish_ff", "complete"]
    assert all(end > begin for (begin, _), end in zip(begins, ends, strict=True))
    assert all(end <= begin for end, (begin, _) in zip(ends, begins[1:], strict=False))


@pytest.mark.wide
def test_slices_of_a_track_end_before_the_next_one_begins(space):
    assert space.run("trace", "fc").code == 0
    tracks, _, packets = read(space)
    open_at = dict.fromkeys(tracks)
    for packet in packets:
        event = packet.track_event
        if event.type == BEGIN:
            assert open_at[event.track_uuid] is None
            open_at[event.track_uuid] = packet.timestamp
        elif event.type == END:
            assert packet.timestamp >= open_at[event.track_uuid]
            open_at[event.track_uuid] = None
    assert not any(open_at.values())
    assert {p.track_event.type for p in packets} == {BEGIN, END, INSTANT, COUNTER}


@pytest.mark.wide
def test_arrows_go_from_the_adapter_to_tasks(space):
    assert space.run("trace", "fc").code == 0
    tracks, names, packets = read(space)
    sent = {p.track_event.flow_ids[0]: p for p in packets if p.track_event.type == INSTANT}
    started = {
        p.track_event.terminating_flow_ids[0]: p for p in packets
        if p.track_event.terminating_flow_ids
    }
    assert sent.keys() == started.keys() and sent
    for flow, packet in started.items():
        assert sent[flow].timestamp < packet.timestamp
        sender = tracks[tracks[sent[flow].track_event.track_uuid].parent_uuid].name
        assert sender.endswith(", 0] adapter_north")
        assert names[packet.track_event.name_iid] in ("on_x", "end_x")


@pytest.mark.wide_after(3)
@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused_leaves_no_trace(space, what):
    words, code, error = REFUSED[what]
    file = space.root / "projects/fc/build/trace.pftrace"
    file.unlink(missing_ok=True)
    run = space.run("trace", *words)
    assert (run.code, run.err) == (code, error)
    assert not file.exists()


@pytest.mark.wide
def test_a_trace_that_cannot_be_written_is_said_and_nothing_is_left(space):
    space.build("fc")
    before, build = space.files(), space.root / "projects/fc/build"
    read_only(build)
    run = space.run("trace", "fc", preexec=without_write_rights)
    writable(build)
    said = "error: cannot write projects/fc/build/trace.pftrace: Permission denied\n"
    assert (run.code, run.out, run.err) == (1, "", said)
    assert space.files() == before


def test_a_trace_of_a_long_run_says_how_far_that_is(space):
    """Where it is long is a matter of `INTERVAL`, which is none here."""
    space.build("fc")
    space.write("dodo.py", DODO + HALFWAY)
    run = space.run("trace", "fc")
    space.write("dodo.py", DODO)
    assert (run.code, run.err) == (0, "fc:trace: 50%\n")


def test_a_trace_that_is_interrupted_ends_without_a_traceback(space):
    """After the build, which ends in its own way, the interrupt is Python's."""
    space.build("fc")
    before = space.files()
    space.write("dodo.py", DODO + INTERRUPTED)
    run = space.run("trace", "fc")
    space.write("dodo.py", DODO)
    assert (run.code, run.out, run.err) == (130, "", "interrupted\n")
    assert space.files() == before


def test_a_layer_that_no_build_takes_by_its_name_is_not_traced(space):
    space.copy(ROOT / "projects/fc", "projects/clean")
    run = space.run("trace", "clean")
    shutil.rmtree(space.root / "projects/clean")
    assert (run.code, run.out, run.err) == (3, "", (
        "warning: projects/clean is left out, since doit has a command of this name: rename it\n"
        "ERROR: trace: clean is no layer and no stage\n"
    ))
