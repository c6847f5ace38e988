"""Folders that stages write: parts, tiles, slots."""

from __future__ import annotations

import functools
import hashlib
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lairmake.stages import (
    LAYER_PICTURES,
    NETWORK as NETWORK_STAGES,
    NETWORK_PICTURES,
    PIPELINE,
    SEARCHED,
    SLOTS,
    TRIED,
    WHOLE,
    WHOLE_PICTURES,
)
from lairmake.stages.diagnose import UserError, UserErrors, headline, source_of
from lairmake.stages.make.core.declaration import declaration
from lairmake.stages.make.core.inputs import with_receiving
from lairmake.stages.make.core.key import code_digest, digest_further, is_named
from lairmake.stages.make.store.folders import (
    CHOSEN,
    GRAPHS,
    KERNEL,
    LAYER,
    MLIR,
    NETWORK,
    PROGRAM,
    LayerFolder,
    PartCrossing,
    file_of,
    files_in,
    is_inside,
    is_name,
    is_pattern,
    is_word,
    matches,
    names_of,
    shown_path,
)
from lairmake.stages.make.store.state import memo_of, state_of
from lairmake.stages.make.store.state_folder import state_folder
from lairmake.stages.make.store.user_files import content_of

if TYPE_CHECKING:
    from lairmake.stages.lair.specialise import Layer
    from lairmake.stages.make.core.inputs import FolderInputs
    from lairmake.stages.mapping.network_yaml import GraphMapping

# --- Plans of parts, kept in the state of the workspace -------------------------------------------
#
# A plan follows from files of a folder before any stage ran. A build with nothing to do reads
# neither YAML nor MLIR for it.

KIND = "plans"
_MAY_RUN, _MAY_BEGIN = [True], [True]


class UnknownPlanError(Exception):
    """The plan of a folder is not kept, and may not be made now."""


def let_plan(may_run: bool, may_begin: bool = True) -> None:
    """Note whether this process may run stages, and whether it may begin plans.

    A process that may not run stages makes no plan that takes long. A process that may not begin
    plans makes none for a folder of which none is kept: `list` in a fresh clone needs neither
    models of YAML nor isl, nor the keys of stages.
    """
    _MAY_RUN[:], _MAY_BEGIN[:] = [may_run], [may_begin]


def kept_plan(
    folder: LayerFolder, names: Iterable[str], stages: Sequence[str],
    is_plan: Callable[[Any], bool], make: Callable[[], Any], is_long: bool = False,
    kind: str = KIND, further: MutableMapping[str, str | None] | None = None,
) -> Any:
    """Return the plan that `make` makes, or the kept one where code and files are the same.

    The code is that of `stages`. A file of `names` is the same if these stages read the same of it.
    `make` notes in `further` the digests of files that it reads beyond these, by the names that
    they have for stages: weights beside a graph, and figures of a profile. `kind` tells apart
    several plans of one folder.

    A kept plan is believed if it `is_plan`. A plan that `is_long` in the making is not made where
    no stage may run: the last one is returned. Raises what `make` raises, UserError for a file of
    `names` that cannot be read, and UnknownPlanError where there is no plan, and none may be made
    or begun.
    """
    state = state_of(state_folder(folder.home))
    kept = state.get(kind, folder.name)
    if kept is None and not _MAY_BEGIN[0]:
        raise UnknownPlanError
    contents = {name: content_of(folder.path / name) for name in names}
    digest = _digest(contents, stages)
    is_known = _is_whole(kept, is_plan) and _are_same(folder, kept[3], stages)
    if is_known and kept[0] == digest:
        return kept[2]
    read = _digest({n: _values(folder, n, text, stages) for n, text in contents.items()}, stages)
    if is_known and kept[1] == read:
        state.keep(kind, {folder.name: (digest, read, *kept[2:])})
        return kept[2]
    if is_long and not _MAY_RUN[0]:
        return _last(kept, is_plan)
    plan = make()
    state.keep(kind, {folder.name: (digest, read, plan, dict(further or {}))})
    return plan


