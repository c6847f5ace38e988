"""What anybody may have written is not believed: entries, names, links, and what is no file."""

import hashlib
import json
import os

import pytest

from lairmake.stages.diagnose import UserError
from lairmake.stages.make.core.action import compare
from lairmake.stages.make.core.inputs import FolderInputs
from lairmake.stages.make.core.key import action_key
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.core.outputs import remove, write_outputs
from lairmake.stages.make.store.files import read_file
from lairmake.stages.make.store.folders import is_inside, matches, names_of
from lairmake.stages.make.store.shelf import FolderShelf
from lairmake.stages.make.store.state import Memo
from lairmake.stages.make.store.store import (
    ResultStore,
    StoreEntry,
    bytes_of,
    bytes_of_further,
    record_of,
)

pytestmark = pytest.mark.usefixtures("said")
KEY = "ab" + "0" * 62
DIGEST = hashlib.sha256(b"one\n").hexdigest()
FIELDS = {
    "stage": "parse", "outputs": {"lair.isl": DIGEST}, "reads": {"a.lair": DIGEST, "b": None},
    "further": ["mine.yaml"], "code": DIGEST, "seconds": 1.5, "when": 2.5,
}
ENTRY = StoreEntry(**FIELDS)


@pytest.fixture
def layer(tmp_path):
    """A layer in a workspace beside a folder of somebody else's."""
    folder = tmp_path / "space/projects/a"
    folder.mkdir(parents=True)
    (folder / "layer.yaml").write_text("machine: ../mine.yaml\n", encoding="utf-8")
    (tmp_path / "others").mkdir()
    (tmp_path / "others/pe_mine.c").write_text("mine", encoding="utf-8")
    return open_folder(folder)


def sealed(text, key=KEY):
    """A file that says of itself that it is whole, as anybody can write it."""
    seal = hashlib.sha256(f"{key}\n{text}".encode()).hexdigest()
    return f"{seal}\n{text}".encode()


@pytest.mark.parametrize("name", [
    "", "/abs/path", "../a", "a/../../b", "a//b", "./a", "a/.", "a\0b", "\ud800", "a" * 5000, 3,
])
def test_a_name_that_leads_out_of_a_folder_is_not_inside(name):
    assert not is_inside(name)


def test_a_name_that_is_inside_stays_one():
    assert is_inside("build/parts/a_0/inputs/x y.npy")


@pytest.mark.parametrize(("name", "pattern", "expected"), [
    ("lair.isl", "lair.isl", True),
    ("build/simd/pe_a.c", "build/simd/pe_*.c", True),
    ("build/simd/pe_a/b.c", "build/simd/pe_*.c", False),
    ("build/simd/pe_/../../x.c", "build/simd/pe_*.c", False),
    ("build/parts/../x/layer.yaml", "build/parts/*/*/layer.yaml", False),
    ("build/parts/../layer.yaml", "build/parts/*/layer.yaml", False),
    ("a/lair.isl", "*.isl", False),
])
def test_a_declared_name_matches_no_path_of_its_own(name, pattern, expected):
    assert matches(name, pattern) == expected


def test_an_entry_is_what_was_written():
    assert record_of(bytes_of(ENTRY, KEY), KEY) == ENTRY
    assert record_of(bytes_of_further(["mine.yaml"], KEY), KEY) == ("mine.yaml",)


def test_no_byte_of_an_entry_may_be_another_one():
    content = bytes_of(ENTRY, KEY)
    for at in range(len(content)):
        damaged = bytearray(content)
        damaged[at] ^= 4
        assert record_of(bytes(damaged), KEY) is None, at
        assert record_of(content[:at], KEY) is None, at


def test_an_entry_is_none_under_another_key():
    assert record_of(bytes_of(ENTRY, KEY), DIGEST) is None


