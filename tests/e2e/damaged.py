"""Damage files of a workspace and build again: forked from a process that has loaded doit.

Arguments: a seed, how often, the kind of file to damage (`state`, `shared` or `built`) and a folder
outside of the workspace, that nothing may change. Prints what went wrong, a line for each.
"""

import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

from doit.doit_cmd import DoitMain

import stages.make.run  # noqa: F401

PATIENCE = 60
STATE = Path(".lairmake")
FOREIGN = "\0\x7f ../../../outside/planted"
PLACES = {"state": (STATE,), "shared": (Path("../shared"),), "built": (Path("cache"),)}


def truncate(rng, path, content):
    path.write_bytes(content[: rng.randrange(len(content) + 1)])


def flip(rng, path, content):
    content = content or b"\0"
    at = rng.randrange(len(content))
    path.write_bytes(content[:at] + bytes([content[at] ^ 1 << rng.randrange(8)]) + content[at + 1:])


def overwrite(rng, path, content):
    at = rng.randrange(len(content) or 1)
    path.write_bytes(content[:at] + rng.randbytes(rng.randrange(1, 5000)))


def splice(rng, path, content):
    at = rng.randrange(len(content) or 1)
    path.write_bytes(content[:at] + FOREIGN.encode() + content[at:])


def nest(rng, path, content):
    path.write_bytes(b'{"outputs":' + b"[" * 200_000)


def mistype(rng, path, content):
    path.write_bytes(rng.choice([b"", b"null", b"[]", b'{"outputs": 3}', b"\0" * 4096, b"{}"]))


def exchange(rng, path, content):
    other = rng.choice(sorted(p for p in path.parent.parent.rglob("*") if p.is_file()))
    path.write_bytes(other.read_bytes())


def remove(rng, path, content):
    path.unlink()


def make_folder(rng, path, content):
    path.unlink()
    (path / "within").mkdir(parents=True)


def make_fifo(rng, path, content):
    path.unlink()
    os.mkfifo(path)


def link_away(rng, path, content):
    path.unlink()
    path.symlink_to(rng.choice([path.name, "/dev/zero", OUTSIDE / "kept", OUTSIDE / "none"]))


def link_folder(rng, path, content):
    """Put a link where a folder was; those at the top are the user's."""
    folder = path.parent
    if folder in (STATE, Path("../shared"), Path("cache")):
        return
    shutil.rmtree(folder)
    folder.symlink_to(rng.choice([folder.name, OUTSIDE, OUTSIDE / "none"]))


DAMAGES = (
    truncate, flip, flip, flip, overwrite, splice, nest, mistype, exchange, remove, make_folder,
    make_fifo, link_away, link_folder,
)


def build(errors):
    """Build in a process of its own; return its exit code, None where it does not end."""
    process = os.fork()
    if process == 0:
        sink = os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for stream in (1, 2):
            os.dup2(sink, stream)
        os._exit(DoitMain().run([]))
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return None


def contents(*folders):
    """Return every file below some folders; what is no file has its kind instead."""
    found = {}
    for path in sorted(p for folder in folders for p in [folder, *folder.rglob("*")]):
        if path.is_symlink() or path.is_dir() or not path.is_file():
            found[str(path)] = "link" if path.is_symlink() else path.is_dir()
        else:
            found[str(path)] = path.read_bytes()
    return found


def choose(rng, places):
    """Return a file to damage."""
    files = sorted(p for place in places for p in place.rglob("*"))
    return rng.choice([p for p in files if p.is_file() and not p.is_symlink()])


def clear_way(path, said):
    """Remove a link, or a folder, that a build refused to write to, if it said so in a line."""
    if f"{path.parent} is a symbolic link" in said:
        path.parent.unlink()
    elif f"error: cannot write {path}: Is a directory" in said:
        shutil.rmtree(path)
    else:
        return False
    return "Traceback" not in said


def main(seed, times, kind, errors):
    """Damage a file, build, compare; and again from what that build left."""
    rng = random.Random(seed)
    written = (Path("cache"), Path("projects/a/build"))
    right, outside = contents(*written), contents(OUTSIDE)
    for at in range(times):
        path, damage = choose(rng, PLACES[kind]), rng.choice(DAMAGES)
        damage(rng, path, path.read_bytes())
        for _ in range(rng.choice([0, 0, 1, 5]) if kind != "built" else 0):
            if any(place.exists() for place in PLACES[kind]):
                other = choose(rng, PLACES[kind])
                rng.choice(DAMAGES)(rng, other, other.read_bytes())
        name = f"{at}: {damage.__name__} {path}"
        if kind != "built":
            shutil.rmtree(rng.choice(written), ignore_errors=True)
        if kind == "shared":
            shutil.rmtree(STATE)
        code, said = build(errors), errors.read_text(encoding="utf-8", errors="replace")
        if code == 1 and kind == "built" and clear_way(path, said):
            code = build(errors)
        if code != 0 or "Traceback" in said:
            print(f"{name}: ended with {code}: {said[-2000:]}")
        if contents(*written) != right:
            print(f"{name}: wrote something else: {said[-500:]}")
        if contents(OUTSIDE) != outside:
            print(f"{name}: changed what lies outside")


if __name__ == "__main__":
    OUTSIDE = Path(sys.argv[4]).resolve()
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], OUTSIDE.parent / "said")
