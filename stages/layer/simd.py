"""Decide how each task gets its vector instruction, and why; or that it runs as a loop.

Paper    Verdoolaege et al., IMPACT 2020, Sec. 5, conditions 1 to 4; Sec. 5.1, 5.3, 5.4
Reads    layer.yaml, tasks.yaml, schedule.isl, routes.isl, allocations.isl, instances.isl,
         compressions.isl, hulls.isl, sizes.isl
Writes   simd.yaml    per task: by, why, others, sizes, guard, operation, operands
         memory.isl    local, to_local
Assumes  boxes and sizes are found (approximate, enumerate).
Ensures  a vector instruction runs all instances of its task, and besides them only harmless ones.
Differs  of the ways that are possible, the one of the fewest cycles is taken, not the first.
"""

from __future__ import annotations

import typing

from stages.diagnose import UserError, working_on
from stages.layer.cost import Charged
from stages.layer.streams.tasks import STREAMS
from stages.layer.vector.candidate import RankError
from stages.layer.vector.choice import Choice, TooManyError, choose
from stages.layer.vector.instruction import instruction
from stages.layer.vector.memory import Memory, extended
from stages.layer.vector.options import Options, options_of
from stages.layer.vector.situation import Description, Files, Situation
from stages.layer.vector.ways import ways_of
from stages.mapping.yaml_text import write_document
from stages.poly.text import spell_object, write_objects
from stages.poly.together import together

if typing.TYPE_CHECKING:
    from stages.mapping.inputs import Inputs
    from stages.mapping.layer_yaml import Mapping

READS = (
    "layer.yaml",
    "tasks.yaml",
    "schedule.isl",
    "routes.isl",
    "allocations.isl",
    "instances.isl",
    "compressions.isl",
    "hulls.isl",
    "sizes.isl",
)
WRITES = ("simd.yaml", "memory.isl")
HEADER = """How each task gets its vector instruction, and why (Sec. 5).
by: the way to it, or loops, which isl generates; others: why not the other ways.
cycles: expected on the busiest PE, of all invocations, its configurations included.
guard: the symbolic constants for which there are instances; null: all that occur.
sizes, extents: the sizes of the instruction, and from where to where they go if they differ.
least, several: with enumerate, the least size and how many there are, a configuration each;
needed: those of them that a PE configures. outer: with nested, what the loops run over.
tables: symbolic constants that an element looks up by an index, from its least value on.
operation: d op a, b, c, as pe.h says; operands: d, a, b, c. Element [i] of a local tensor is at
base + strides * i, base an index of it, strides in elements; first0, ... are the least instances.
steps: several instructions, the last one gives the result; parts: what they give to each other.
over: the dimensions of the sizes that a step runs over, if not all; by: loops, for a function that
no vector operation is."""
MEMORY_HEADER = """Local memory, with room for what extra instances access (Sec. 5.3, Example 5.9).
local: { T_local[element] }, the shape of each local tensor on every PE.
to_local: { [PE[x, y] -> T[element]] -> T_local[element] }, where elements of tensors lie."""
HINTS = {"stream": "let fewer tensors arrive and leave", "way": "leave `prefer` out"}


def run(inputs: Inputs) -> dict[str, str]:
    """Return simd.yaml and memory.isl."""
    files, mapping = Files(inputs), inputs.mapping()
    chosen = choices(files, mapping)
    candidates = [c.taken.candidate for c in chosen.values() if c.taken.candidate is not None]
    memory = extended(files.local, [t for c in candidates for t in c.touched])
    decisions = {name: decision(choice, memory) for name, choice in chosen.items()}
    local, to_local = memory.local(), memory.moved(files.to_local)
    return {
        "simd.yaml": write_document(HEADER, decisions),
        "memory.isl": write_objects(MEMORY_HEADER, {"local": local, "to_local": to_local}),
    }


def choices(files: Files, mapping: Mapping) -> dict[str, Choice]:
    """Return the choice of every task but relays, which pass on single elements.

    Computing PEs and the adapters of a side are different PEs, each with all configurations.
    """
    tasks = {n: t for n, t in files.graph["tasks"].items() if t["kind"] != "relay"}
    found: dict[str, Choice] = {}
    for place in sorted({files.place(name) for name in tasks}, reverse=True):
        here = [name for name in tasks if files.place(name) == place]
        here.sort(key=lambda n: tasks[n]["kind"] not in STREAMS)
        options = []
        for name in here:
            with working_on(f"task {name}"):
                options.append(_options(files.situation(name), mapping))
        found |= dict(zip(here, _chosen(options, files, mapping), strict=True))
    return {name: found[name] for name in tasks}


def _options(situation: Situation, mapping: Mapping) -> Options:
    """Return what a task may become. UserError where layer.yaml asks for too many dimensions."""
    prefer = mapping.simd.prefer
    options = options_of(situation, prefer, lambda each: Charged(situation=each))
    reason = options.impossible.get(prefer or "")
    if isinstance(reason, RankError) and situation.runs:
        raise UserError(str(reason), mapping.span("simd"), HINTS["way"])
    return options


def _chosen(options: list[Options], files: Files, mapping: Mapping) -> list[Choice]:
    """Return the choices of tasks on the same PEs. UserError where configurations do not last."""
    most, places = files.profile.live_configurations, together([o.situation.pes for o in options])
    try:
        return choose(options, mapping.simd.prefer, most, places)
    except TooManyError as error:
        if error.options.situation.task["kind"] in STREAMS:
            raise UserError(
                error.message, mapping.key_span("tensors"), HINTS["stream"]
            ) from None
        raise UserError(error.message, mapping.span("simd"), HINTS["way"]) from None


def decision(choice: Choice, memory: Memory) -> Description:
    """Return what simd.yaml says of a task."""
    options, taken = choice.options, choice.taken
    found: Description = {"by": taken.way, "why": _why(choice)}
    if options.situation.runs:
        guard = options.situation.guard
        found = {"guard": None if guard is None else spell_object(guard), **found}
    stream = options.situation.task["kind"] in (*STREAMS, "store")
    if not stream and options.operations:
        found |= {"cycles": taken.cycles, "others": _others(choice)}
    if taken.candidate is not None:
        found |= instruction(options.situation, taken.candidate, taken.steps, memory)
    return found


def _why(choice: Choice) -> str:
    """Return why an option is taken: loops perhaps since there is nothing left for better ones."""
    if choice.taken.way == "loops" and choice.unaffordable:
        return next(iter(choice.unaffordable.values()))
    return choice.taken.why


def _others(choice: Choice) -> dict[str, dict[str, int | str]]:
    """Return, for each way that is not taken, what it costs or why it is not possible."""
    refused = {way: str(reason) for way, reason in choice.options.impossible.items()}
    refused |= choice.unaffordable
    costs = {option.way: option.cycles for option in choice.options.possible}
    return {
        way: {"not possible": refused[way]} if way in refused else {"cycles": costs[way]}
        for way in (*ways_of(choice.options.situation), "loops")
        if way != choice.taken.way
    }
