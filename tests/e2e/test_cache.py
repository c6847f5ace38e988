"""The command cache: statistics of the store, damage, and what is removed."""

import json
import os
import re
import subprocess
import sys

import pytest

ALL = ["a:parse", "a:place", "a:render", "a:simulate"]


def store(space, kind):
    return sorted(p for p in (space.root / ".lairmake/store" / kind).rglob("*") if p.is_file())


def test_stats_count_what_there_is_and_how_often_it_was_of_use(small):
    small.build()
    (small.root / "cache/a/lair.isl").unlink()
    small.hits()
    out = small.run("cache", "stats").out
    sizes = {kind: sum(p.stat().st_size for p in store(small, kind)) for kind in
             ("entries", "blobs")}
    blobs = len(store(small, "blobs"))
    assert out == f"""{small.root}/.lairmake/store
  entries        4  {sizes['entries']:>12} bytes
  blobs    {blobs:>7}  {sizes['blobs']:>12} bytes
  edits          0             0 bytes
  of the tasks in the log 4 ran and 1 did not, 20% from the store
"""
    data = json.loads(small.run("cache", "stats", "--json").out)
    assert (data["entries"]["count"], data["hits"], data["ran"]) == (4, 1, 4)


def test_verify_finds_damage_and_the_next_build_makes_it_anew(small):
    small.build()
    run = small.run("cache", "verify")
    assert (run.code, run.out, run.err) == (0, "everything is intact\n", "")
    (blob,) = [p for p in store(small, "blobs") if p.read_text() == "one\ntwo\n"]
    (entry,) = [p for p in store(small, "entries") if '"stage":"place"' in p.read_text()]
    blob.write_text("one\n")
    run = small.run("cache", "verify", cwd="projects/a")
    assert (run.code, run.out) == (1, (
        f"blobs/{blob.name} is damaged: removed\n"
        f"entries/{entry.name} names blobs/{blob.name}, which is gone: removed\n"
    ))
    assert small.run("cache", "verify").code == 0
    small.write("projects/a/a.lair", "One\nTwo\n")
    small.build()
    assert entry.exists()


@pytest.mark.parametrize("word", ["verify", "stats", "gc"])
def test_a_store_that_is_no_folder_is_said(small, word):
    small.write(".lairmake/store", "")
    run = small.run("cache", word)
    place = small.root / ".lairmake/store"
    assert (run.code, run.out) == (1, "")
    assert run.err in (
        f"error: {place}: Not a directory\n", f"error: {place}: File exists\n"
    )


def test_verify_repairs_one_store_from_the_other(small):
    small.write("lairmake.yaml", "store: ../shared\n")
    small.build()
    shared = small.root.parent / "shared"
    (own,) = [p for p in store(small, "blobs") if p.read_text() == "one\ntwo\n"]
    theirs = shared / "blobs" / own.name[:2] / own.name
    own.write_text("damaged")
    run = small.run("cache", "verify")
    said = f"blobs/{own.name} is damaged: repaired from the other store\n"
    assert (run.code, run.out) == (1, said)
    theirs.unlink()
    theirs.write_text("damaged")
    assert small.run("cache", "verify").code == 0
    run = small.run("cache", "verify", "--shared")
    assert (run.code, run.out) == (1, said)
    assert own.read_text() == theirs.read_text() == "one\ntwo\n"


def test_gc_leaves_what_was_used_last(small):
    first = small.read("projects/a/a.lair")
    small.build()
    for entry in store(small, "entries"):
        os.utime(entry, (1, 1))
    size = sum(p.stat().st_size for p in (*store(small, "entries"), *store(small, "blobs")))
    small.write("projects/a/a.lair", "Other\n")
    small.build()
    run = small.run("cache", "gc", "--max-size", str(size))
    assert re.fullmatch(r"removed 4 entries, \d blobs, 0 edits: \d+ bytes\n\d+ bytes are left\n",
                        run.out)
    assert small.run("cache", "verify").out == "everything is intact\n"
    (small.root / "projects/a/build/layout.yaml").unlink()
    assert small.hits() == ["a:render"]
    small.write("projects/a/a.lair", first)
    assert small.build() == ALL


def test_what_was_restored_counts_as_used(small):
    first = small.read("projects/a/a.lair")
    small.build()
    small.write("projects/a/a.lair", "Other\n")
    small.build()
    for entry in store(small, "entries"):
        os.utime(entry, (1, 1))
    size = sum(p.stat().st_size for p in (*store(small, "entries"), *store(small, "blobs")))
    small.write("projects/a/a.lair", first)
    assert small.hits() == ALL
    small.run("cache", "gc", "--max-size", str(size * 2 // 3))
    small.run("clean")
    assert small.hits() == ["a:render", "a:simulate"]


@pytest.mark.wide
def test_gc_beside_builds_breaks_nothing(small):
    """A store is emptied again and again while a layer builds: no build fails, or is wrong."""
    small.build()
    before = {name: small.read(name) for name in small.files()}
    env = {**os.environ, "PYTHONPATH": str(small.modules)}
    for _ in range(3):
        sweeps = [
            subprocess.Popen([sys.executable, "-m", "doit", "cache", "gc", "--max-size", "0"],
                             cwd=small.root, env=env, stdout=subprocess.DEVNULL)
            for _ in range(2)
        ]
        run = small.run("-a", SLOW="0.05")
        assert [sweep.wait() for sweep in sweeps] == [0, 0]
        assert (run.code, run.ran, run.err) == (0, ALL, "")
        assert small.run("cache", "verify").out == "everything is intact\n"
        assert {name: small.read(name) for name in small.files()} == before


@pytest.mark.parametrize(("words", "said"), [
    ((), "say stats, verify or gc"),
    (("clear",), "say stats, verify or gc"),
    (("gc", "--max-size", "much"), "much is no size: write 500M or 2G"),
    (("gc", "--shared"), "there is no second store: lairmake.yaml names one under `store:`"),
])
def test_wrong_words_are_refused(small, words, said):
    run = small.run("cache", *words)
    assert (run.code, run.out, run.err) == (3, "", f"ERROR: cache: {said}\n")


def test_nothing_is_removed_from_a_read_only_store(small):
    small.write("lairmake.yaml", "store: {url: ../shared, read_only: true}\n")
    run = small.run("cache", "gc", "--shared")
    shared = small.root.parent / "shared"
    assert (run.code, run.err) == (3, f"ERROR: cache: nothing is removed from {shared}\n")
