"""What is said of a run on the fabric that ends badly, or that gives other values."""

import io
import re

import numpy as np
import pytest

from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.picture import report_program
from lairmake.stages.program import execute
from lairmake.stages.program.lowering import running
from tests.program.agreeing import OnDisk, build_once, read_results, run_on_fabric

HEAD = """\
from lairmake.objects import GlobalScalar, LocalArray, field
from lairmake import numpy as np

field(4, 2)
"""
SOURCE = HEAD + """\
a = LocalArray("a", 1.0, shape=(4, 2, 3), output=True)
g = GlobalScalar("g", 0.0, output=True)
while g < 100.0:
    a[1:] = a[:-1] + a[1:]
    g[...] = np.sum(a, controller=True)
"""
OURS = ("hint: the compiler is at fault, not the program, unless what it wrote was edited: please "
        "report it with the program folder\n")
EDITED = "hint: lower writes it anew once it is deleted\n"
EXECUTIVE, LAYOUT = "build/vm/pe_executive.c", "build/layout.yaml"


@pytest.fixture(scope="module")
def built():
    return run_on_fabric(SOURCE)


@pytest.fixture(autouse=True)
def compiled_once(monkeypatch):
    monkeypatch.setattr(running, "build_library", lambda programs, *_, **__: build_once(*programs))


def edit(files, name, old, new):
    text = files[name] if isinstance(files[name], str) else files[name].decode()
    assert old in text, text
    return {**files, name: text.replace(old, new)}


def find_error(files):
    return str(raise_error(files))


def raise_error(files):
    with pytest.raises(UserError) as error:
        execute.run(OnDisk(files))
    return error.value


def edit_array(content):
    values = np.load(io.BytesIO(content))
    values[2, 1, 0] = -0.5
    buffer = io.BytesIO()
    np.save(buffer, values)
    return buffer.getvalue()


@pytest.mark.wide
def test_a_loop_that_never_ends_says_where_it_is(built):
    error = raise_error(edit(built, EXECUTIVE, "my->global_g < 100.0f", "my->global_g >= 0.0f"))
    said = re.sub(r"\b\d\d+\b", "N", str(error))
    assert said == ("error: the program did not end in N cycles: it is after section 0, and N "
                    f"times back in loops\n{OURS}")
    assert error.stop.said.startswith("the cycle limit was reached after cycle ")


def test_what_takes_long_is_not_at_fault():
    """Loops over elements where each address takes long."""
    source = HEAD + """
a = LocalArray("a", 1.5, shape=(4, 2, 20, 20), output=True)
b = LocalArray("b", 2.5, shape=(4, 2, 20, 20), output=True)
a[...] = np.where(a > b, b, np.where(b > a, a, b))
"""
    results = read_results(run_on_fabric(source, "{profile: ideal, address: 1000}"))
    assert results["cycles"] > 14 * 400 * 1000


@pytest.mark.wide
def test_a_stuck_fabric_is_our_fault_and_says_who_waits(built):
    files = edit(built, EXECUTIVE, "send_int16(pe, CTRL_COORD, 0);", "")
    error = raise_error(files)
    said = str(error)
    workers, strip = ("".join(
        f"  PE[{x}, {y}] ({role}) waits for wavelets: 0 of 1 invocations are done\n"
        for x in range(count)) for y, role, count in ((0, "worker", 4), (1, "reduction", 2)))
    assert said == (
        "error: the fabric is stuck after section 0, and 0 times back in loops: the fabric can no "
        "longer move after cycle 15: 17 PEs are not done, 0 output wavelets are missing\n"
        "it waits in a circle, each for the next one, the last for the first:\n"
        "  PE[1, 2] (merge) passes on ctrl_dist to ctrl what comes, and no ctrl_dist is on its way "
        "from PE[3, 2]\n"
        "  PE[3, 2] (response) waits for wavelets on ctrl_coord: 1 of 1 invocations are done,"
        " and no ctrl_coord is on its way from PE[2, 2]\n"
        "  PE[2, 2] (executive) waits for wavelets on reduction_3: 0 of 1 invocations are done,"
        " and no reduction_3 is on its way from PE[2, 1]\n"
        "  PE[2, 1] (reduction) waits for wavelets on ctrl: 0 of 1 invocations are done, and no "
        "ctrl is on its way from PE[1, 2]\n"
        "so: PE[1, 2] (merge), PE[3, 2] (response), PE[2, 2] (executive), PE[2, 1] (reduction)"
        " wait for each other: nobody sends before it has received\n"
        f"what else waits, in order:\n{workers}{strip}  and 9 more\n{OURS}")
    page = report_program.draw_stop(OnDisk(files), error.stop)
    assert "a program in NumPy on 4 x 2 workers; it ran the programs of the virtual" in page
    assert '"further":"after section 0, and 0 times back in loops"' in page
    assert '"recorded":{"path":[]' in page