def run_stages(
    folder: LayerFolder, stages: Iterable[str], further: MutableMapping[str, str | None]
) -> dict[str, bytes]:
    """Run some stages, each on what those before it wrote, and return what they wrote.

    Nothing is kept. `further` gets the digests of what they read beyond what they declare. Raises
    what they raise.
    """
    from lairmake.stages.make.core.faults import perform_in
    from lairmake.stages.make.core.inputs import FolderInputs

    written: dict[str, bytes] = {}
    for stage in stages:
        inputs = FolderInputs(folder, declaration(stage).inputs, written)
        written |= perform_in(folder, stage, inputs)
        further.update(inputs.further)
    return written


def why_unread(error: Exception) -> str:
    """Return why it is not known which parts a folder has."""
    is_unknown = isinstance(error, UnknownPlanError)
    return "a build finds out which these are" if is_unknown else headline(error)


def _last(kept: Any, is_plan: Callable[[Any], bool]) -> Any:
    """Return a plan that was kept for other files or other code. Raises UnknownPlanError."""
    if _is_whole(kept, is_plan):
        return kept[2]
    raise UnknownPlanError


def _is_whole(kept: Any, is_plan: Callable[[Any], bool]) -> bool:
    """Return whether what is kept is believed: two digests, a plan, and digests of further files.
    """
    is_list = isinstance(kept, list) and len(kept) == 4
    return is_list and is_plan(kept[2]) and isinstance(kept[3], dict)


def _are_same(
    folder: LayerFolder, further: Mapping[str, str | None], stages: Sequence[str]
) -> bool:
    """Return whether further files of stages are as they were, all of them such as a user names."""
    memo, reading = memo_of(state_folder(folder.home)), replace(folder, stages=tuple(stages))
    return all(
        is_named(reading, name) and digest_further(reading, name, memo) == digest
        for name, digest in further.items()
    )


def _values(folder: LayerFolder, name: str, content: bytes, stages: Sequence[str]) -> bytes:
    """Return what stages read of a file: all of it where one of them does, and where it is not
    valid."""
    from lairmake.stages.make.core.declaration import values_read

    if any(_is_read_whole(name, stage) for stage in stages):
        return content
    only = replace(folder, stages=tuple(stages), analyses=())
    return b"\0".join(values_read(only, name, content)) or content


def _is_read_whole(name: str, stage: str) -> bool:
    declared = declaration(stage)
    is_read = any(matches(name, each) for each in declared.reads)
    return is_read and declared.values_of(name) is None


def _digest(contents: Mapping[str, bytes], stages: Sequence[str]) -> str:
    known = hashlib.sha256(" ".join(map(code_digest, stages)).encode())
    for name, content in contents.items():
        known.update(f"{name}\0{len(content)}\0".encode() + content)
    return known.hexdigest()

# --- Slots of layers, as folders in the cache -----------------------------------------------------
#
# A layer has slots if its layer.yaml leaves something open. In each slot one candidate goes through
# the stages that say what it costs. What is refused there fails no build: a text that says why
# stands in the place of all that would follow.

LAIR = "lair.isl"
CANDIDATES = "candidates.yaml"
GIVEN = re.compile(rb"^placement:\s*(?:[|>][-+]?\s*)?[\"']?\s*\{", re.MULTILINE)
OPEN = re.compile(rb"^search\b|\b(?:arrives|leaves)[\"']?\s*:\s*[^\s\"'{|>]", re.MULTILINE)


def with_slots(folder: LayerFolder) -> LayerFolder:
    """Return a layer folder, with slots if its layer.yaml leaves something open."""
    return open_slots(folder) if leaves_open(folder) else folder


def open_slots(folder: LayerFolder) -> LayerFolder:
    """Return a layer folder with the stages of a search, and its slots."""
    slots = tuple((name, _slot(folder, name)) for name in SLOTS)
    return replace(folder, stages=SEARCHED, parts=slots, is_searched=True)


