"""Which C compiler is taken, and what it is asked to accept."""

import importlib.util
import os
import shutil
import signal
import sys
from pathlib import Path

import pytest

from lairmake.stages.fabric import compiler
from lairmake.stages.fabric.command import compiler_state
from lairmake.stages.fabric.compiler import CompilerError, build_library, c_compiler
from lairmake.stages.shipped import users_cache

HERE = Path(__file__).parent


def test_cc_is_taken_first(monkeypatch):
    monkeypatch.setenv("CC", "my-cc -m64")
    assert c_compiler() == ["my-cc", "-m64"]


def test_then_a_compiler_on_the_path(monkeypatch, tmp_path):
    monkeypatch.delenv("CC", raising=False)
    clang = tmp_path / "clang"
    clang.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert c_compiler() == [str(clang)]


def test_then_the_ziglang_wheel(monkeypatch, tmp_path):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(compiler, "find_spec", lambda name: name == "ziglang")
    assert c_compiler() == [sys.executable, "-P", "-m", "ziglang", "cc"]


def test_without_any_compiler_there_is_a_remedy(monkeypatch, tmp_path):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(compiler, "find_spec", lambda name: None)
    with pytest.raises(CompilerError) as caught:
        c_compiler()
    assert str(caught.value) == "no C compiler: neither $CC, cc, gcc nor clang is there"
    assert caught.value.hint == "install one, or the wheel that brings one: pip install ziglang"


@pytest.mark.wide
def test_a_rejected_program_shows_the_compilers_text(tmp_path):
    (tmp_path / "pe_bad.c").write_text('#include "pe.h"\nint unused(int a) { return 0; }\n')
    with pytest.raises(CompilerError, match="unused"):
        build_library([tmp_path / "pe_bad.c"], tmp_path / "out", users_cache(), generated=True)
    assert not (tmp_path / "out" / "fabric.so").exists()


def test_a_compiler_that_does_not_start(monkeypatch, tmp_path):
    monkeypatch.setenv("CC", "/nowhere/cc")
    with pytest.raises(CompilerError, match=r"^the C compiler /nowhere/cc does not start: "):
        build_library([], tmp_path)


@pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="no ziglang wheel")
def test_the_ziglang_wheel_builds_the_engine(monkeypatch, tmp_path):
    monkeypatch.setenv("CC", f"{sys.executable} -m ziglang cc")
    assert build_library([HERE / "programs" / "pe_chain.c"], tmp_path).exists()


