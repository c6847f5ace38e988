"""Decide how each task gets its vector instruction, and why; or that it runs as a loop.

Paper    V Sec. 5, conditions 1 to 4; Sec. 5.1, 5.3, 5.4
Reads    layer.yaml, chosen.yaml, tasks.yaml, schedule.isl, routes.isl, allocations.isl,
         instances.isl, compressions.isl, hulls.isl, sizes.isl, build/limits/graph/*.yaml,
         build/limits/graph/*.isl
Writes   simd.yaml    per task: by, why, others, sizes, guard, operation, operands
         memory.isl    local, to_local, lifetime, address
         build/limits/*.yaml, build/limits/*.isl    both for a machine that has enough, where it has
                                                    too little by a figure that nobody published
Assumes  boxes and sizes are found (approximate, enumerate).
Ensures  a vector instruction runs all instances of its task, and besides them only harmless ones;
         what lies at one address is never needed at one time.
Differs  of the ways that are possible, the one of the fewest cycles is taken, not the first.
"""

from __future__ import annotations

import contextlib
import typing
from collections.abc import Mapping as Dict
from dataclasses import replace

import islpy as isl

from lairmake.stages.diagnose import UserError, working_on
from lairmake.stages.layer.codegen.model import ProgramModel
from lairmake.stages.layer.cycles.task import Charged, busiest
from lairmake.stages.layer.memory.arranging import arrange, find_saved, fits_apart, list_early
from lairmake.stages.layer.memory.arrays import Keeping
from lairmake.stages.layer.memory.banks import (
    PART,
    ArrayPlace,
    RowLimits,
    list_banked,
    spread_over_banks,
)
from lairmake.stages.layer.memory.pairs import PairedMove, list_paired, move_in_pairs
from lairmake.stages.layer.texts.isl_files import Compressions, Instances, Routing, arranged_objects
from lairmake.stages.layer.texts.machine_yaml import (
    GRAPH,
    LIMITS,
    MACHINE,
    read_limits,
    with_enough,
    write_limits,
)
from lairmake.stages.layer.texts.simd_yaml import Decision, Decisions, Other, write_decisions
from lairmake.stages.layer.texts.task_graph import Operate, Relay, StoreTask, Streams, read_graph
from lairmake.stages.layer.vector.instruction import instruction, is_as_merged
from lairmake.stages.layer.vector.operands import OperandMemory, extend
from lairmake.stages.layer.vector.options import (
    Options,
    TooManyError,
    VectorChoice,
    choose,
    find_enough,
    give_up,
    list_options,
    list_ways,
)
from lairmake.stages.layer.vector.situation import RankError, Situation, SituationFiles
from lairmake.stages.machine.banks import PAIR, WORD
from lairmake.stages.machine.scarcity import is_unpublished, note_grade
from lairmake.stages.mapping.machine import read_machine
from lairmake.stages.mapping.records import Absent
from lairmake.stages.poly.box import together
from lairmake.stages.poly.quota import TooManyOperations, limit_operations
from lairmake.stages.poly.text import spell_object, write_objects

if typing.TYPE_CHECKING:
    from lairmake.stages.machine.profile import Profile
    from lairmake.stages.mapping.inputs import LayerInputs
    from lairmake.stages.mapping.layer_yaml import LayerMapping

READS = (
    "layer.yaml: machine, invocations, simd.prefer",
    "chosen.yaml",
    "tasks.yaml",
    "schedule.isl",
    "routes.isl",
    "allocations.isl",
    "instances.isl",
    "compressions.isl",
    "hulls.isl",
    "sizes.isl",
    "build/limits/graph/*.yaml",
    "build/limits/graph/*.isl",
)
WRITES = ("simd.yaml", "memory.isl", "build/limits/*.yaml", "build/limits/*.isl")
LIMIT = "descriptors"
"""The figure of the machine that says how many configurations are live on a PE."""
AllOptions = dict[str, dict[str, Options]]
"""The options of every task, by place and name."""
MEMORY_HEADER = """Local memory, with room for what extra instances access (Sec. 5.3, Example 5.9).
local: { T_local[element] }, the shape of each local tensor on every PE.
to_local: { [PE[x, y] -> T[element]] -> T_local[element] }, where elements of tensors lie.
lifetime: { array[] -> event[] }, the first and last events of an invocation between which local
tensors, and what tasks keep besides, are needed; always if that is from one to the next.
address: { array[element] -> role[byte] }, where they lie in the memory of the PEs of a role."""
MOST_OPERATIONS = 2_000_000
"""Operations that isl may spend on a machine that has enough: a second or two."""
HINTS = {"stream": "let fewer tensors arrive and leave", "way": "leave `prefer` out"}