def _slot(folder: LayerFolder, name: str) -> LayerFolder:
    """Return a slot: what a user wrote is that of the layer, what is written lies in its cache."""
    crossings = (
        PartCrossing(name=LAIR, file=file_of(folder, LAIR), after=(f"{folder.name}:parse",)),
        PartCrossing(
            name=CHOSEN, file=folder.cache / name / CHOSEN, after=(f"{folder.name}:choose",)
        ),
    )
    return LayerFolder(
        name=f"{folder.name}/{name}", path=folder.path, build=folder.build / name,
        cache=folder.cache / name, home=folder.home, stages=TRIED, analyses=(),
        crossings=(*folder.crossings, *crossings), is_searched=True, is_slot=True,
    )


def old_slots(folder: LayerFolder) -> list[str]:
    """Return the files of an earlier search, for a layer that leaves nothing open any more.

    Edited files are not among them, nor are files of a layer that is called like a slot.
    """
    from lairmake.stages.make.store.state import memo_of
    from lairmake.stages.make.store.store import store_of

    if not file_of(folder, CANDIDATES).is_file():
        return []
    names = [name for stage in set(SEARCHED) - set(PIPELINE) for name in declaration(stage).writes]
    tried = [name for stage in TRIED for name in declaration(stage).writes]
    names += [found for slot in SLOTS for name in tried for found in _in_slot(folder, slot, name)]
    layers = {slot for slot in SLOTS if (folder.path / slot).exists()}
    memo, store = memo_of(state_folder(folder.home)), store_of(folder.home)
    digests = {
        name: memo.digest(file_of(folder, name)) for name in names
        if not layers.intersection(name.split("/"))
    }
    return sorted(name for name, digest in digests.items() if digest and store.has_blob(digest))


def _in_slot(folder: LayerFolder, slot: str, name: str) -> list[str]:
    """Return the files of a slot that a name, or a pattern, stands for there.

    What is built lies in `build/slot1/`, all else in the cache.
    """
    head, _, rest = name.partition("/")
    inside = f"build/{slot}/{rest}" if head == "build" else f"{slot}/{name}"
    return names_of(folder, inside) if is_pattern(inside) else [inside]


def leaves_open(folder: LayerFolder) -> bool:
    """Return whether layer.yaml leaves open where instances run, or where tensors arrive or leave.

    Return False for a layer.yaml that is wrong: a stage says what is wrong with it.
    """
    try:
        content = content_of(folder.path / LAYER)
    except UserError:
        return False
    if GIVEN.search(content) and not OPEN.search(content):
        return False  # nearly every layer, without reading YAML
    try:
        found = kept_plan(folder, [LAYER], ("parse",), _is_flag, lambda: _is_open(folder, content))
    except UnknownPlanError:
        return _is_open(folder, content)
    return bool(found)


def _is_flag(data: Any) -> bool:
    return isinstance(data, bool)


def _is_open(folder: LayerFolder, content: bytes) -> bool:
    from lairmake.stages.mapping.layer_yaml import read_mapping

    try:
        return read_mapping(source_of(shown_path(folder.path / LAYER), content)).is_open
    except (UserError, UserErrors):
        return False

# --- Written parts of kernels and graphs, as layer folders ----------------------------------------
#
# A stage writes these folders in `build/`: the parts of a kernel, or of a network that is the graph
# of a framework.

Plan = Mapping[str, Sequence[Any]]
"""By the name of each part: the names of the files that are written for it; the part and tensor
that each other input is; whether its layer.yaml leaves something open; the path of the user's
folder for it, if there is one; and, by further inputs, the parts and tensors of which each is made
by maps. A part comes after those whose results it takes."""