@pytest.mark.wide
def test_a_value_that_differs_is_named_with_its_bits_and_the_other_run(built):
    doubled = edit(built, EXECUTIVE, "my->sum_float32;", "2.0f * my->sum_float32;")
    assert find_error(doubled) == (
        "error: a[1, 0, 0] is 3.0 (0x40400000) on the fabric, 4.0 (0x40800000) in the graph\n"
        f"{OURS}")
    name = "build/numpy/a.npy"
    assert find_error({**built, name: edit_array(built[name])}) == (
        "error: a[2, 1, 0] is 7.0 (0x40e00000) on the fabric, -0.5 (0xbf000000) in the source on "
        f"x86\n{OURS}")


def test_a_computer_without_memory_for_the_fabric(built, monkeypatch):
    def fail(*_, **__):
        raise MemoryError
    monkeypatch.setattr(running, "run_fabric", fail)
    assert find_error(built) == (
        "error: 4 x 2 workers, for whose simulation this computer has no memory\n"
        "hint: a smaller field, or fewer elements on each PE\n")


RESPONSE = "build/vm/pe_response.c"
TOLD = {
    "section": (EXECUTIVE, "CTRL_COORD, 0)", "CTRL_COORD, 9)",
                "PE[3, 2] is told number 9 of 2 sections"),
    "filter": (RESPONSE, "at_word(my->argument, my->section[number][0])", "my->section",
               "PE[1, 0] is told number 12 of 3 filters"),
    "procedure": (RESPONSE, "my->control, my->section[number][2])",
                  "my->argument, my->section[number][0])",
                  "PE[1, 1] is told number 8 of 4 procedures"),
}


@pytest.mark.wide
@pytest.mark.parametrize("name", TOLD)
def test_a_number_that_comes_as_a_wavelet_may_be_anything(name, built):
    *edited, said = TOLD[name]
    assert find_error(edit(built, *edited)) == f"error: the fabric stopped: {said}\n{OURS}"


@pytest.mark.wide
def test_a_loop_does_not_leave_the_memory_of_its_pe():
    files = run_on_fabric(SOURCE.partition("while")[0] + "a[...] = np.abs(a)\n")
    begins = "float *const d = at_word(my->data, my->argument[0]"
    found = find_error(edit(files, "build/vm/pe_worker.c", begins, f"{begins} + 10000"))
    said = "error: the fabric stopped: PE[1, 0] touches bytes 20000 to 20011 of its memory, "
    assert found.startswith(said) and found.endswith(OURS)


STORED = "hint: write `map: { [PE[x, y] -> L[i]] -> T[i] }` for a part of `tensor: T`\n"
FITS = "does not fit the program: "
EDITS = {
    "another role": (
        "  merge:\n", "  middle:\n", "has the roles executive, middle, reduction, response, "
        "worker: the virtual machine has executive, merge, reduction, response, worker"),
    "another tensor": (
        "tensor: worker.filters", "tensor: worker.others",
        f"{FITS}tensor worker.others is missing"),
    "another address": (
        "address: 32", "address: 3200", f"{FITS}a local tensor at bytes 3200 to 3206 is not "
        "aligned, or not inside the program's N bytes"),
    "no state": (
        "tensor: executive.state", "tensor: executive.states",
        "has no tensor executive.state that is read at the end"),
    "an output that is not read": (
        "tensor: g\n        transfer: out", "tensor: g\n        transfer: in",
        "has no tensor g that is read at the end"),
    "a map with holes": (
        "state[i] : 0 <= i < 3", "state[2i] : 0 <= i < 3",
        f"{FITS}the layout leaves out 2 of 5 elements of executive.state"),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edited_layout_that_does_not_fit_is_refused(name, built):
    old, new, said = EDITS[name]
    found = re.sub(r"program's \d+", "program's N", find_error(edit(built, LAYOUT, old, new)))
    assert found == f"error: {LAYOUT} {said}\n{EDITED}"


TEXTS = {
    "a map that is no isl": (
        "state[i] : 0", "state[i : 0", "isl: syntax error: unexpected '}'",
        "hint: the text has 4 `[` and 3 `]`\n"),
    "a type that there is not": (
        "type: float32", "type: float33", "a is of type float33",
        "hint: one of float16, float32, int16, int32\n"),
    "a part of nothing": (
        "        tensor: a\n", "", "a of role worker has `transfer`, and no `tensor`", STORED),
    "a grid that is no isl": (
        "grid: '{ PE", "grid: '{{ PE", "the grid is not a rectangle of PEs",
        "hint: write `{ PE[x, y] : 0 <= x < 4 and 0 <= y < 4 }`\n"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_of_a_layout_that_is_wrong_is_said_with_its_place(name, built):
    old, new, said, hint = TEXTS[name]
    text = built[LAYOUT] if isinstance(built[LAYOUT], str) else built[LAYOUT].decode()
    with pytest.raises(UserErrors) as error:
        execute.run(OnDisk({**built, LAYOUT: text.replace(old, new, 1)}))
    first, _, _, *last = str(error.value).splitlines(keepends=True)
    line = text[:text.index(old)].count("\n") + 1
    found = re.fullmatch(rf"{LAYOUT}:(\d+):\d+: error: (.*)\n", first)
    assert found and abs(int(found[1]) - line) <= 3 and found[2].endswith(said), first
    assert "".join(last) == hint
