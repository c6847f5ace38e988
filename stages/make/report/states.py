"""What the stages of a layer wrote: now, at a revision of git, or after an earlier build."""

from __future__ import annotations

import io
import os
import re
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.make.core.action import SAFELY, build, current_key, is_up_to_date
from lairmake.stages.make.core.declaration import (
    is_figures,
    read_figures_text,
    values_of_texts,
    values_read,
)
from lairmake.stages.make.core.layers import is_buildable, lone_folder, network_of, open_folder
from lairmake.stages.make.core.pipeline import (
    files_written,
    needed,
    orders,
    tasks_of_folders,
    writer_of,
)
from lairmake.stages.make.core.stage import BuildOptions
from lairmake.stages.make.store.folders import (
    LAYER,
    PROGRAM,
    LayerFolder,
    file_of,
    files_in,
    folders_of,
    further_file,
    mark_of,
    parts_of,
)

WITHOUT_GIT = "`--build 1` compares with the last build, and `--with` with another layer"
YAML_FILE = re.compile(rb"[\w./-]+\.yaml\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """A copy of parts of the repository at `top` as it is in a commit.

    It lies in the folder `place`, at the same path below that.
    """

    top: Path
    commit: str
    place: Path

    def of(self, path: Path) -> Path:
        """Return where the copy of a path lies."""
        return self.place / path.relative_to("/")

    def before(self, path: Path) -> Path:
        """Return what a path in the copy is a copy of."""
        return Path("/") / path.resolve().relative_to(self.place)

    def extract(self, paths: Sequence[Path]) -> None:
        """Copy the files and folders that the commit has of these."""
        names = [str(p.relative_to(self.top)) for p in paths if p.is_relative_to(self.top)]
        listed = _git(self.top, "ls-tree", "-z", "--name-only", self.commit, "--", *names)
        there = [name.decode() for name in listed.split(b"\0") if name and names]
        if there:
            content = _git(self.top, "archive", "--format=tar", self.commit, "--", *there)
            with tarfile.open(fileobj=io.BytesIO(content)) as archive:
                archive.extraction_filter = getattr(tarfile, "data_filter", None)
                archive.extractall(self.of(self.top))


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What the stages of a layer wrote, by the names that they use, and how a person calls it.

    `sources` are what a person wrote and they read, as far as it is known: of YAML files values.
    `texts` are the files that have these, where they are there; `notes` say what is not as one
    would expect.
    """

    label: str
    files: dict[str, bytes]
    sources: dict[str, bytes] = field(default_factory=dict)
    texts: dict[str, bytes] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def state_now(folder: LayerFolder, label: str = "now") -> State:
    """Return what is on disk, edited by hand or not."""
    files = _files(folder)
    missing = [s for s in folder.stages if not any(n in files for n in files_written(folder, s))]
    notes = [f"{label}: {', '.join(missing)} not built"] if missing else []
    old = first_out_of_date(folder, [s for s in folder.stages if s not in missing])
    notes += [f"{label}: {old} may be out of date"] if old else []
    texts = _texts(folder)
    return State(
        label=label, files=files, sources=_sources(folder, texts), texts=texts, notes=tuple(notes)
    )


def first_out_of_date(folder: LayerFolder, stages: Sequence[str]) -> str | None:
    """Return the first of some stages that is not known to be up to date; None if all are."""
    return next((stage for stage in stages if not is_up_to_date(stage, folder)), None)


def _files(folder: LayerFolder) -> dict[str, bytes]:
    names = [name for stage in folder.stages for name in files_written(folder, stage)]
    found = {name: file_of(folder, name) for name in names}
    return {name: path.read_bytes() for name, path in found.items() if path.is_file()}


def _sources(folder: LayerFolder, texts: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return what stages read of what a person wrote."""
    figures = _figures(folder) if folder.asked_in is None else {}
    return {name: _read(folder, name, text) for name, text in texts.items()} | figures


def _figures(folder: LayerFolder) -> dict[str, bytes]:
    """Return the figures of the machines that stages read."""
    further = {name for stage in folder.stages for name in current_key(stage, folder).further}
    found = {name: read_figures_text(folder, name) for name in further if is_figures(name)}
    return {name: text for name, text in found.items() if text is not None}


def _read(folder: LayerFolder, name: str, text: bytes) -> bytes:
    """Return what stages read of a file with some text: all of it, or values."""
    values = list(values_read(folder, name, text))
    return values_of_texts(values) if values else text


def _texts(folder: LayerFolder) -> dict[str, bytes]:
    """Return what a person wrote for a folder itself; nothing where a stage wrote that."""
    if folder.asked_in is not None:
        return {}
    keys = [current_key(stage, folder) for stage in folder.stages]
    found = {n: file_of(folder, n) for key in keys for n in key.reads if is_source(folder, n)}
    further = {name for key in keys for name in key.further if not is_figures(name)}
    found |= {name: further_file(folder, name) for name in further}
    return {name: path.read_bytes() for name, path in found.items() if path.is_file()}


def is_source(folder: LayerFolder, name: str) -> bool:
    """Return whether a person wrote what a stage reads, for this folder and no part of it."""
    others = {*(part for part, _ in folder.parts), *(each.name for each in folder.crossings)}
    is_other = name in others or name.partition("/")[0] in others
    return not is_other and writer_of(folder, name) is None


def state_at(folder: LayerFolder, revision: str) -> State:
    """Return what the stages wrote at a revision of git.

    What is committed is taken as it is. What is not, the stages of now make from what is committed.

    Raises UserError where there is no git repository.
    """
    top = Path(git(folder.path, "rev-parse", "--show-toplevel").strip()).resolve()
    commit = find_commit(folder.path, revision)
    if commit is None:
        return State(label=revision, files={}, notes=(f"git has no revision {revision}",))
    label = revision if commit.startswith(revision) else f"{revision} ({commit[:7]})"
    with tempfile.TemporaryDirectory() as temporary:
        copy = Copy(top=top, commit=commit, place=Path(temporary).resolve())
        whole = _extract(copy, network_of(folder))
        old = next((f for f in folders_of(whole) if f.name == folder.name), whole)
        former = None if _is_there(old) else _former_place(copy, folder)
        if former is not None:
            whole = old = _extract(copy, lone_folder(former))
        if not _is_there(old):
            return State(label=label, files={}, notes=(f"not in {revision}",))
        renamed = (f"{folder.name} was {old.name} in {revision}",) if former is not None else ()
        notes = _complete(whole, old, revision, f"{copy.of(top)}/")
        files, texts = _files(old), _texts(old)
        sources = _sources(old, texts)
        return State(
            label=label, files=files, sources=sources, texts=texts, notes=(*renamed, *notes)
        )


def _former_place(copy: Copy, folder: LayerFolder) -> Path | None:
    """Return where the commit has the folder that was moved to that of a layer, if git sees it."""
    name = mark_of(files_in(folder.path)) or LAYER
    moved = str((folder.path / name).relative_to(copy.top))
    index = {"GIT_INDEX_FILE": str(copy.place / "index")}
    _git(copy.top, "read-tree", copy.commit, **index)
    _git(copy.top, "add", "--force", "--intent-to-add", "--", moved, **index)
    asked = ("diff", "--find-renames", "--diff-filter=R", "--name-status", "-z", copy.commit)
    found = _git(copy.top, *asked, "--", f":(top,glob)**/{name}", **index).decode().split("\0")
    pairs = {new: old for old, new in zip(found[1::3], found[2::3], strict=False)}
    return (copy.top / pairs[moved]).parent if moved in pairs else None


def find_commit(folder: Path, revision: str) -> str | None:
    """Return the commit that git knows by this name; None for none."""
    try:
        found = git(folder, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    except UserError:
        return None
    return found.strip()


def git(folder: Path, *arguments: str) -> str:
    """Return what git prints. Raises UserError where it fails."""
    return _git(folder, *arguments).decode()


def _git(folder: Path, *arguments: str, **environment: str) -> bytes:
    try:
        ended = subprocess.run(
            ["git", *SAFELY, *arguments], cwd=folder, capture_output=True, check=True,
            env={**os.environ, **environment},
        )
    except FileNotFoundError as error:
        raise UserError("there is no git here", hint=WITHOUT_GIT) from error
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode("utf-8", "replace").strip().split("\n")[0]
        said = said.removeprefix("fatal: ")
        raise UserError(said, hint=WITHOUT_GIT) from error
    return ended.stdout


def _is_there(folder: LayerFolder) -> bool:
    return is_buildable(folder.path)


def _extract(copy: Copy, folder: LayerFolder) -> LayerFolder:
    """Write the files of a layer or network at a revision, and return its folder as it was then."""
    copy.extract([folder.path, folder.build, folder.cache])
    old = open_folder(copy.of(folder.path))
    copy.extract([copy.before(part.path) for part in parts_of(old)])
    for place in (old, *parts_of(old)):
        for asking in (place.path / name for name in (LAYER, PROGRAM)):
            named = YAML_FILE.findall(asking.read_bytes()) if asking.is_file() else []
            copy.extract([copy.before(place.path / name.decode()) for name in named])
    return _at_home(old, folder.home)


def _at_home(folder: LayerFolder, home: Path) -> LayerFolder:
    """Return a layer folder with another store."""
    parts = tuple((name, _at_home(part, home)) for name, part in folder.parts)
    return replace(folder, home=home, parts=parts)


def _complete(
    whole: LayerFolder, folder: LayerFolder, revision: str, place: str
) -> tuple[str, ...]:
    """Run the stages of which not every file is there; return why one of them could not.

    Committed texts may be older than the stages that read them, so that these may fail anyhow.
    """
    tasks = tasks_of_folders(folders_of(whole))
    for task in needed(orders(tasks), [f"{folder.name}:{stage}" for stage in folder.stages]):
        owner, stage = tasks[task]
        names = files_written(owner, stage)
        if names and all(file_of(owner, name).is_file() for name in names):
            continue
        try:
            build(stage, owner, BuildOptions(of_revision=True))
        except (UserError, UserErrors) as error:
            return (str(error).replace(place, f"{revision}:").rstrip(),)
        except Exception as error:
            return (f"{task} fails on what {revision} holds: {error!r}",)
    return ()
