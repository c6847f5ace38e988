"""What one stage writes and a later one refuses is our fault; what somebody edited is theirs."""

import pytest

from lairmake.stages import KERNEL, TILES
from lairmake.stages.diagnose import OurFault, Span, UserError, UserErrors
from lairmake.stages.kernel import emit
from lairmake.stages.layer import place
from lairmake.stages.make.core.action import build
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.core.stage import PLAIN, BuildOptions
from lairmake.stages.make.doit import session
from lairmake.stages.make.store.folders import file_of, parts_of
from tests.kernel.tiled import MATMUL, opened

KEPT = BuildOptions(keep_edits=True)


class Answer:
    """A process that built a part, as doit waits for it."""

    def __init__(self, stage, folder, how=PLAIN):
        self._asked = stage, folder, how

    def answer(self):
        return build(*self._asked)


@pytest.fixture
def part(tmp_path, monkeypatch):
    """The part of a kernel whose layer a stage of ours spoils: it sums to what is not there."""
    monkeypatch.chdir(tmp_path)
    whole = opened(tmp_path, MATMUL, "facts: []\n")
    right = emit.run

    def spoilt(inputs):
        written = right(inputs)
        return {n: t.replace("c[d0]", "q[d0]") if n.endswith(".lair") else t
                for n, t in written.items()}

    monkeypatch.setattr(emit, "run", spoilt)
    for stage in (KERNEL + TILES)[:-1]:
        build(stage, whole)
    (found,) = parts_of(open_folder(tmp_path))
    return found


def test_a_layer_that_a_stage_wrote_and_another_refuses_is_our_fault(part):
    with pytest.raises(OurFault) as caught:
        build("parse", part)
    assert str(caught.value) == """\
build/parts/c_0/matmul.lair:2:49: error: a fault of Lairmake: stage parse refuses what another\
 stage wrote for part c_0 of kernel.yaml: no statement defines c (and 1 more)
    float32 a[4][12], float32 b[12][6] -> float32 c[4][6]
                                                  ^
hint: nothing that you wrote is wrong: please report it to the authors of Lairmake, with the files\
 of this folder
"""


def test_doit_ends_with_an_error_and_not_with_a_failure(part):
    found = session.outcome(Answer("parse", part), "parse", part, None)
    assert isinstance(found, session.StageError)
    assert found.message.startswith("build/parts/c_0/matmul.lair:2:49: error: a fault of Lairmake")


def test_what_somebody_edited_on_the_way_is_no_fault_of_ours(part):
    tiles = part.asked_in.parent / "cache/tiles.yaml"
    tiles.write_text(f"{tiles.read_text('utf-8')}# looked at\n", encoding="utf-8")
    with pytest.raises((UserError, UserErrors)) as caught:
        build("parse", part, KEPT)
    assert not isinstance(caught.value, OurFault)
    said = str(caught.value).partition("\n")[0]
    assert said == "kernel.yaml:1:1: error: part c_0: no statement defines c"


def write_layer(path, monkeypatch):
    """Write a layer of one PE; returns its folder."""
    monkeypatch.chdir(path)
    (path / "f.lair").write_text(
        "lair f():\n  float16 x[4] -> float16 y[4]\n{\n  all (i) in (4)\n    y[i] += x[i]\n}\n",
        encoding="utf-8")
    (path / "layer.yaml").write_text(
        "target: '{ PE[1, 1] }'\nplacement: '{ f[i] -> PE[0, 0] }'\n", encoding="utf-8")
    return open_folder(path)


def test_a_text_of_the_same_folder_is_ours_until_somebody_edits_it(tmp_path, monkeypatch):
    folder = write_layer(tmp_path, monkeypatch)
    monkeypatch.setattr(place, "run", refuse)
    build("parse", folder)
    with pytest.raises(OurFault, match="stage place refuses what another stage wrote: it is wrong"):
        build("place", folder)
    text = file_of(folder, "lair.isl")
    text.write_text(f"{text.read_text('utf-8')}# looked at\n", encoding="utf-8")
    with pytest.raises(UserError) as caught:
        build("place", folder, KEPT)
    assert not isinstance(caught.value, OurFault)


@pytest.mark.parametrize(("error", "said"), [
    (KeyError("../x"), "there is no ../x"),
    (IndexError("list index out of range"), "what it says does not fit the other texts"),
])
def test_what_an_edit_has_a_stage_stumble_over_is_not_told_in_words_of_python(
    tmp_path, monkeypatch, error, said
):
    folder = write_layer(tmp_path, monkeypatch)
    build("parse", folder)
    text = file_of(folder, "lair.isl")
    text.write_text(f"{text.read_text('utf-8')}# looked at\n", encoding="utf-8")

    def stumble(inputs):
        raise error

    monkeypatch.setattr(place, "run", stumble)
    with pytest.raises(UserError) as caught:
        build("place", folder, KEPT)
    assert caught.value.message == f"edited by hand, and stage place fails: {said}"
    assert caught.value.hint == "undo the edit"


def refuse(inputs):
    """Refuse what another stage wrote."""
    raise UserError("it is wrong", Span(source=inputs.source("lair.isl"), start=0, end=1))


def test_what_a_user_wrote_is_theirs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.lair").write_text("lair f(): float16 x -> float16 y\n", encoding="utf-8")
    (tmp_path / "layer.yaml").write_text("target: '{ PE[1, 1] }'\n", encoding="utf-8")
    with pytest.raises((UserError, UserErrors)) as caught:
        build("parse", open_folder(tmp_path))
    assert not isinstance(caught.value, OurFault)
