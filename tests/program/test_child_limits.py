"""What a program may take where it runs: each limit is named where it is reached."""

import pytest

from lairmake.stages.diagnose import Source, UserErrors
from lairmake.stages.mapping.program_yaml import read_program
from lairmake.stages.program.sandbox.limits import LIMITS, MOST, ChildLimits, suggest_more
from lairmake.stages.program.sandbox.parent import tell_of_limits
from tests.program.started import Folder


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)


SLOW = "hint: a loop that ends, fewer steps or a smaller field; or more, in program.yaml: " \
    "`limits: {seconds: 5}`\n"
WAITS = "hint: nothing comes from outside while a program is built: what waits is put under " \
    "MACH_Compiler_Ignore\n"


@pytest.mark.wide
@pytest.mark.parametrize(("line", "limits", "said", "hint"), [
    ("re.match('(a*)*b', 'a' * 40)", ChildLimits(seconds=0.5),
     "the program takes more than 0.5 s of a processor", SLOW),
    ("time.sleep(9)", ChildLimits(seconds=0.5, clock=0.7),
     "the program does not end in 0.7 s, in which it takes less than 0.5 s of a processor", WAITS),
])
def test_code_that_hangs_is_ended_with_its_line_in_c_too(tmp_path, line, limits, said, hint):
    (tmp_path / "Wärme").mkdir()
    folder = Folder(tmp_path / "Wärme")
    assert folder.error(f"import re, time\n{line}\n", limits) == (
        f"heat.py:2:1: error: {said}\n  {line}\n  {'^' * len(line)}\n{hint}")


@pytest.mark.wide
def test_what_a_program_printed_follows_the_remedy(folder):
    said = folder.error("import time\nprint('step 1', flush=True)\ntime.sleep(9)\n",
                        ChildLimits(seconds=0.5, clock=0.7))
    assert said.endswith(f"{WAITS}  it printed last:\n  step 1\n".replace("  it", "it"))


@pytest.mark.long
def test_the_time_in_which_others_have_the_processor_does_not_count(folder):
    """A second of the clock, of which the program takes a part."""
    folder.run("import time\ntime.sleep(1.2)\n", ChildLimits(seconds=1))


@pytest.mark.wide
def test_two_threads_take_the_time_of_a_processor_twice(folder):
    """Which is as limited as that of the clock; and no handler of a user sees the signal."""
    limits = ChildLimits(seconds=1)
    threads = "for _ in range(3):\n    threading.Thread(target=spin).start()\n"
    spin = "def spin():\n    x = b'x' * 99_000_000\n    while True:\n        hashlib.md5(x)\n"
    said = folder.error(f"import hashlib, threading\n{spin}{threads}spin()\n", limits)
    assert "the program takes more than 1 s of a processor" in said.partition("\n")[0]


def test_what_is_given_back_is_limited(folder):
    said = folder.error("found['x'] = bytes(100_000)\n", ChildLimits(answer=99_999))
    assert said == (
        "heat.py:1:1: error: the program gives back more than 99999 bytes\n"
        "  found['x'] = bytes(100_000)\n  ^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "hint: a smaller field, or fewer outputs; or more, in program.yaml: "
        "`limits: {answer: 199998}`\n")


def test_limits_are_those_of_program_yaml(folder):
    folder.write("program.yaml", "program: heat.py\nlimits: {seconds: 600, memory: 1073741824}\n")
    assert folder.error("x = bytearray(2 << 30)\n", None) == (
        "heat.py:1:5: error: the program takes more than 1 GiB of memory, with Python and NumPy\n"
        "  x = bytearray(2 << 30)\n      ^^^^^^^^^^^^^^^^^^\n"
        "hint: a smaller field; or more, in program.yaml: `limits: {memory: 2147483648}`\n")


def test_the_most_that_program_yaml_gives_is_the_most_there_is():
    fields = ("seconds", "memory", "answer")
    most = {name: getattr(MOST, name) for name in fields}
    assert read_program(Source(path="p", text=f"limits: {most}\n")).limits.model_dump() == most
    for name in fields:
        with pytest.raises(UserErrors, match=f"limits.{name} must be at most"):
            read_program(Source(path="p", text=f"limits: {{{name}: {2 * most[name]}}}\n"))
    given = read_program(Source(path="p", text="")).limits.model_dump()
    assert given == {name: getattr(LIMITS, name) for name in fields}
    assert [suggest_more(name, most[name]) for name in fields] == ["", "", ""]


@pytest.mark.parametrize(("limits", "said"), [
    ("seconds: 600", "600 s of a processor"), ("seconds: 30, memory: 1073741824", ""),
    ("seconds: 61, memory: 8589934592", "61 s of a processor and 8 GiB of memory"),
    ("answer: 2147483648", "an answer of 2 GiB"),
])
def test_a_build_says_that_a_program_may_take_more_than_it_would(limits, said, capsys):
    tell_of_limits(read_program(Source(path="p", text=f"limits: {{{limits}}}\n")), "program.yaml")
    assert capsys.readouterr().err == (
        f"program.yaml lets its program take {said}\n" if said else "")
