"""Processes of `python -m`, forked from one that has imported what all of them import.

Started as a program, this imports the modules that it is told and waits at a socket. Each process
that it forks then gets words, a folder, an environment and outputs, and ends as a program does, but
that Python does not tidy up.
"""

import atexit
import contextlib
import functools
import gc
import json
import os
import runpy
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from importlib import import_module, metadata

READ_AT_START = ("LANG", "LC_", "PYTHON")
"""Variables that Python reads when it starts: a process that has others is not forked."""


def can_fork(words, env):
    """Tell whether a forked process is what Python with these words and variables would be."""
    return words[0] == "-m" and not any(name.startswith(READ_AT_START) for name in env)


def run_forked(words, cwd, env, path, imported):
    """Run `python -m` with words in a folder, PYTHONPATH being `path`.

    Returns the exit code and both outputs.
    """
    told = {"words": words[1:], "cwd": str(cwd), "env": {**os.environ, **env}}
    ours, theirs = socket.socketpair()
    with ours, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        with theirs:
            fds = [theirs.fileno(), out.fileno(), err.fileno()]
            socket.send_fds(_forker(path, imported), [b"!"], fds)
        with ours.makefile("rw") as talk:
            print(json.dumps(told), file=talk, flush=True)
            code = int(talk.readline())
        return code, _text_of(out), _text_of(err)


@functools.cache
def _forker(path, imported):
    """Return the socket of a process that forks others, and ends with this one."""
    ours, theirs = socket.socketpair()
    with theirs:
        subprocess.Popen(
            [sys.executable, __file__, str(theirs.fileno()), *imported], stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()], env={**os.environ, "PYTHONPATH": str(path)},
        )
    return ours


def _text_of(file):
    file.seek(0)
    return file.read().decode()


def _serve(forker):
    """Fork for each message; return, in such a process, what it is told."""
    while True:
        message, fds, *_ = socket.recv_fds(forker, 1, 3)
        if not message:
            sys.exit()
        if os.fork() == 0:
            forker.close()
            return _watched(*fds)
        for each in fds:
            os.close(each)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _watched(talk, out, err):
    """Fork the process that is asked for, and tell how it ended."""
    with socket.socket(fileno=talk) as connection, connection.makefile("rw") as file:
        told = json.loads(file.readline())
        pid = os.fork()
        if pid:
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            print(code, file=file, flush=True)
            os._exit(0)
    for number, each in enumerate((out, err), 1):
        os.dup2(each, number)
        os.close(each)
    return told


def _become(cwd, env, words):
    """Let this process be as if it were started with words, in a folder and an environment."""
    os.chdir(cwd)
    os.environ.update(env, PYTHONPATH=os.environ["PYTHONPATH"])
    for name in os.environ.keys() - env.keys() - {"PYTHONPATH"}:
        del os.environ[name]
    sys.path[0] = cwd
    sys.argv[:] = words


def _run(module):
    """Run a module as a program, and return its exit code."""
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def main(number, *imported):
    sys.argv[0] = "-m"
    # Each process would read thrice what is installed, which stays as it is while tests run.
    metadata.entry_points = metadata.entry_points().select
    for name in imported:
        import_module(name)
    gc.freeze()
    told = _serve(socket.socket(fileno=int(number)))
    _become(**told)
    code = _run(told["words"][0])
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


if __name__ == "__main__":
    main(*sys.argv[1:])