def with_written_parts(
    folder: LayerFolder, plan: Plan, stages: tuple[str, ...], writer: str, asked_in: Path
) -> LayerFolder:
    """Return a folder with its stages, and the parts that the stage `writer` writes for it.

    `asked_in` is the file in which a user asks for them.
    """
    parts: dict[str, LayerFolder] = {}
    for name, (files, takes, is_open, path, moved) in plan.items():
        part = _part(folder, name, asked_in)
        after = (f"{folder.name}:{writer}",)
        written = (PartCrossing(name=f, file=part.path / f, after=after) for f in files)
        taken = (_crossing(tensor, parts[other], own) for tensor, (other, own) in takes.items())
        part = replace(part, crossings=(*written, *taken))
        if path:
            part = with_slots(replace(part, path=(folder.path / path).resolve(), asked_in=None))
        part = open_slots(part) if is_open else part
        given = {
            tensor: [_crossing(tensor, parts[other], own) for other, own in sources]
            for tensor, sources in moved.items()
        }
        parts[name] = with_receiving(part, *after, given)
    return replace(folder, stages=stages, parts=tuple(parts.items()))


def _part(whole: LayerFolder, name: str, asked_in: Path) -> LayerFolder:
    """Return the layer folder of a part, whether there is one of this name or not."""
    path = whole.build / "parts" / name
    return LayerFolder(
        name=f"{whole.name}/{name}", path=path, build=path / "build", cache=whole.cache / name,
        home=whole.home, analyses=LAYER_PICTURES, asked_in=asked_in,
    )


def _crossing(tensor: str, source: LayerFolder, output: str) -> PartCrossing:
    """Return the input of a part that is a result of another."""
    file = file_of(source, f"build/outputs/{output}.npy")
    return PartCrossing(
        name=f"inputs/{tensor}.npy", file=file, after=(f"{source.name}:simulate",)
    )


def old_names(whole: LayerFolder) -> list[str]:
    """Return the files that stages wrote for parts which the whole no longer has.

    They go by their names in the whole. Edited files are not among them.
    """
    old = set(files_in(whole.build / "parts")) - set(dict(whole.parts))
    names = [name for part in sorted(old) for name in _names_of_part(whole, part)]
    return [name for name in names if _is_written(whole, file_of(whole, name))]


def names_of_parts(whole: LayerFolder) -> list[str]:
    """Return the files in `build/` that stages wrote for parts, whether these are there or not."""
    from lairmake.stages.make.core.declaration import declaration

    there = sorted(files_in(whole.build / "parts"))
    patterns = [pattern for stage in whole.stages for pattern in declaration(stage).writes]
    names = [name for part in there for name in _names_of_part(whole, part)]
    names += [name for pattern in patterns for name in names_of(whole, pattern)]
    return [name for name in names if name.startswith("build/")]


def _names_of_part(whole: LayerFolder, name: str) -> Iterator[str]:
    from lairmake.stages import RECEIVES, SEARCHED, TRIED
    from lairmake.stages.make.core.declaration import declaration

    part = open_slots(_part(whole, name, whole.path))
    patterns = [pattern for stage in SEARCHED + RECEIVES for pattern in declaration(stage).writes]
    patterns += [f"*/{pattern}" for stage in TRIED for pattern in declaration(stage).writes]
    for pattern in patterns:
        for file in names_of(part, pattern):
            within = file_of(part, file)
            if within.is_relative_to(part.path):
                yield f"build/parts/{name}/{within.relative_to(part.path).as_posix()}"
            elif within.is_file() and not (whole.path / name).exists():
                yield f"{name}/{file}"


def _is_written(whole: LayerFolder, path: Path) -> bool:
    """Return whether a file holds what a stage once wrote."""
    from lairmake.stages.make.store.state import memo_of
    from lairmake.stages.make.store.store import store_of

    digest = memo_of(state_folder(whole.home)).digest(path)
    return digest is not None and store_of(whole.home).has_blob(digest)