def program(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


@pytest.mark.parametrize(
    "command", ["gcc", "ccache gcc", "distcc gcc -m64", "env X=1 gcc", "zig gcc", "{}/gcc", "cc"]
)
def test_another_program_behind_any_word_is_another_compiler(monkeypatch, tmp_path, command):
    """Of `cc` too, whose first program on the path only wraps the next one so called."""
    for name in ("ccache", "distcc", "env", "zig", "cc"):
        program(tmp_path / "first" / name, "exec the next one")
    for name in ("gcc", "cc"):
        program(tmp_path / "bin" / name, "one")
    monkeypatch.setenv("PATH", f"{tmp_path}/first:{tmp_path}/bin")
    monkeypatch.setenv("CC", command.format(tmp_path / "bin"))
    before = compiler_state()
    assert compiler_state() == before
    program(tmp_path / "bin" / ("cc" if command == "cc" else "gcc"), "another")
    assert compiler_state() != before


@pytest.fixture
def engine(monkeypatch, tmp_path):
    """An engine of two small files, a compiler that notes its arguments, and a cache."""
    sources = [tmp_path / "a.c", tmp_path / "b.c"]
    for source in sources:
        source.write_text(f"int {source.stem}(void) {{ return 1; }}\n", encoding="utf-8")
    real = " ".join(c_compiler())
    monkeypatch.setattr(compiler, "engine_sources", lambda: sources)
    monkeypatch.setenv("CC", str(tmp_path / "my-cc"))
    program(tmp_path / "my-cc", f'echo "$@" >>{tmp_path}/noted\nexec {real} "$@"')
    return tmp_path / "cache"


def compiled(engine):
    """Build a library, and return how many files of the engine were compiled for it."""
    noted = engine.parent / "noted"
    noted.unlink(missing_ok=True)
    assert build_library([], engine.parent / "out", cache=engine).exists()
    return sum(" -c " in line for line in noted.read_text("utf-8").splitlines())


def test_the_engine_is_compiled_once(engine):
    assert [compiled(engine), compiled(engine)] == [2, 0]


@pytest.mark.parametrize("damage", [b"", b"another"])
def test_an_object_that_is_damaged_is_compiled_again(engine, capsys, damage):
    compiled(engine)
    (kept,) = engine.rglob("a.*.o")
    content = kept.read_bytes()
    kept.write_bytes(damage)
    assert [compiled(engine), compiled(engine)] == [1, 0]
    assert kept.read_bytes() == content
    assert capsys.readouterr().err == f"warning: {kept} is damaged, and made anew\n"


@pytest.mark.parametrize("wrong", ["a link", "a pipe", "a folder", "no folder"])
def test_what_is_no_object_is_compiled_again(engine, wrong):
    compiled(engine)
    (kept,) = engine.rglob("a.*.o")
    if wrong == "no folder":
        shutil.rmtree(kept.parent)
        kept.parent.write_bytes(b"")
    else:
        kept.unlink()
    if wrong == "a link":
        kept.symlink_to("/dev/zero")
    elif wrong == "a pipe":
        os.mkfifo(kept)
    elif wrong == "a folder":
        kept.mkdir()
    assert compiled(engine) == (2 if wrong == "no folder" else 1)
    assert compiled(engine) == 0


def test_a_compiler_that_is_replaced_in_place_compiles_the_engine(engine):
    compiled(engine)
    mine = engine.parent / "my-cc"
    program(mine, mine.read_text("utf-8").partition("\n")[2] + "# another")
    assert compiled(engine) == 2


@pytest.mark.parametrize(("said", "hint"), [
    ("cc: internal compiler error: File size limit exceeded signal terminated program cc1",
     "the system stopped the compiler: File size limit exceeded; see `ulimit -a`, and `df`"),
    ("a.o: No space left on device",
     "the system stopped the compiler: No space left on device; see `ulimit -a`, and `df`"),
    ("a.c:1:1: error: expected declaration",
     "if $CC is a C11 compiler, the program is at fault: please report it with the layer"),
])
def test_what_the_system_refuses_to_the_compiler_is_no_bug(engine, said, hint):
    program(engine.parent / "my-cc", f"echo '{said}' >&2; exit 4")
    with pytest.raises(CompilerError) as caught:
        build_library([], engine.parent / "out")
    assert caught.value.hint == hint


def test_another_source_is_compiled(engine):
    compiled(engine)
    (engine.parent / "a.c").write_text("int a(void) { return 2; }\n", encoding="utf-8")
    assert compiled(engine) == 2


def test_a_compile_that_is_killed_leaves_nothing_in_the_cache(engine):
    mine = engine.parent / "my-cc"
    program(mine, "kill -9 $PPID")
    child = os.fork()
    if child == 0:
        build_library([], engine.parent / "out", cache=engine)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    assert {path.suffix for path in engine.rglob("*") if path.is_file()} == {".lock"}


def test_what_is_killed_while_it_keeps_an_object_leaves_what_the_next_one_removes(engine):
    child = os.fork()
    if child == 0:
        compiler.os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
        build_library([], engine.parent / "out", cache=engine)
        os._exit(0)
    os.waitpid(child, 0)
    assert len([path for path in engine.iterdir() if path.is_file()]) == 1
    assert compiled(engine) == 2
    assert [path for path in engine.iterdir() if path.is_file()] == []


def in_another(function, *arguments):
    """Return the number of a process that calls a function; it ends with 0 if that returns."""
    child = os.fork()
    if child == 0:
        try:
            function(*arguments)
            os._exit(0)
        finally:
            os._exit(1)
    return child


@pytest.fixture
def slowly(engine, monkeypatch):
    """The cache of an engine whose compiler takes its time, as the user's own."""
    mine = engine.parent / "my-cc"
    lines = mine.read_text("utf-8").splitlines()[1:]
    program(mine, "\n".join([lines[0], "sleep 0.3", *lines[1:]]))
    monkeypatch.setattr(compiler, "users_cache", lambda: engine)
    return engine


@pytest.mark.wide
def test_processes_at_once_compile_the_engine_once(slowly):
    """Each that links has all of it: none takes what another one has not finished."""
    outs = [slowly.parent / name for name in ("out1", "out2", "out3")]
    children = [in_another(build_library, [], out, slowly) for out in outs]
    children.append(in_another(compiler.compile_engine, False))
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
    noted = (slowly.parent / "noted").read_text("utf-8").splitlines()
    assert sum(" -c " in line for line in noted) == 2
    assert len(list(slowly.rglob("*.o"))) == 2
    assert all((out / "fabric.so").is_file() for out in outs)


@pytest.mark.wide
def test_what_is_compiled_ahead_of_its_use_is_compiled_no_more(slowly):
    assert not compiler.keeps_engine(recorded=False)
    compiler.compile_engine(False, True)
    assert compiler.keeps_engine(recorded=False) and compiler.keeps_engine(recorded=True)
    assert compiled(slowly) == 0


@pytest.mark.wide
def test_whoever_compiles_ahead_leaves_to_others_what_they_are_at(slowly):
    kept = compiler._folder_of_engine(compiler._engine_command(), slowly)
    with compiler._locked(kept, "a", wait=True) as is_held:
        assert is_held
        child = in_another(compiler.compile_engine, False)
        assert os.waitpid(child, 0)[1] == 0
    assert [path.name[0] for path in slowly.rglob("*.o")] == ["b"]
    assert compiled(slowly) == 1


def test_what_fails_ahead_of_its_use_is_said_by_who_links_it(slowly):
    program(slowly.parent / "my-cc", "echo 'a.c:1:1: error: expected declaration' >&2; exit 4")
    child = in_another(compiler.compile_engine, False)
    assert os.waitpid(child, 0)[1] != 0
    assert not compiler.keeps_engine(recorded=False) and list(slowly.rglob("*.o")) == []
    with pytest.raises(CompilerError, match="expected declaration"):
        build_library([], slowly.parent / "out", cache=slowly)


def test_nothing_is_compiled_ahead_where_nothing_can_be(engine, monkeypatch):
    monkeypatch.setattr(compiler, "users_cache", lambda: None)
    assert compiler.keeps_engine(recorded=True)
    compiler.compile_engine(False, True)
    monkeypatch.setattr(compiler, "users_cache", lambda: engine)
    monkeypatch.setattr(compiler, "c_compiler", c_compiler_of_nobody)
    assert compiler.keeps_engine(recorded=True)


def c_compiler_of_nobody():
    raise CompilerError("no C compiler", "install one")


@pytest.mark.parametrize(("mode", "is_used"), [(0o700, True), (0o755, True), (0o777, False)])
def test_the_engine_is_kept_where_nobody_else_writes(monkeypatch, tmp_path, mode, is_used):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "lairmake").mkdir()
    (tmp_path / "lairmake").chmod(mode)
    assert users_cache() == (tmp_path / "lairmake" if is_used else None)


