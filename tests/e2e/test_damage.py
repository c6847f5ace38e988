"""Files below .lairmake/ that are damaged at random: the next build gives what it gave before."""

import os
import random
import shutil

import pytest

pytestmark = pytest.mark.long


def damage(path, rng):
    """Damage a file in one of the ways in which disks, programs and people do."""
    content = bytearray(path.read_bytes())
    way = rng.choice(["bit", "end", "text", "folder", "pipe", "link", "gone"])
    if way == "bit" and content:
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    elif way == "end":
        del content[rng.randrange(len(content) + 1) :]
    elif way == "text":
        texts = [b"[" * 100_000, b"\0" * 5000, b'{"outputs":{}}', rng.randbytes(99)]
        content[:] = rng.choice(texts)
    else:
        path.unlink()
        if way == "folder":
            path.mkdir()
        elif way == "pipe":
            os.mkfifo(path)
        elif way == "link":
            path.symlink_to(rng.choice(["nowhere", path.name, "/etc/passwd", "/"]))
        return
    path.write_bytes(content)


@pytest.mark.parametrize("seed", range(25))
def test_after_any_damage_a_build_gives_what_it_gave(small, seed):
    rng = random.Random(seed)
    small.build()
    before = {name: small.read(name) for name in small.files()}
    found = sorted(p for p in (small.root / ".lairmake").rglob("*") if p.is_file())
    for path in rng.sample(found, rng.randint(1, len(found))):
        damage(path, rng)
    if seed % 2:
        shutil.rmtree(small.root / "cache")
        shutil.rmtree(small.root / "projects/a/build")
    for _ in range(2):
        run = small.run()
        assert run.code == 0, run.err
        assert all(line.startswith("warning: ") for line in run.err.splitlines()), run.err
        assert {name: small.read(name) for name in small.files()} == before
    assert small.run().err == ""