def run(inputs: LayerInputs) -> dict[str, str]:
    """Return simd.yaml and memory.isl."""
    mapping = inputs.mapping()
    profile = read_machine(mapping, inputs)
    files = _read_files(inputs, profile)
    options = list_all(files, mapping)
    chosen, memory = settle(files, mapping, options)
    texts = _texts(files, chosen, memory)
    with contextlib.suppress(TooManyOperations), limit_operations(MOST_OPERATIONS):
        if inputs.names(f"{GRAPH}*.yaml"):
            texts |= _texts_of_other_graph(inputs, profile)
        elif _is_limited(chosen) and is_unpublished(profile, LIMIT):
            texts |= _texts_with_enough(files, mapping, options, {})
    return texts


def _read_files(inputs: LayerInputs, profile: Profile, at: str = "") -> SituationFiles:
    """Return what stages wrote; what follows from the task graph, in the folder `at`."""
    files = SituationFiles(
        graph=read_graph(inputs.source(f"{at}tasks.yaml")),
        profile=profile,
        invocations=inputs.mapping().invocations,
        schedule=inputs.objects("schedule.isl")["schedule"],
        instances=Instances(inputs.objects(f"{at}instances.isl")),
        compressed=Compressions(inputs.objects(f"{at}compressions.isl")),
        hulls=inputs.objects(f"{at}hulls.isl"),
        sizes=inputs.objects(f"{at}sizes.isl"),
        routes=Routing(inputs.objects(f"{at}routes.isl")),
        allocations=inputs.objects(f"{at}allocations.isl"),
        longer_rows=inputs.mapping().simd.prefer != "paper",
    )
    return replace(files, saved=find_saved(_keeping(files, {}, extend(files.local, ()))))


