"""The folders of combinations: what they hold, and where what they name lies."""

import os
import shutil

import pytest

from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.core.sweep import (
    combine,
    holds_isl,
    read_axes,
    read_text,
    write_folder,
    yaml_of,
)
from tests.e2e.conftest import ROOT

NETWORK = "parts: {first: , other: ../fc}\nrun: parts\n"


@pytest.fixture
def fc(tmp_path):
    """A copy of fc in a workspace."""
    folder = tmp_path / "projects/fc"
    shutil.copytree(ROOT / "projects/fc", folder, ignore=shutil.ignore_patterns("build", "__*"))
    return folder


def written(path, *words):
    """Return the folders of what words set."""
    folder = open_folder(path)
    axes = read_axes(words, lambda keys: holds_isl(folder, keys),
                     lambda name, place: read_text(folder, name, place))
    return [write_folder(folder, each) for each in combine(folder, axes)]


def names(folder):
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def test_a_combination_has_what_the_folder_has_and_no_more(fc):
    for name in ("inputs/x.npy", "data/more.txt", ".hidden", "build/out.txt", "other/layer.yaml"):
        (fc / name).parent.mkdir(exist_ok=True)
        (fc / name).write_text(name)
    (fc / "large.npy").write_bytes(bytes(2**20))
    (folder,) = written(fc, "machine=wse3")
    assert folder.name == "fc/build/sweep/machine-wse3"
    assert folder.home == fc.parents[1]
    assert folder.cache == fc.parents[1] / "cache" / folder.name
    assert names(folder.path) == [
        "data/more.txt", "fc.lair", "inputs/x.npy", "large.npy", "layer.yaml"]
    assert os.path.samefile(fc / "large.npy", folder.path / "large.npy")
    assert not os.path.samefile(fc / "fc.lair", folder.path / "fc.lair")
    (folder.path / "build").mkdir()
    (folder.path / "build/kept.txt").write_text("built")
    shutil.rmtree(fc / "inputs")
    (fc / "fc.lair").write_text((fc / "fc.lair").read_text() + "# more\n")
    assert written(fc, "machine=wse3") == [folder]
    assert "inputs/x.npy" not in names(folder.path)
    assert "build/kept.txt" in names(folder.path)
    assert (folder.path / "fc.lair").read_text().endswith("# more\n")


def test_what_is_as_given_is_the_same_to_the_byte_and_is_not_written_again(fc):
    given = (fc / "layer.yaml").read_bytes().replace(b"\n", b"\r\n")
    (fc / "layer.yaml").write_bytes(given)
    same, other = written(fc, "machine=wse2,wse3")
    assert (same.path / "layer.yaml").read_bytes() == given
    before = (other.path / "layer.yaml").stat()
    written(fc, "machine=wse2,wse3")
    assert (other.path / "layer.yaml").stat() == before


def test_folders_are_named_by_values_in_any_order(fc):
    words = "sizes.M=32", "placement=(i, j),search"
    found = [each.path.name for each in written(fc, *words)]
    assert found == [each.path.name for each in written(fc, *reversed(words))]
    assert found == ["placement-ij+90a9a73d_sizes.M-32", "placement-search_sizes.M-32"]
    (long,) = written(fc, *(f"probes.{letter * 30}={{}}" for letter in "abcdef"))
    assert len(long.path.name) < 180


def test_paths_out_of_the_folder_start_from_that_of_the_combination(fc):
    shutil.copy(ROOT / "stages/machine/profiles/wse2.yaml", fc.parent / "mine.yaml")
    shutil.copy(ROOT / "stages/machine/profiles/wse2.yaml", fc / "own.yaml")
    found = written(fc, "machine=../mine.yaml,own.yaml,{profile: ../mine.yaml}")
    said = [(each.path / "layer.yaml").read_text().split("machine: ")[1].split("\n")[0]
            for each in found]
    assert said == [
        "../../../../mine.yaml", "own.yaml", "{profile: ../../../../mine.yaml}"]
    net = fc.parent / "net"
    shutil.copytree(fc, net / "first", ignore=shutil.ignore_patterns("build"))
    (net / "network.yaml").write_text(NETWORK)
    (folder,) = written(net, "run=whole")
    assert yaml_of(folder) == "network.yaml"
    assert "other: ../../../../fc" in (folder.path / "network.yaml").read_text()
    assert [part.path for _, part in folder.parts] == [folder.path / "first", fc]


def test_a_link_out_of_the_folder_is_no_part_of_it(fc, tmp_path):
    (tmp_path / "secret").write_text("secret")
    (fc / "more.lair").symlink_to(tmp_path / "secret")
    with pytest.raises(UserError, match=r"more\.lair is a link out of its folder"):
        written(fc, "machine=wse3")


@pytest.mark.parametrize(("word", "text"), [
    ("sizs.M=32", "1: error: unknown key sizs\n  sizs.M=32\n  ^^^^^^\nhint: did you mean sizes?\n"),
    ("sizes.K=1", "9: error: ff has no size K\n  sizes.K=1\n          ^\n"
     "hint: size parameters of ff: M, N\n"),
    ("target.x=3", "1: error: target must be a text in isl syntax\n  target.x=3\n  ^^^^^^^^\n"),
    ("types.T=float17", "9: error: unknown type float17\n  types.T=float17\n          ^^^^^^^\n"
     "hint: types: float16, float32, int16, int32\n"),
    ("tensors.z.sparse=true", "1: error: unknown tensor z\n  tensors.z.sparse=true\n"
     "  ^^^^^^^^^^^^^^^^\nhint: tensors of ff: W, x, y\n"),
    ("machine=wse2,wse9", "14: error: unknown profile wse9\n  machine=wse2,wse9\n"
     "               ^^^^\nhint: profiles: ideal, paper, systolic, wse1, wse2, wse3\n"),
    ("machine.lanes=4,-1", "17: error: profile wse2: lanes of float16 is -1, not a positive whole "
     "number\n  machine.lanes=4,-1\n                  ^^\nhint: wse2 has 1 to 4 for float16, "
     "1 to 2 for float32, 1 to 4 for int16, 1 to 2 for int32\n"),
    ("placement=six.isl", "11: error: six.isl does not exist\n  placement=six.isl\n"
     "            ^^^^^^^\nhint: a path starts from the swept folder, or from where you are\n"),
])
def test_a_value_that_cannot_be_is_refused_where_it_was_typed(fc, word, text):
    with pytest.raises((UserError, UserErrors)) as raised:
        written(fc, word)
    assert str(raised.value) == f"--set:1:{text}"
    assert not (fc / "build").exists()


def test_too_many_combinations_are_refused(fc):
    seeds = ",".join(map(str, range(32)))
    with pytest.raises(UserError) as raised:
        written(fc, f"data.seed={seeds}", f"sizes.N={seeds}")
    assert str(raised.value) == (
        "error: 1024 combinations, at most 1000 are built\nhint: set fewer values\n")
