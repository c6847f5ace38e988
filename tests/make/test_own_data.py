"""Files of the compiler that a stage reads: those of which no key knows fail it, however read."""

import os
import threading
from pathlib import Path

import pytest

from lairmake.stages.diagnose import UndeclaredReadError, UserError
from lairmake.stages.fabric import compiler
from lairmake.stages.make.core import faults
from lairmake.stages.make.core.inputs import FolderInputs
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.shipped import STAGES, UndeclaredDataError, looked_at, shipped, watch_files
from lairmake.stages.templates import template_in

TEXT = STAGES / "lair/lair.lark"
MODULE = STAGES / "lair/reader.py"
SAID = (
    "error: stage route reads stages/lair/lair.lark, in stages/lair/reader.py, but DATA of "
    "stages/lair/reader.py does not name it: no edit of that file would be seen\n"
    "hint: this is a fault of Lairmake, and not of what it builds: who edits Lairmake has to add "
    "'lair.lark' to DATA of stages/lair/reader.py; see docs/stages.md\n"
)
watch_files()  # as in a process that runs stages

WAYS = {
    "as text": "return Path(name).read_text()",
    "by its name": "open(name).read()",
    "as bytes of a name": "open(os.fsencode(name), 'rb').read()",
    "by the system": "os.close(os.open(name, os.O_RDONLY))",
    "from where one stands": "open(os.path.relpath(name)).read()",
    "over folders above": "open(os.path.join(os.path.dirname(name), '../lair/lair.lark')).read()",
    "by what the Make reads with": "read_file(name)",
    "in a thread": "in_thread(lambda: open(name))",
    "where it is caught": "caught(lambda: open(name))",
}


@pytest.fixture
def layer(tmp_path):
    (tmp_path / "layer.yaml").write_text("machine: ideal\n", encoding="utf-8")
    return open_folder(tmp_path)


def in_thread(read):
    thread = threading.Thread(target=lambda: caught(read))
    thread.start()
    thread.join()


def caught(read):
    try:
        read()
    except Exception as error:
        raise UserError("what it makes of it") from error


def module(way="as text", data=()):
    """Return a function of a module of ours that reads a file, and declares some."""
    from lairmake.stages.make.store.files import read_file

    known = {"__name__": "lairmake.stages.lair.reader", "__file__": str(MODULE), "DATA": data,
             "os": os, "Path": Path, "read_file": read_file, "in_thread": in_thread,
             "caught": caught}
    exec(compile(f"def read(name): {WAYS[way]}", "reader.py", "exec"), known)
    return known["read"]


def run(read, *arguments, knows=True):
    with looked_at("route", lambda file: knows):
        return read(*arguments)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_file_of_the_compiler_that_its_reader_does_not_declare_fails_a_stage(way):
    with pytest.raises(UndeclaredDataError) as said:
        run(module(way), str(TEXT))
    assert str(said.value) == SAID


@pytest.mark.parametrize("pattern", ["lair.lark", "*.lark", "../lair/lair.lark"])
def test_a_file_that_its_reader_declares_is_read(pattern):
    text = TEXT.read_text(encoding="utf-8")
    assert run(module(data=("none.lark", pattern)), str(TEXT)) == text


def test_a_module_declares_what_it_reads_whether_or_not_a_stage_runs():
    """What one read before may be kept in the process, so that no stage opens it any more."""
    with pytest.raises(UndeclaredDataError, match=r"error: stages/lair/reader\.py reads stages/"):
        module()(str(TEXT))


def test_a_stage_that_does_not_reach_the_reader_fails():
    with pytest.raises(UndeclaredDataError) as said:
        run(module(data=("*.lark",)), str(TEXT), knows=False)
    assert str(said.value) == (
        "error: stage route reads stages/lair/lair.lark, in stages/lair/reader.py, but DATA of no "
        "module that the stage imports names it: no edit of that file would be seen\n"
        "hint: this is a fault of Lairmake, and not of what it builds: who edits Lairmake has to "
        "import stages/lair/reader.py where the stage uses it; see docs/stages.md\n"
    )


def test_a_file_elsewhere_is_none_of_the_compiler(tmp_path):
    (tmp_path / "lair.lark").write_text("start: a", encoding="utf-8")
    assert run(module(), str(tmp_path / "lair.lark")) == "start: a"


def test_a_template_that_one_module_read_is_declared_by_the_next_one_too():
    folder, name = shipped("templates"), "grid.svg.j2"
    ask = "template_in(folder, name, reader)"
    for data in (("../../templates/*.j2", "../templates/*.j2"), ()):
        known = {"__name__": f"lairmake.stages.lair.reader{len(data)}", "__file__": str(MODULE),
                 "DATA": data, "template_in": template_in}
        exec(compile(f"def read(folder, name, reader): return {ask}", "reader.py", "exec"), known)
        if data:
            run(known["read"], folder, name, known["__name__"])
        else:
            with pytest.raises(UndeclaredDataError, match=r"templates/grid\.svg\.j2"):
                run(known["read"], folder, name, known["__name__"])


@pytest.mark.parametrize("error", [
    UndeclaredDataError(str(TEXT), str(MODULE), "route", False),
    UndeclaredReadError("x.isl is read but not declared"),
])
def test_what_a_slot_reads_undeclared_is_not_kept_as_a_refusal(layer, monkeypatch, error):
    def fail(*arguments):
        raise error

    monkeypatch.setattr(faults, "perform_in", fail)
    with pytest.raises(type(error)):
        faults.try_in(layer, "parse", FolderInputs(layer, ()))


def test_a_header_that_only_the_compiler_would_read_fails_a_stage(tmp_path, monkeypatch):
    monkeypatch.setattr(compiler, "DATA", ("*.c",))
    program = tmp_path / "pe_a.c"
    program.write_text('#include "pe.h"\n#include <stdint.h>\n', encoding="utf-8")
    with pytest.raises(UndeclaredDataError, match=r"stage route reads stages/fabric/pe\.h, in "
                       r"stages/fabric/compiler\.py, but DATA of stages/fabric/compiler\.py does"):
        run(compiler.build_library, [program], tmp_path)


def test_what_a_header_includes_is_a_source_of_the_engine(tmp_path, monkeypatch):
    for name, text in {"a.c": '#include "in/b.h"', "in/b.h": ' # include "c.h"', "c.h": ""}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(compiler, "HERE", tmp_path)
    found = compiler._with_included([tmp_path / "a.c"])
    assert [path.relative_to(tmp_path).as_posix() for path in found] == ["a.c", "in/b.h", "c.h"]
