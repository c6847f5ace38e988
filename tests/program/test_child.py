"""The process that runs a user's code: what it gives back, what it reads, and how it fails."""

import ast
import os

import pytest

from lairmake.stages.diagnose import UserError
from lairmake.stages.program.sandbox.limits import pack, unpack
from tests.program.started import Folder


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)


def test_a_source_runs_as_python_would_run_it_and_says_what_it_read(folder):
    """In its folder, with an empty environment, no arguments and no input; modules beside it come
    first, and what they read is noted, as are folders that are listed and files that are not there.
    """
    folder.write("helper.py", "from inside.deep import SIZE\n")
    folder.write("inside/deep.py", "SIZE = len(open('inside/mesh.txt').read())\n")
    folder.write("inside/mesh.txt", "12345")
    folder.write("random.py", "VALUE = 7\n")
    found = folder.run(
        "import contextlib, os, sys, random, helper, numpy, fractions\n"
        "print('quiet')\n"
        "with contextlib.suppress(OSError):\n    open('absent.txt')\n"
        "seen = [__name__, sys.argv, os.getcwd(), __file__, sys.stdin.read(), random.VALUE,\n"
        "        helper.SIZE, hash('a') == hash('a'), 'HOME' in os.environ, os.listdir('inside')]\n"
        "found['seen'] = repr(seen).encode()\n"
    )
    heat = str(folder.path / "heat.py")
    assert ast.literal_eval(found["seen"].decode()) == [
        "__main__", [heat], str(folder.path), heat, "", 7, 5, True, False,
        sorted(["deep.py", "mesh.txt"], key=os.listdir(folder.path / "inside").index),
    ]
    absent = {name for name, digest in folder.opened.items() if digest is None}
    assert absent == {
        "absent.txt", "fractions.py", "fractions/__init__.py", "helper/__init__.py",
        "inside/__init__.py", "inside.py", "inside/deep/__init__.py", "random/__init__.py",
    }
    assert sorted(folder.opened.keys() - absent) == [
        "helper.py", "inside/", "inside/deep.py", "inside/mesh.txt", "random.py",
    ]
    assert sorted(os.listdir(folder.path / "inside")) == ["deep.py", "mesh.txt"]


def test_hashes_are_the_same_in_every_run(folder):
    source = "found['hash'] = str(hash('a')).encode()\n"
    assert folder.run(source) == folder.run(source)