@pytest.mark.parametrize("wrong", [
    {"outputs": {"lair.isl": "../" * 20 + "1234"}}, {"outputs": {"lair.isl": DIGEST[:-1] + "G"}},
    {"outputs": {"../x": DIGEST}}, {"outputs": {"/x": DIGEST}}, {"outputs": {"a\0": DIGEST}},
    {"outputs": {"x": None}}, {"outputs": [["x", DIGEST]]}, {"outputs": "x"}, {"outputs": None},
    {"reads": {"x": "../x"}}, {"reads": {"x": 3}}, {"reads": []}, {"reads": {"\ud800": DIGEST}},
    {"further": "mine.yaml"}, {"further": [3]}, {"further": ["a\0"]}, {"further": None},
    {"code": ""}, {"code": 3}, {"stage": 3}, {"stage": "../x"}, {"stage": ["parse"]},
    {"seconds": "1"}, {"seconds": float("nan")}, {"when": float("inf")}, {"when": 10**400},
    {"when": True}, {"when": None}, {"more": 1},
])
def test_a_field_that_is_not_what_it_must_be_makes_no_entry(wrong):
    assert record_of(sealed(json.dumps({**FIELDS, **wrong})), KEY) is None


@pytest.mark.parametrize("text", [
    "", "{", "[]", "3", "null", "{}", '{"outputs":{}}', "[" * 100_000, '{"a":' * 100_000,
    '{"further":' + "[" * 100_000, "\0", "\ud800".encode("utf-8", "surrogatepass").decode("latin1"),
    "9" * 10_000,
])
def test_a_text_that_is_no_entry_is_none(text):
    assert record_of(sealed(text), KEY) is None


def test_a_content_goes_by_a_digest_only(tmp_path):
    (tmp_path / "mine").write_text("mine", encoding="utf-8")
    shelf = FolderShelf(tmp_path / ".lairmake" / "store")
    for call in (shelf.read, shelf.size, shelf.remove, shelf.path):
        with pytest.raises(ValueError, match="is no sha256"):
            call("blobs", "../../mine")
    assert (tmp_path / "mine").exists()


@pytest.mark.parametrize(("stage", "outputs"), [
    ("render", {"../../dodo.py": DIGEST}), ("render", {"/etc/x": DIGEST}), ("place", {}),
    ("render", {"build/layout.yaml": DIGEST, "build/simd/pe_/../../dodo.c": DIGEST}),
    ("render", {"build/layout.yaml": DIGEST, "more.isl": DIGEST}), ("render", {}),
])
def test_an_entry_that_names_what_its_stage_does_not_declare_is_refused(
    tmp_path, said, stage, outputs
):
    shared = FolderShelf(tmp_path / "shared")
    shared.write("entries", KEY, sealed(json.dumps({**FIELDS, "stage": stage, "outputs": outputs})))
    store = ResultStore(FolderShelf(tmp_path / ".lairmake" / "store"), shared)
    assert store.lookup(KEY, "render", ("build/simd/pe_*.c", "build/layout.yaml")) is None
    assert said == [f"the shared store holds entries/{KEY} damaged"]
    assert list(tmp_path.rglob(KEY)) == []


@pytest.mark.parametrize("kind", ["folder", "link", "pipe"])
def test_what_is_no_file_of_a_store_is_thrown_away_and_not_followed(tmp_path, said, kind):
    outside = tmp_path / "mine"
    outside.write_bytes(b"one\n")
    shelf = FolderShelf(tmp_path / ".lairmake" / "store")
    path = shelf.path("blobs", DIGEST)
    path.parent.mkdir(parents=True)
    stand(path, kind, outside)
    assert shelf.read("blobs", DIGEST) is None
    assert said == [f"{path} is damaged, and made anew"]
    shelf.write("blobs", DIGEST, b"one\n")
    assert not path.is_symlink()
    assert path.read_bytes() == b"one\n" == outside.read_bytes()


def stand(path, kind, target):
    """Let a folder, a link or a pipe stand where a file belongs."""
    if kind == "folder":
        (path / "inside").mkdir(parents=True)
    elif kind == "link":
        path.symlink_to(target)
    else:
        os.mkfifo(path)


