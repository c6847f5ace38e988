"""Which C compiler is taken, and what it is asked to accept."""

import importlib.util
import sys
from pathlib import Path

import pytest

from stages.fabric import compiler
from stages.fabric.compiler import CompilerError, build_library, c_compiler

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
    assert c_compiler() == [sys.executable, "-m", "ziglang", "cc"]


def test_without_any_compiler_there_is_a_remedy(monkeypatch, tmp_path):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(compiler, "find_spec", lambda name: None)
    with pytest.raises(CompilerError) as caught:
        c_compiler()
    assert str(caught.value) == "no C compiler: neither $CC, cc, gcc nor clang is there"
    assert caught.value.hint == "install one, or the wheel that brings one: pip install ziglang"


def test_a_rejected_program_shows_the_compilers_text(tmp_path):
    (tmp_path / "pe_bad.c").write_text('#include "pe.h"\nint unused(int a) { return 0; }\n')
    with pytest.raises(CompilerError, match="unused"):
        build_library([tmp_path / "pe_bad.c"], tmp_path / "out")
    assert not (tmp_path / "out" / "fabric.so").exists()


def test_a_compiler_that_does_not_start(monkeypatch, tmp_path):
    monkeypatch.setenv("CC", "/nowhere/cc")
    with pytest.raises(CompilerError, match=r"^the C compiler /nowhere/cc does not start: "):
        build_library([], tmp_path)


@pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="no ziglang wheel")
def test_the_ziglang_wheel_builds_the_engine(monkeypatch, tmp_path):
    monkeypatch.setenv("CC", f"{sys.executable} -m ziglang cc")
    assert build_library([HERE / "programs" / "pe_chain.c"], tmp_path).exists()