def test_without_a_home_the_engine_is_not_kept(monkeypatch, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert users_cache() is None


BY_HAND = """#include "pe.h"
static void on_x(struct pe *pe, wavelet w)
{
    int unused = 0;
    if (pe->x > 0)
        activate(pe, 0);
        block(pe, 0);
}
static void pe_main(struct pe *pe)
{
    on_data(pe, 0, on_x);
}
const struct program program_by_hand = { .name = "by_hand", .memory = 4, .main = pe_main };
"""


def test_how_a_program_by_hand_is_written_rejects_it_no_more_than_a_machine_would(tmp_path):
    """Indentation that misleads, and what is not used; of generated programs both are faults."""
    (tmp_path / "pe_by_hand.c").write_text(BY_HAND)
    assert build_library([tmp_path / "pe_by_hand.c"], tmp_path / "out", users_cache()).exists()
    with pytest.raises(CompilerError, match="unused"):
        build_library([tmp_path / "pe_by_hand.c"], tmp_path / "out", users_cache(), generated=True)


@pytest.mark.parametrize(("old", "new", "said"), [
    ("int unused = 0;", "int unused; pe->charge += unused;", "uninitialized"),
    ("pe->x > 0", "pe->charge = 0", "parentheses"),
    ("on_data(pe, 0, on_x)", "on_date(pe, 0, on_x)", "on_date"),
    ("on_data(pe, 0, on_x)", "on_data(pe, 0, pe_main)", "pe_main"),
], ids=["never set", "an assignment", "a misspelt name", "a task of another kind"])
def test_a_fault_of_a_program_by_hand_rejects_it(tmp_path, old, new, said):
    (tmp_path / "pe_by_hand.c").write_text(BY_HAND.replace(old, new))
    with pytest.raises(CompilerError, match=said):
        build_library([tmp_path / "pe_by_hand.c"], tmp_path / "out", users_cache())