def is_plan(data: Any) -> bool:
    """Return whether kept data is a plan, with names that lead nowhere else; None is a plan."""
    if not isinstance(data, dict):
        return data is None
    if any(len(each) != 5 for each in data.values()):
        return False
    files = [name for written, *_ in data.values() for name in written]
    taken = [(tensor, *of) for _, takes, *_ in data.values() for tensor, of in takes.items()]
    made = [(t, *of) for *_, moved in data.values() for t, every in moved.items() for of in every]
    words = [*data, *(word for each in (*taken, *made) for word in each)]
    paths = [path for *_, path, _ in data.values() if path]
    return all(map(is_word, words)) and all(map(is_inside, files)) and all(map(is_name, paths))

# --- Parts of the graph of a framework ------------------------------------------------------------

def open_graph(folder: LayerFolder) -> LayerFolder:
    """Return the folder of a graph with the parts that it is split into.

    A wrong graph has no parts, and is `unread`: the stages of a build say what is wrong, with a
    traceback of a bug. A graph that was never built is `unread`, too, where no stage may run.
    """
    from lairmake.stages import WHOLE, WHOLE_PICTURES

    stages = before_parts(folder).stages
    try:
        if _read_whole(folder):
            stages = (*stages[:-1], *WHOLE, *stages[-1:])
            folder = replace(folder, analyses=WHOLE_PICTURES)
        plan = read_graph_plan(folder)
    except Exception as error:  # a stage fails with it again
        return replace(folder, stages=stages, unread=why_unread(error))
    return with_written_parts(folder, plan, stages, "supply", folder.path / NETWORK)


def before_parts(folder: LayerFolder) -> LayerFolder:
    """Return the folder of a graph without its parts: for stages that come before all of them."""
    from lairmake.stages import GRAPH, GRAPH_PARTS

    return replace(folder, stages=GRAPH + GRAPH_PARTS)


def read_graph_plan(folder: LayerFolder) -> Plan:
    """Return the plan of the parts of a network from a graph.

    Raises any Exception where something is wrong: UserError, or another one for a bug.
    """
    from lairmake.stages import GRAPH, GRAPH_PARTS

    names = sorted(n for n in files_in(folder.path) if n == NETWORK or n.endswith(GRAPHS))
    further: dict[str, str | None] = {}
    found: Plan = kept_plan(
        folder,
        names,
        GRAPH + GRAPH_PARTS,
        is_plan,
        functools.partial(_plan_graph, folder, further),
        is_long=True,
        further=further,
    )
    return found


def _read_whole(folder: LayerFolder) -> bool:
    """Return whether all parts run on one fabric, too; no stage runs to find that out.

    Raises UserErrors for a network.yaml that is wrong.
    """
    from lairmake.stages import GRAPH_PARTS

    path = folder.path / NETWORK
    if not path.is_file():
        return False

    def read() -> bool:
        from lairmake.stages.mapping.network_yaml import load_graph

        return load_graph([source_of(shown_path(path), content_of(path))]).is_whole

    return bool(kept_plan(folder, [NETWORK], GRAPH_PARTS, _is_flag, read, kind="whole"))


def _plan_graph(folder: LayerFolder, further: dict[str, str | None]) -> Plan:
    """Run the stages up to the one that says which parts there are, and keep only that.

    Raises UserError where something is wrong.
    """
    from lairmake.stages.make.core.inputs import FolderInputs

    written = run_stages(folder, ("extract", "split"), further)
    return _graph_parts(FolderInputs(folder, (*written, NETWORK), written))


def _graph_parts(inputs: FolderInputs) -> Plan:
    """Return the files of each part, from parts.yaml and network.yaml."""
    from lairmake.stages.mapping.network_yaml import load_graph

    given = load_graph(map(inputs.source, inputs.names(NETWORK)))
    return {
        name: _graph_part(name, each, given) for name, each in inputs.yaml("parts.yaml").items()
    }