@pytest.mark.parametrize("at", ["blobs", "blobs/{}", "new"])
def test_no_link_between_folders_of_a_store_is_followed(tmp_path, said, at):
    shelf, others = FolderShelf(tmp_path / ".lairmake" / "store"), tmp_path / "others"
    link = shelf.folder / at.format(DIGEST[:2])
    (others / DIGEST[:2]).mkdir(parents=True)
    link.parent.mkdir(parents=True)
    link.symlink_to(others)
    assert shelf.read("blobs", DIGEST) is None
    shelf.write("blobs", DIGEST, b"one\n")
    assert shelf.read("blobs", DIGEST) == b"one\n"
    assert said == [f"{link} is damaged, and made anew"]
    assert [path for path in others.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(("link", "name"), [
    ("cache/a", "cache/a/lair.isl"), ("cache", "cache/a/lair.isl"),
    ("projects/a/build", "projects/a/build/simd/pe_x.c"),
    ("projects/a/build/simd", "projects/a/build/simd/pe_x.c"),
])
def test_nothing_is_written_through_a_link(layer, tmp_path, link, name):
    place = tmp_path / "space" / link
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(tmp_path / "others")
    with pytest.raises(UserError) as raised:
        write_outputs(layer, ("lair.isl", "build/simd/pe_*.c"), outputs_at(name))
    assert str(raised.value) == (
        f"error: cannot write {tmp_path}/space/{name}: {place} is a symbolic link\n"
        "hint: what stages write goes into the layer's own folders: remove the link\n"
    )
    assert os.listdir(tmp_path / "others") == ["pe_mine.c"]


def outputs_at(name):
    """What a stage writes, of which one file lies there."""
    return {name.removeprefix("cache/a/").removeprefix("projects/a/"): b"one\n"}


def test_what_a_link_leads_to_is_neither_listed_nor_removed(layer, tmp_path):
    layer.build.mkdir()
    (layer.build / "simd").symlink_to(tmp_path / "others")
    assert names_of(layer, "build/simd/pe_*.c") == []
    remove(layer, "build/simd/pe_mine.c")
    write_outputs(layer, ("build/simd/pe_*.c", "lair.isl"), {"lair.isl": b"one\n"})
    assert os.listdir(tmp_path / "others") == ["pe_mine.c"]


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_what_is_no_file_of_a_stage_is_wrong_and_replaced(layer, tmp_path, kind):
    path, outside = layer.cache / "lair.isl", tmp_path / "others/pe_mine.c"
    path.parent.mkdir(parents=True)
    outside.write_bytes(b"one\n")
    stand(path, kind, outside)
    assert compare("parse", layer, {"lair.isl": DIGEST}).wrong == ["lair.isl"]
    write_outputs(layer, ("lair.isl",), {"lair.isl": b"two\n"})
    assert (path.is_symlink(), path.read_bytes()) == (False, b"two\n")
    assert outside.read_bytes() == b"one\n"


def test_a_layer_behind_a_link_of_the_user_is_written_to(layer, tmp_path):
    (tmp_path / "link").symlink_to(layer.path)
    write_outputs(open_folder(tmp_path / "link"), ("lair.isl",), {"lair.isl": b"one\n"})
    assert (layer.cache / "lair.isl").read_bytes() == b"one\n"


def test_a_pipe_is_never_waited_for(layer, tmp_path):
    os.mkfifo(layer.path / "a.lair")
    assert Memo(tmp_path).digest(layer.path / "a.lair") is None
    with pytest.raises(OSError, match="it is no file"):
        read_file(layer.path / "a.lair")
    with pytest.raises(UserError, match=r"a\.lair: it is no file"):
        FolderInputs(layer, ("*.lair",)).content("a.lair")


def test_what_else_an_action_reads_is_only_what_a_user_names(layer, tmp_path):
    """Names of files that a store adds: those that layer.yaml has count, others do not."""
    store, memo = ResultStore(FolderShelf(tmp_path / ".lairmake" / "store")), Memo(tmp_path)
    (layer.path.parent / "mine.yaml").write_text("lanes: 8\n", encoding="utf-8")
    primary = action_key("parse", layer, store, memo).primary
    names = ["../mine.yaml", "../../../others/pe_mine.c", "/etc/passwd", "other.yaml"]
    store.shelf.write("entries", primary, bytes_of_further(names, primary))
    assert list(action_key("parse", layer, store, memo).further) == ["../mine.yaml"]


@pytest.mark.parametrize("name", ["lock", "new", "blobs", "entries"])
def test_in_a_folder_that_a_user_names_nothing_else_is_removed(tmp_path, name):
    (tmp_path / "theirs" / name).parent.mkdir()
    (tmp_path / "theirs" / name).write_bytes(b"not ours")
    if name == "lock":
        (tmp_path / "theirs/lock").unlink()
        (tmp_path / "theirs/lock/within").mkdir(parents=True)
    shelf = FolderShelf(tmp_path / "theirs")
    kind = name if name in ("blobs", "entries") else "blobs"
    with pytest.raises(OSError), shelf.lock("a"):
        shelf.write(kind, "0" * 64, b"content")
    assert (tmp_path / "theirs" / name).exists()