def test_modules_beside_a_program_are_never_taken_from_byte_code(folder):
    """Python believes byte code by the size and the seconds of its source."""
    import py_compile

    folder.write("helper.py", "VALUE = 1\n")
    py_compile.compile(str(folder.path / "helper.py"))
    before = (folder.path / "helper.py").stat()
    folder.write("helper.py", "VALUE = 2\n")
    os.utime(folder.path / "helper.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert folder.run("import helper\nfound['x'] = bytes([helper.VALUE])\n") == {"x": b"\2"}


REFUSED = {
    "subprocess.run(['true'])": "starts another process: subprocess.Popen",
    "os.system('true')": "starts another process: os.system",
    "os.fork()": "starts another process: os.fork",
    "os.execv('/bin/true', ['true'])": "starts another process: os.exec",
    "os.posix_spawn('/bin/true', ['true'], {})": "starts another process: os.posix_spawn",
    "multiprocessing.get_context('spawn').Process(target=print).start()":
        "starts another process: fork_exec",
    "os.kill(os.getppid(), 9)": "sends signals: os.kill",
    "socket.socket()": "opens a connection: socket.__new__",
    "socket.create_connection(('::1', 1))": "opens a connection: socket.getaddrinfo",
    "open('new.txt', 'w')": "writes files: open 'new.txt'",
    "open('mesh.txt', 'a')": "writes files: open 'mesh.txt'",
    "open('mesh.txt', 'r+b')": "writes files: open 'mesh.txt'",
    "os.open('new.txt', os.O_CREAT)": "writes files: open 'new.txt'",
    "pathlib.Path('new.txt').write_text('')": "writes files: open 'new.txt'",
    "numpy.save('new.npy', 1)": "writes files: open 'new.npy'",
    "numpy.memmap('mesh.txt')": "writes files: open 'mesh.txt'",
    "numpy.ones(3).tofile('new.bin')": "writes files: open 'new.bin'",
    "tempfile.TemporaryFile(dir='.')": "writes files: open ",
    "os.mkdir('new')": "writes files: os.mkdir",
    "os.remove('mesh.txt')": "writes files: os.remove",
    "os.rename('mesh.txt', 'other.txt')": "writes files: os.rename",
    "pathlib.Path('mesh.txt').replace('other.txt')": "writes files: os.rename",
    "os.symlink('mesh.txt', 'new')": "writes files: os.symlink",
    "os.link('mesh.txt', 'new')": "writes files: os.link",
    "os.chmod('mesh.txt', 0o777)": "writes files: os.chmod",
    "os.utime('mesh.txt')": "writes files: os.utime",
    "os.truncate('mesh.txt', 0)": "writes files: os.truncate",
    "os.mkfifo('new')": "writes files: os.mkfifo",
    "shutil.copy('mesh.txt', 'new.txt')": "writes files: ",
    "shutil.rmtree('inside')": "writes files: shutil.rmtree",
    "sqlite3.connect('new.db')": "writes files: sqlite3.connect",
    "resource.setrlimit(resource.RLIMIT_CPU, (9, 9))": "changes its limits: resource.setrlimit",
    "ctypes.CDLL('libc.so.6')": "calls libraries in C by their names: libc.so.6",
    "ctypes.CDLL(None).fork()": "calls libraries in C by their names: ctypes.dlsym",
    "open('build/x.npy')": "reads what the build writes: build/x.npy",
}
MODULES = (
    "ctypes, multiprocessing, numpy, os, pathlib, resource, shutil, socket, sqlite3, subprocess,"
    " tempfile"
)



def test_what_code_may_not_do_is_refused_and_not_done(folder):
    folder.write("mesh.txt", "1")
    folder.write("inside/a.txt", "1")
    attempts = "".join(
        f"try:\n    {call}\n    said.append('done')\nexcept PermissionError as error:\n"
        "    said.append(str(error))\n" for call in REFUSED
    )
    imports = f"import {MODULES}\nsaid = []\n"
    found = folder.run(f"{imports}{attempts}found['said'] = '\\n'.join(said).encode()\n")
    said = dict(zip(REFUSED, found["said"].decode().split("\n"), strict=True))
    wrong = {c: s for c, s in said.items() if not s.startswith(f"the program {REFUSED[c]}")}
    assert wrong == {}
    files = sorted(str(p.relative_to(folder.path)) for p in folder.path.rglob("*") if p.is_file())
    assert files == ["heat.py", "inside/a.txt", "mesh.txt", "program.yaml"]
    assert (folder.path / "mesh.txt").read_text() == "1"


def test_what_numpy_is_asked_for_is_not_refused(folder):
    """Its parts are loaded when they are first used, some with the help of C."""
    found = folder.run(
        "import numpy, numpy.ctypeslib\n"
        "numpy.random.default_rng(0).normal(size=3)\n"
        "values, _ = numpy.linalg.eigh(numpy.eye(3))\n"
        "first = numpy.fft.fft(numpy.ones(3))[0].real, numpy.polynomial.Polynomial([1, 2])(1)\n"
        "open('/dev/null', 'w').write('x')\n"
        "open(1, 'w', closefd=False).write('x')\n"
        "found['said'] = repr([float(x) for x in (*values, *first)]).encode()\n"
    )
    assert found == {"said": b"[1.0, 1.0, 1.0, 3.0, 3.0]"}


@pytest.mark.wide
def test_an_error_names_the_line_and_columns_and_the_last_that_was_printed(folder):
    folder.write("helper.py", "def halve(x):\n    return (x.a +\n        x.b) // 'é'.n; x\n")
    assert folder.error("for n in range(9):\n    print(n)\nx = 1; int('é' + 'five')\n") == (
        "heat.py:3:8: error: the program raises ValueError: invalid literal for int() with base "
        "10: 'éfive'\n"
        "  x = 1; int('é' + 'five')\n"
        "         ^^^^^^^^^^^^^^^^^\n"
        "hint: it printed last:\n  6\n  7\n  8\n"
    )
    assert folder.error("import helper\nhelper.halve(3)\n") == (
        "helper.py:2:13: error: the program raises AttributeError: 'int' object has no attribute "
        "'a'\n"
        "      return (x.a +\n"
        "              ^^^\n"
    )


ENDS = {
    "import sys\nsys.exit(3)\n":
        "heat.py:2:1: error: the program ends itself: sys.exit(3)\n  sys.exit(3)\n  ^^^^^^^^^^^\n"
        "hint: let it run to its end\n",
    "from urllib import request\nrequest.urlopen('http://[::1]:1')\n":
        "heat.py:2:1: error: the program opens a connection: socket.getaddrinfo\n"
        "  request.urlopen('http://[::1]:1')\n  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "hint: `with MACH_Compiler_Ignore():` has what only `python` runs\n",
    "import os\nos._exit(0)\n":
        "heat.py:1:1: error: the program gives no result: its process ends with code 0\n"
        "  import os\n  ^^^^^^^^^\n",
    "import os, signal\nsignal.raise_signal(signal.SIGTERM)\n":
        "heat.py:1:1: error: the program gives no result: its process is ended: Terminated\n"
        "  import os, signal\n  ^^^^^^^^^^^^^^^^^\n",
    "import ctypes\nctypes.string_at(0)\n":
        "heat.py:2:1: error: the program gives no result: its process is ended: Segmentation fault"
        "\n  ctypes.string_at(0)\n  ^^^^^^^^^^^^^^^^^^^\n",
    "def f(n):\n    return f(n + 1)\nf(0)\n":
        "heat.py:2:12: error: the program has more than 1000 calls in each other\n"
        "      return f(n + 1)\n             ^^^^^^^^\nhint: a loop, or a function that ends\n",
    "x = bytearray(5 << 30)\n":
        "heat.py:1:5: error: the program takes more than 4 GiB of memory, with Python and NumPy\n"
        "  x = bytearray(5 << 30)\n      ^^^^^^^^^^^^^^^^^^\n"
        "hint: a smaller field; or more, in program.yaml: `limits: {memory: 8589934592}`\n",
    "import no_such_package.part\n":
        "heat.py:1:1: error: the program imports no_such_package, which is not there\n"
        "  import no_such_package.part\n  ^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "hint: a module of its own lies beside it as a .py file, a package is installed with "
        "Lairmake: `pip install no_such_package`\n",
    "value = 1\nprint(valeu)\n":
        "heat.py:2:7: error: the program raises NameError: name 'valeu' is not defined\n"
        "  print(valeu)\n        ^^^^^\nhint: did you mean value?\n",
    "exec('1 / 0')\n":
        "heat.py:1:1: error: the program raises ZeroDivisionError: division by zero\n"
        "  exec('1 / 0')\n  ^^^^^^^^^^^^^\n",
    "a, b = ValueError(1), ValueError(2)\na.__context__, b.__context__ = b, a\nraise a\n":
        "heat.py:3:1: error: the program raises ValueError: 1\n  raise a\n  ^^^^^^^\n",
    "class E(Exception):\n    def __str__(self):\n        1 / 0\nraise E\n":
        "heat.py:4:1: error: the program raises E\n  raise E\n  ^^^^^^^\n",
    "import os\nfor n in range(3, 99):\n    try:\n        os.write(n, b'{\"told\": 1}')\n"
    "    except OSError:\n        pass\nos._exit(0)\n":
        "heat.py:1:1: error: the program gives no result: its process ends with code 0\n"
        "  import os\n  ^^^^^^^^^\n",
}


@pytest.mark.wide_after(3)
@pytest.mark.parametrize("source", ENDS, ids=range(len(ENDS)))
def test_whatever_ends_a_program_is_an_error_of_its_user(folder, source):
    assert folder.error(source) == ENDS[source]


def test_a_module_that_hides_one_of_python_is_refused(folder):
    """Python has it already when the program begins, and would never look for another one."""
    folder.write("numbers.py", "")
    assert folder.error("") == (
        "error: numbers.py has the name of a module that Python or NumPy needs\n"
        "hint: call it something else\n"
    )


def test_a_module_that_cannot_be_parsed_has_its_line(folder):
    folder.write("helper.py", "x = 1\ny = (2\n")
    assert folder.error("import helper\n") == (
        "helper.py:2:1: error: no Python: '(' was never closed\n  y = (2\n  ^^^^^^\n"
    )


def test_a_parameter_that_is_wrong_is_so_where_it_is_set(folder):
    folder.write("program.yaml", "program: heat.py\nparameters: {n: 3, m: x}\n")
    source = "from lairmake.stages.program.values.api import parameter\nparameter('m', 2)\n"
    assert folder.error(source) == (
        "program.yaml:2:23: error: parameter m=x: not of the type of its default, 2\n"
        "  parameters: {n: 3, m: x}\n                        ^\n"
    )


def test_a_message_is_read_only_if_it_is_whole():
    message = b"".join(pack({"a": [1]}, {"x": b"12", "y": b""}))
    assert unpack(message) == ({"a": [1]}, {"x": b"12", "y": b""})
    for wrong in (b"", message[:-1], message + b"3", b"[]\n", b'{"told": 1, "sizes": {"x": -1}}\n'):
        with pytest.raises(ValueError, match=r".*"):
            unpack(wrong)


def test_a_bug_of_ours_is_no_error_of_the_user(folder, monkeypatch):
    from lairmake.stages.program.values.forms import find_region
    from tests.program import started

    monkeypatch.setattr(started, "run_source", find_region)
    with pytest.raises(RuntimeError, match="TypeError"):
        folder.run("")
    assert not issubclass(RuntimeError, UserError)