def _graph_part(name: str, described: Mapping[str, Any], given: GraphMapping) -> Sequence[Any]:
    """Return what a plan says of a part; for a folder of the user's only inputs are written."""
    from lairmake.stages.mapping.layer_yaml import read_mapping
    from lairmake.stages.network.parts.part import (
        find_chained,
        is_result,
        list_given,
        write_part_layer,
    )

    moved = {
        tensor: [end.split(".") for end in sources if is_result(end)]
        for tensor, sources in find_chained(described).items()
    }
    values = [f"inputs/{tensor}.npy" for tensor in described["inputs"] if tensor not in moved]
    values += [file for file, _ in list_given(described)]
    folder = given.folder_of(name)
    if folder is not None:
        return values, {}, False, folder, moved
    text = write_part_layer(described, name, given)
    is_open = read_mapping(source_of(LAYER, text.encode())).is_open
    return ["part.lair", LAYER, *values], {}, is_open, "", moved

# --- Parts of the result of a kernel --------------------------------------------------------------

def open_kernel(folder: LayerFolder) -> LayerFolder:
    """Return a kernel folder with the parts of its result, if kernel.yaml asks for some.

    A wrong kernel has no parts, and is `unread`: the stages of a build say what is wrong, with a
    traceback of a bug.
    """
    from lairmake.stages import KERNEL as KERNEL_STAGES, TILES

    try:
        plan = read_kernel_plan(folder)
    except Exception as error:  # a stage fails with it again
        return replace(folder, stages=KERNEL_STAGES + TILES, unread=why_unread(error))
    if plan is None:
        return folder
    return with_written_parts(folder, plan, KERNEL_STAGES + TILES, "emit", folder.path / KERNEL)


def read_kernel_plan(folder: LayerFolder) -> Plan | None:
    """Return the parts that kernel.yaml asks for; None where it asks for none.

    Raises any Exception where something is wrong: UserError, or another one for a bug.
    """
    names = sorted(n for n in files_in(folder.path) if n == KERNEL or n.endswith(MLIR))
    if KERNEL not in names:
        return None
    from lairmake.stages import KERNEL as KERNEL_STAGES, TILES

    further: dict[str, str | None] = {}
    found: Plan | None = kept_plan(
        folder,
        names,
        KERNEL_STAGES + TILES,
        is_plan,
        functools.partial(_plan_kernel, folder, further),
        further=further,
    )
    return found


def _plan_kernel(folder: LayerFolder, further: dict[str, str | None]) -> Plan | None:
    """Run the stages up to the one that writes parts, and keep only what those are called.

    Returns None where kernel.yaml asks for none. Raises UserError where something is wrong.
    """
    from lairmake.stages import KERNEL as KERNEL_STAGES, TILES
    from lairmake.stages.make.core.inputs import FolderInputs
    from lairmake.stages.mapping.kernel_yaml import load_kernel

    inputs = FolderInputs(folder, (KERNEL,))
    if not load_kernel([inputs.source(KERNEL)]).has_parts:
        return None
    stages = KERNEL_STAGES + TILES
    written = run_stages(folder, stages[: stages.index("emit")], further)
    return _kernel_parts(FolderInputs(folder, tuple(written), written))


def _kernel_parts(inputs: FolderInputs) -> Plan:
    """Return the files of each part, and what it takes from others, from tiles.yaml."""
    from lairmake.stages.mapping.layer_yaml import read_mapping
    from lairmake.stages.parts.tiling import list_placed_tiles, plan_pasting

    tiles = inputs.yaml("tiles.yaml")
    texts = {tile.name: tile.region.get("layer", "") for tile in list_placed_tiles(tiles)}
    return {
        name: (files, takes, read_mapping(source_of(LAYER, texts[name].encode())).is_open, "", {})
        for name, (files, takes) in
        plan_pasting(inputs.yaml("operations.yaml")["kernel"], tiles).items()
    }

# --- Reports that each build draws ----------------------------------------------------------------
#
# The YAML file of such a folder says `report: true`.

PAGE = "build/report.html"
KEY = "report"
FILES = {
    "report": LAYER, "report_network": NETWORK, "report_kernel": KERNEL, "report_program": PROGRAM,
}
"""The file that says so, by the stage that draws."""
REPORTS = "reports"
"""Kind of what is kept of a folder: whether it is one of these."""


