"""Damage files of a workspace and build again: forked from a process that has loaded doit.

Arguments: a seed, how often, the kind of file to damage (`state`, `shared` or `built`) and a folder
outside of the workspace, that nothing may change. Prints what went wrong, a line for each.
"""

import os
import random
import re
import shutil
import signal
import sys
import time
from pathlib import Path

from doit.doit_cmd import DoitMain

from lairmake.stages.make.store.files import remove_whatever
from tests.property.mutator import damage_often

PATIENCE, FILES = 60, 20
FOREIGN = "\0\x7f ../../../outside/planted"
STATE = Path(".lairmake")
IN_THE_WAY = {
    0: re.compile(r"warning: the shared store is left out: ()(\S+): something else is there\n"),
    1: re.compile(r"error: cannot write (?:\S+: (\S+) is a symbolic link|(\S+): Is a directory)"),
}
"""What lies in the way of a build and is not ours to remove, by its exit code."""
PLACES = {"state": (STATE,), "shared": (Path("../shared"),), "built": (Path("cache"),)}


def mutate(rng, path, content):
    path.write_bytes(damage_often(path.name, content, rng))


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
    *[mutate] * 5, splice, nest, mistype, exchange, remove, make_folder, make_fifo, link_away,
    link_folder,
)


def build(errors):
    """Build in a process of its own; return its exit code and output; None for no end."""
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
            said = errors.read_text(encoding="utf-8", errors="replace")
            return os.waitstatus_to_exitcode(status), said
        time.sleep(0.005)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return None, errors.read_text(encoding="utf-8", errors="replace")


def contents(*folders):
    """Return every file below some folders; what is no file has its kind instead."""
    found = {}
    for path in sorted(p for folder in folders for p in [folder, *folder.rglob("*")]):
        if path.is_symlink() or path.is_dir() or not path.is_file():
            found[str(path)] = "link" if path.is_symlink() else path.is_dir()
        else:
            found[str(path)] = path.read_bytes()
    return found


def damage_one(rng, places):
    """Damage a file, if any is left; return what was done to it."""
    files = sorted(p for place in places for p in place.rglob("*"))
    if not (files := [p for p in files if p.is_file() and not p.is_symlink()]):
        return "nothing left"
    path, damage = rng.choice(files), rng.choice(DAMAGES)
    damage(rng, path, path.read_bytes())
    return f"{damage.__name__} {path}"


def build_from(kind, errors):
    """Build, from a shared store alone if that is what was damaged; return as `build` does."""
    if kind == "shared":
        shutil.rmtree(STATE)
    return build(errors)


def clear_way(code, said):
    """Remove what a build found in its way and left there, as it says in a line; return if it did.

    What stages wrote it must write, and fails; a shared store it leaves out.
    """
    found = IN_THE_WAY[code].search(said) if code in IN_THE_WAY else None
    if found is None or "Traceback" in said:
        return False
    remove_whatever(Path(found[1] or found[2]))
    return True


def main(seed, times, kind, errors):
    """Damage a file, build, compare; and again from what that build left."""
    rng = random.Random(seed)
    written = (Path("cache"), Path("projects/a/build"))
    right, outside = contents(*written), contents(OUTSIDE)
    for at in range(times):
        more = rng.choice([0, 0, 1, 5]) if kind != "built" else 0
        done = [damage_one(rng, PLACES[kind]) for _ in range(1 + more)]
        name = f"{at}: {', '.join(done)}"
        if kind != "built":
            shutil.rmtree(rng.choice(written), ignore_errors=True)
        code, said = build_from(kind, errors)
        for _ in range(FILES):
            if kind == "state" or not clear_way(code, said):
                break
            code, said = build_from(kind, errors)
        if code != 0 or "Traceback" in said:
            print(f"{name}: ended with {code}: {said[-2000:]}")
        if contents(*written) != right:
            print(f"{name}: wrote something else: {said[-500:]}")
        if contents(OUTSIDE) != outside:
            print(f"{name}: changed what lies outside")


if __name__ == "__main__":
    OUTSIDE = Path(sys.argv[4]).resolve()
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], OUTSIDE.parent / "said")