def _texts(
    files: SituationFiles, chosen: dict[str, VectorChoice], memory: OperandMemory
) -> dict[str, str]:
    """Return simd.yaml and memory.isl."""
    moves = list_paired(chosen, memory, files)
    memory, starts = _spread(files, chosen, memory, moves)
    decisions = _decide(chosen, memory)
    keeping = _keeping(files, decisions, memory)
    described: dict[str, isl.UnionSet | isl.UnionMap]
    described = {"local": keeping.work.local, "to_local": keeping.work.allocation}
    arranged = arrange(keeping, starts)
    described |= arranged_objects(arranged)
    computing = arranged["compute"]
    places = {
        name: ArrayPlace(shape, computing.addresses[name] // WORD)
        for name, shape in computing.shapes.items()
    }
    decisions = move_in_pairs(decisions, moves, places)
    return {
        "simd.yaml": write_decisions(decisions),
        "memory.isl": write_objects(MEMORY_HEADER, described),
    }


def _decide(chosen: dict[str, VectorChoice], memory: OperandMemory) -> dict[str, Decision]:
    """Return what simd.yaml says of tasks, given memory."""
    return {name: decision(choice, memory) for name, choice in chosen.items()}


def _spread(
    files: SituationFiles,
    chosen: dict[str, VectorChoice],
    memory: OperandMemory,
    moves: list[PairedMove],
) -> tuple[OperandMemory, dict[str, int] | None]:
    """Return memory with rows, and the banks where arrays start, for which instructions wait least
    and most is moved in pairs.

    Longer rows take at most a part of a PE's memory for a tensor, and only where all arrays fit one
    after the other, and layer.yaml does not ask for the paper's choices. None: there are no banks,
    and nothing may move in pairs.
    """
    words, most = files.profile.banks.words, files.profile.memory // PART
    if not words and not moves:
        return memory, None
    arrays = list_early(_keeping(files, _decide(chosen, memory), memory))
    instructions = list_banked(chosen, memory, files.profile, busiest) if words else []
    costs = [each.cost() for each in moves]
    candidates = [choice.taken.candidate for choice in chosen.values()]
    kept = frozenset(name for each in candidates if each is not None for name in each.shapes)
    longest = RowLimits(most=most if files.longer_rows else 0, kept=kept)
    for limits in (longest, RowLimits(most=0)):
        places = spread_over_banks(arrays, instructions, costs, limits, words or PAIR)
        shapes = {name: places[name].shape for name in memory.shapes if name in places}
        longer = replace(memory, shapes={**memory.shapes, **shapes})
        if longer == memory or fits_apart(_keeping(files, _decide(chosen, longer), longer)):
            break
    return longer, {name: place.start for name, place in places.items()}


def _texts_of_other_graph(inputs: LayerInputs, given: Profile) -> dict[str, str]:
    """Return the texts for the machine on which `route` had another task graph.

    There are none where such a machine has too little of something else.
    """
    source, mapping = inputs.source(f"{GRAPH}{MACHINE}"), inputs.mapping()
    files = _read_files(inputs, with_enough(given, source), GRAPH)
    try:
        options = list_all(files, mapping)
        chosen, memory = settle(files, mapping, options)
    except UserError:
        return {}
    enough = read_limits(source)
    if _is_limited(chosen) and is_unpublished(given, LIMIT):
        return _texts_with_enough(files, mapping, options, enough)
    return _in_folder(_texts(files, chosen, memory), enough)


def _in_folder(texts: dict[str, str], enough: Dict[str, int]) -> dict[str, str]:
    """Return texts as those for a machine that has enough, with what that is."""
    return {f"{LIMITS}{name}": text for name, text in texts.items()} | {
        f"{LIMITS}{MACHINE}": write_limits(enough)}


def _texts_with_enough(
    files: SituationFiles, mapping: LayerMapping, options: AllOptions, other: Dict[str, int]
) -> dict[str, str]:
    """Return the texts for a machine with as many descriptors as the best of all ways need.

    `other` are further figures of which it has enough already.
    """
    here = [list(at_place.values()) for at_place in options.values()]
    enough = max(find_enough(tasks, mapping.simd.prefer, _places(tasks)) for tasks in here)
    while True:
        richer = replace(files, profile=replace(files.profile, descriptors=enough))
        chosen, memory = settle(richer, mapping, options)
        if not _is_limited(chosen):
            break
        enough += 1  # what is given up for its memory may leave what needs more
    return _in_folder(_texts(richer, chosen, memory), {**other, LIMIT: enough})


def _is_limited(chosen: dict[str, VectorChoice]) -> bool:
    return any(choice.unaffordable for choice in chosen.values())


def _keeping(files: SituationFiles, decisions: Decisions, memory: OperandMemory) -> Keeping:
    """Return what PEs do, and the local memory that they do it in."""
    work = ProgramModel(
        graph=files.graph,
        simd=decisions,
        schedule=files.schedule,
        instances=files.instances,
        compressed=files.compressed,
        local=memory.local(),
        allocation=memory.moved(files.to_local),
    )
    return Keeping(work=work, routes=files.routes, profile=files.profile)


def settle(
    files: SituationFiles, mapping: LayerMapping, options: AllOptions
) -> tuple[dict[str, VectorChoice], OperandMemory]:
    """Return the choice of every task but relays, which forward single elements, and memory.

    Memory has room for what all that was chosen touches. An option whose merged dimensions rely on
    shapes of less room is given up, and all are chosen anew.
    """
    options = {place: dict(here) for place, here in options.items()}
    while True:
        chosen = {
            name: choice
            for here in options.values()
            for name, choice in zip(
                here, _chosen(list(here.values()), files, mapping), strict=True
            )
        }
        taken = {n: c.taken.candidate for n, c in chosen.items() if c.taken.candidate is not None}
        memory = extend(files.local, [t for c in taken.values() for t in c.touched])
        broken = [name for name, each in taken.items() if not is_as_merged(each, memory)]
        if not broken:
            return {name: chosen[name] for name in files.graph.tasks if name in chosen}, memory
        for name in broken:
            here = options[files.place(name)]
            here[name] = give_up(here[name], chosen[name].taken)


def list_all(files: SituationFiles, mapping: LayerMapping) -> AllOptions:
    """Return the options of every task but relays, by place and name, those of streams first.

    Computing PEs and the adapters of a side are different PEs, each with all configurations.
    """
    tasks = {n: t for n, t in files.graph.tasks.items() if not isinstance(t, Relay)}
    found: AllOptions = {}
    for place in sorted({files.place(name) for name in tasks}, reverse=True):
        here = [name for name in tasks if files.place(name) == place]
        here.sort(key=lambda n: not isinstance(tasks[n], Streams))
        found[place] = {}
        for name in here:
            with working_on(f"task {name}"):
                found[place][name] = _options(files.situation(name), mapping)
    return found


def _options(situation: Situation, mapping: LayerMapping) -> Options:
    """Return what a task may become. UserError where layer.yaml asks for too many dimensions."""
    prefer = mapping.simd.prefer
    options = list_options(situation, prefer, lambda each: Charged(situation=each))
    if isinstance(situation.task, Operate) and len(options.possible) == 1:
        why = options.possible[0].why
        message = f"no instruction takes {situation.task.arrival} as it comes: {why}"
        raise UserError(message, mapping.key_span("tensors"), HINTS["stream"])
    reason = options.impossible.get(prefer or "")
    if isinstance(reason, RankError) and situation.runs:
        raise UserError(str(reason), mapping.span("simd"), HINTS["way"])
    return options


def _chosen(
    options: list[Options], files: SituationFiles, mapping: LayerMapping
) -> list[VectorChoice]:
    """Return the choices of tasks on the same PEs. UserError where configurations do not last."""
    most = files.profile.descriptors
    try:
        return choose(options, mapping.simd.prefer, most, _places(options))
    except TooManyError as error:
        said = error.message + note_grade(files.profile, LIMIT)
        if isinstance(error.options.situation.task, Streams):
            raise UserError(said, mapping.key_span("tensors"), HINTS["stream"]) from None
        raise UserError(said, mapping.span("simd"), HINTS["way"]) from None


def _places(options: list[Options]) -> list[frozenset[int]]:
    """Return the tasks that some PEs have together, by number."""
    return together([each.situation.pes for each in options])


def decision(choice: VectorChoice, memory: OperandMemory) -> Decision:
    """Return what simd.yaml says of a task."""
    options, taken = choice.options, choice.taken
    found = Decision(guard=_guard(options.situation), by=taken.way, why=_why(choice))
    moves = isinstance(options.situation.task, Streams | StoreTask)
    if not moves and options.operations:
        found = replace(found, cycles=taken.cycles, others=_others(choice))
    if choice.unaffordable:
        found = replace(found, limited=(LIMIT,))
    if taken.candidate is not None:
        found = instruction(found, options.situation, taken.candidate, taken.steps, memory)
    return found


def _guard(situation: Situation) -> str | Absent | None:
    """Return the constants for which a statement has instances; None if all that occur."""
    if not situation.runs:
        return Absent.ABSENT
    return None if situation.guard is None else spell_object(situation.guard)


def _why(choice: VectorChoice) -> str:
    """Return why an option is taken: loops perhaps since there is nothing left for better ones."""
    if choice.taken.way == "loops" and choice.unaffordable:
        return next(iter(choice.unaffordable.values()))
    return choice.taken.why


def _others(choice: VectorChoice) -> dict[str, Other]:
    """Return, for each way that is not taken, what it costs or why it is not possible."""
    refused = {way: str(reason) for way, reason in choice.options.impossible.items()}
    refused |= choice.unaffordable
    costs = {option.way: option.cycles for option in reversed(choice.options.possible)}
    return {
        way: Other(not_possible=refused[way]) if way in refused else Other(cycles=costs[way])
        for way in (*list_ways(choice.options.situation, choice.options.operations), "loops")
        if way != choice.taken.way
    }