def with_report(folder: LayerFolder) -> LayerFolder:
    """Return a folder with a last stage that draws, if the file of its user asks for a report."""
    stage = stage_that_draws(folder)
    if stage is None or stage in folder.stages or not _says_so(folder, stage):
        return folder
    analyses = tuple(each for each in folder.analyses if each != stage)
    return replace(folder, stages=(*folder.stages, stage), analyses=analyses)


def stage_that_draws(folder: LayerFolder, file: str = PAGE) -> str | None:
    """Return the stage of a folder that writes build/report.html, or another file; None for none.
    """
    stages = folder.stages + folder.analyses
    return next((stage for stage in stages if file in declaration(stage).writes), None)


def _says_so(folder: LayerFolder, stage: str) -> bool:
    """Return whether the file for a stage that draws says `report: true`; of one that is wrong a
    stage says what is."""
    name = FILES[stage]
    try:
        content = content_of(folder.path / name)
        if KEY.encode() not in content:
            return False  # nearly every folder, without reading YAML
        return bool(kept_plan(
            folder, [name], (stage,), _is_flag, lambda: _read(folder, name, content),
            kind=REPORTS,
        ))
    except UnknownPlanError:
        return False  # who may not begin one lists no stages
    except (UserError, UserErrors):
        return False


def _read(folder: LayerFolder, name: str, content: bytes) -> bool:
    from lairmake.stages.mapping.yaml_text import read_document

    value = read_document(source_of(shown_path(folder.path / name), content)).value
    return isinstance(value, dict) and value.get(KEY) is True

# --- Parts of a network, as layer folders ---------------------------------------------------------

NetworkPlan = dict[str, Any]
"""`parts`: the path of every part, in the order of building; `crossings`: lists of part, tensor,
and the part and tensor that it is; `moved`: such lists where elements move, one for each output of
which an input is made; `whole`: whether all parts run on one fabric, too."""
KEYS = {"parts", "crossings", "moved", "whole"}


def open_network(folder: LayerFolder) -> LayerFolder:
    """Return a network folder with its parts; without any where its network.yaml is wrong.

    Such a network is `unread`: the stage `connect` reads the file again, and says what is wrong. A
    part that is no layer folder is left out. Where names of tensors are wrong, or a part is no
    layer, the parts have no stages: `connect` says so before any of them is built.
    """
    try:
        plan, is_wrong = read_network_plan(folder), False
    except UnknownEndError as error:
        plan, is_wrong = error.plan, True
    except Exception as error:  # the stage fails with it again
        return replace(
            folder, stages=NETWORK_STAGES, analyses=NETWORK_PICTURES, unread=why_unread(error)
        )
    files = [folder.path / path / LAYER for path in plan["parts"].values()]
    is_wrong = is_wrong or not all(file.is_file() for file in files)
    parts: dict[str, LayerFolder] = {}
    for name, path in plan["parts"].items():
        crossings = _crossings(folder, name, plan, parts)
        part = _network_part(folder, name, path, crossings, is_wrong)
        parts[name] = _receiving(folder, part, [m for m in plan["moved"] if m[0] == name], parts)
    there = tuple((name, part) for name, part in parts.items() if _is_layer(part))
    stages, pictures = NETWORK_STAGES, NETWORK_PICTURES
    if plan["whole"]:
        stages, pictures = (NETWORK_STAGES[0], *WHOLE, *NETWORK_STAGES[1:]), WHOLE_PICTURES
    return replace(folder, stages=stages, analyses=pictures, parts=there)


def _network_part(
    network: LayerFolder, name: str, path: str, crossings: tuple[PartCrossing, ...], is_wrong: bool
) -> LayerFolder:
    """Return a part: the folder of its name builds in itself, a shared one in the network's.

    It has no stages where the network `is_wrong`.
    """
    place = (network.path / path).resolve()
    own = place == network.path / name
    part = LayerFolder(
        name=f"{network.name}/{name}",
        path=place,
        build=place / "build" if own else network.build / name,
        cache=network.cache / name,
        home=network.home,
        crossings=crossings,
    )
    return replace(part, stages=()) if is_wrong else with_report(with_slots(part))


def _crossings(
    network: LayerFolder, name: str, plan: NetworkPlan, parts: dict[str, LayerFolder]
) -> tuple[PartCrossing, ...]:
    return tuple(
        _network_crossing(network, tensor, parts[source], output)
        for part, tensor, source, output in plan["crossings"]
        if part == name
    )


def _network_crossing(
    network: LayerFolder, tensor: str, source: LayerFolder, output: str
) -> PartCrossing:
    """Return a crossing as it is: an input."""
    return _taken(network, f"inputs/{tensor}.npy", source, output)


def _taken(network: LayerFolder, name: str, source: LayerFolder, output: str) -> PartCrossing:
    """Return a crossing; one from a folder that is no layer only waits for that to be said."""
    simulated = [f"{source.name}:simulate"] if _is_layer(source) else []
    return PartCrossing(
        name=name,
        file=file_of(source, f"build/outputs/{output}.npy"),
        after=(f"{network.name}:connect", *simulated),
    )


def _receiving(
    network: LayerFolder, part: LayerFolder, moved: Sequence[Sequence[str]],
    parts: Mapping[str, LayerFolder],
) -> LayerFolder:
    """Return a part with the stage that makes its inputs where elements move on the way.

    `moved` has its inputs, and the parts and outputs of which they are made, in their order.
    """
    given = {
        tensor: [_taken(network, tensor, parts[source], output) for _, _, source, output in each]
        for tensor, each in itertools.groupby(moved, key=lambda each: each[1])
    }
    return with_receiving(part, f"{network.name}:connect", given)


def _is_layer(part: LayerFolder) -> bool:
    return (part.path / LAYER).is_file()


class UnknownEndError(Exception):
    """The `plan` of network.yaml leads to tensors that its parts do not have."""

    def __init__(self, plan: NetworkPlan) -> None:
        super().__init__("the stage connect says which")
        self.plan = plan


def read_network_plan(folder: LayerFolder) -> NetworkPlan:
    """Return the plan of a network, from its network.yaml.

    Raises UnknownEndError where a part does not have a tensor, and any Exception where something
    is wrong: UserError, or another one for a bug.
    """
    return dict(
        kept_plan(
            folder,
            [NETWORK],
            NETWORK_STAGES,
            _is_network_plan,
            functools.partial(_plan_network, folder),
        )
    )


def _is_network_plan(data: Any) -> bool:
    """Return whether data that was kept is a plan, whose names lead nowhere else."""
    if not isinstance(data, dict) or data.keys() != KEYS:
        return False
    crossings = [*data["crossings"], *data["moved"]]
    names = [*data["parts"], *(name for crossing in crossings for name in crossing)]
    return all(map(is_word, names)) and all(map(is_name, data["parts"].values()))


def _plan_network(folder: LayerFolder) -> NetworkPlan:
    from lairmake.stages.mapping.network_yaml import describe_plan, read_network
    from lairmake.stages.network.maps import list_unknown_ends

    path = folder.path / NETWORK
    network = read_network(source_of(shown_path(path), content_of(path)))
    plan = describe_plan(network)
    layers = {name: _layer(folder, path) for name, path in network.parts.items()}
    known = {name: layer for name, layer in layers.items() if layer is not None}
    if any(list_unknown_ends(network, known)):
        raise UnknownEndError(plan)
    return plan


def _layer(network: LayerFolder, path: str) -> Layer | None:
    """Return the layer of a part; None where it cannot be read, which a stage of it says."""
    from lairmake.stages.make.core.inputs import FolderInputs

    place = (network.path / path).resolve()
    part = replace(network, path=place, build=place / "build", cache=place / "cache")
    try:
        return FolderInputs(part, (LAYER, "*.lair")).lair()
    except (UserError, UserErrors, OSError):
        return None
