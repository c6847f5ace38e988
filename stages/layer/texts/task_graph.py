"""Tasks.yaml: the task graph and the kinds of tasks."""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Annotated, ClassVar, Literal, TypedDict

from lairmake.stages.diagnose import Source
from lairmake.stages.lair.expressions import write_expression
from lairmake.stages.lair.layer import Layer, Statement
from lairmake.stages.mapping.records import Inline, Key, as_data, explain, read_record
from lairmake.stages.mapping.yaml_text import write_document

# --- Kinds of tasks in tasks.yaml -----------------------------------------------------------------
#
# Each is a class. The work for each kind is a `ForKind`: mypy names the kinds that one forgets.

ArrivalName = Annotated[str, "the arrival that is taken, or spread"]
DepartureName = Annotated[str, "the departure, or collection, that is sent or collected"]
Filled = Annotated[str, "the tensor whose local memory gets a value"]
Value = Annotated[str, "that value"]
StatementName = Annotated[str, "the statement whose instances run"]
Iterators = Annotated[tuple[str, ...], "the names of its indices"]
Target = Annotated[str, "the tensor that it writes"]
Operator = Annotated[str, "how it does so"]
Expression = Annotated[str, "what it computes"]

Side = Literal["N", "S", "W", "E"]

Context = typing.TypeVar("Context", contravariant=True)
Result = typing.TypeVar("Result", covariant=True)
Same = typing.TypeVar("Same")


@dataclass(frozen=True, kw_only=True)
class Assigns:
    """What is the same of all tasks that compute elements of a tensor.

    A class with several bases has the fields of the last one first: so tasks.yaml has them.
    """

    __slots__ = ()
    iterators: Iterators
    target: Target
    op: Operator
    expression: Expression


@dataclass(frozen=True, kw_only=True)
class _Named:
    """The statement of a task that runs one."""

    __slots__ = ()
    statement: StatementName


@dataclass(frozen=True, kw_only=True)
class OfStatement(Assigns, _Named):
    """What is the same of all tasks that run a statement."""

    __slots__ = ()


@dataclass(frozen=True, kw_only=True)
class OfArrival:
    """What is the same of all tasks that an arrival has."""

    __slots__ = ()
    arrival: ArrivalName


@dataclass(frozen=True, slots=True, kw_only=True)
class Initialise:
    """Give all of a local tensor a value."""

    kind: ClassVar[Literal["initialise"]] = "initialise"
    tensor: Filled
    value: Value
    before: Annotated[
        str | None, "the statement before each step of which it gets that, where the step writes"
    ] = None
    but: Annotated[
        str | None, "the statement that gives the elements that it computes their first values"
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class React(OfStatement, OfArrival):
    """Run a statement on a sparse element."""

    kind: ClassVar[Literal["react"]] = "react"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreTask(OfArrival):
    """Keep a sparse element."""

    kind: ClassVar[Literal["store"]] = "store"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiveTask(OfArrival):
    """Take a dense stream."""

    kind: ClassVar[Literal["receive"]] = "receive"
    rest: Annotated[bool, "it takes the last chunk, which is smaller"] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Operate(OfStatement, OfArrival):
    """Run a statement on a dense stream, whose elements one instruction takes as they come."""

    kind: ClassVar[Literal["operate"]] = "operate"
    departure: Annotated[
        str | None, "the departure as which results leave as they are computed, never in memory"
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Compute(OfStatement):
    """Run a statement on memory."""

    kind: ClassVar[Literal["compute"]] = "compute"
    chunks: Annotated[tuple[str, ...], "the arrivals by whose chunks it runs in steps"] = ()
    follows: Annotated[tuple[str, ...], "the statements after whose steps its own run"] = ()
    taps: Annotated[
        Literal["first", "others"] | None, "the first instance of each element, or the others"
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Carry(Assigns):
    """Make a tensor what it is in the next invocation."""

    kind: ClassVar[Literal["carry"]] = "carry"


@dataclass(frozen=True, slots=True, kw_only=True)
class Halo(Assigns, OfArrival):
    """Copy what windows still reach of the end of a ring to its front."""

    kind: ClassVar[Literal["halo"]] = "halo"


@dataclass(frozen=True, slots=True, kw_only=True)
class SendTask:
    """Send a departure, or a collection."""

    kind: ClassVar[Literal["send"]] = "send"
    departure: DepartureName


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlySend:
    """Send what leaves early."""

    kind: ClassVar[Literal["early_send"]] = "early_send"
    departure: DepartureName


@dataclass(frozen=True, kw_only=True)
class OfMove:
    """What is the same of the tasks of a move."""

    __slots__ = ()
    move: Annotated[str, "the move whose elements are sent to neighbours, or taken from them"]
    to: Annotated[Side, "the side to which they move"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SendHalo(OfMove):
    """Send a neighbour the elements that it needs."""

    kind: ClassVar[Literal["send_halo"]] = "send_halo"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiveHalo(OfMove):
    """Take the elements that a PE needs from a neighbour."""

    kind: ClassVar[Literal["receive_halo"]] = "receive_halo"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pack:
    """Take what is not zero of a sequence, with its index."""

    kind: ClassVar[Literal["pack"]] = "pack"
    departure: DepartureName


@dataclass(frozen=True, slots=True, kw_only=True)
class Relay(OfArrival):
    """Send on the sparse elements that an adapter hears."""

    kind: ClassVar[Literal["relay"]] = "relay"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hear(OfArrival):
    """Take a dense stream at an adapter."""

    kind: ClassVar[Literal["hear"]] = "hear"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread(OfArrival):
    """Send it on from there."""

    kind: ClassVar[Literal["spread"]] = "spread"


@dataclass(frozen=True, slots=True, kw_only=True)
class Clear:
    """Give all of the memory in which an adapter collects a value."""

    kind: ClassVar[Literal["clear"]] = "clear"
    departure: DepartureName
    tensor: Filled
    value: Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Collect:
    """Take a departure at an adapter."""

    kind: ClassVar[Literal["gather"]] = "gather"
    departure: DepartureName


Runs = React | Compute | Carry | Halo
"""Tasks that compute elements of one tensor from others; carry and halo take those of one as they
are."""

Running = React | Operate | Compute
"""Tasks that run a statement: on an element that arrives, on a stream, or when all is there."""

Fills = Initialise | Clear
"""Tasks that give all of a local tensor one value."""

Streams = (
    ReceiveTask | Operate | EarlySend | SendTask | SendHalo | ReceiveHalo | Pack | Hear | Spread
    | Collect
)
"""Tasks that move a whole stream, or a sequence, between the fabric and memory."""

AnyTask = (
    Initialise
    | React
    | StoreTask
    | ReceiveTask
    | Operate
    | Compute
    | Carry
    | Halo
    | SendTask
    | EarlySend
    | SendHalo
    | ReceiveHalo
    | Pack
    | Relay
    | Hear
    | Spread
    | Clear
    | Collect
)


def always(result: Same) -> Callable[[object, AnyTask], Same]:
    """Return a function that gives one result for all tasks of a kind."""
    return lambda context, task: result


@dataclass(frozen=True, slots=True, kw_only=True)
class ForKind(typing.Generic[Context, Result]):
    """A function for each kind of task: of a context and the task, a result."""

    initialise: Callable[[Context, Initialise], Result]
    react: Callable[[Context, React], Result]
    store: Callable[[Context, StoreTask], Result]
    receive: Callable[[Context, ReceiveTask], Result]
    operate: Callable[[Context, Operate], Result]
    compute: Callable[[Context, Compute], Result]
    carry: Callable[[Context, Carry], Result]
    halo: Callable[[Context, Halo], Result]
    send: Callable[[Context, SendTask], Result]
    early_send: Callable[[Context, EarlySend], Result]
    send_halo: Callable[[Context, SendHalo], Result]
    receive_halo: Callable[[Context, ReceiveHalo], Result]
    pack: Callable[[Context, Pack], Result]
    relay: Callable[[Context, Relay], Result]
    hear: Callable[[Context, Hear], Result]
    spread: Callable[[Context, Spread], Result]
    clear: Callable[[Context, Clear], Result]
    gather: Callable[[Context, Collect], Result]

    def __call__(self, context: Context, task: AnyTask) -> Result:
        """Return the result for a task."""
        function: Callable[[Context, AnyTask], Result] = getattr(self, task.kind)
        return function(context, task)

# --- Task graph of a layer ------------------------------------------------------------------------
#
# The text of each field is what the comment at the head of tasks.yaml says of its key.
#
# Paper    V Sec. 4.2

TITLE = "The task graph (Sec. 4.2)."

Kept = Literal["resident", "stored", "never", "delayed", "result", "internal"]
By = Literal["add", "mul", "max", "min", "gather"]
Box = tuple[tuple[int, int], ...]
Colour = str | tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptTensor:
    """A tensor, and how it is kept in local memory."""

    type: Annotated[str, "of its elements"]
    shape: Annotated[tuple[int, ...], "its sizes"]
    kept: Annotated[
        Kept,
        "resident (in memory from the start), stored (as it arrives), result, never, internal "
        "(only other statements read it), or delayed (what another tensor was before)",
    ]
    initial: Annotated[str | None, "what it is before anything is added to it"] = None
    stored_in: Annotated[str | None, Key("in"), "the tensor whose memory holds it"] = None
    buffer: Annotated[
        int | None, "its buffer in that memory in the first invocation; after each one it takes "
        "that of the tensor with the next number, the last tensor that of the first one"
    ] = None
    view: Annotated[bool, "whether statements access that tensor again by this name"] = False
    ring: Annotated[
        int | None, "for what so many steps compute there is memory, which all of them use in turn"
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """How the chunks of a ring lie one after the other, so that windows reach from one to the next.
    """

    places: Annotated[str, "the row in which an element of a ring lies, and where in that"]
    rows: Annotated[int, "how many rows a chunk has"]
    halo: Annotated[
        int, "how many rows before those of its chunk a step reads: so many of the last ones of "
        "the ring are copied to its front",
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunks:
    """The parts in which a dense arrival is taken."""

    of: Annotated[str, "the part of each index"]
    counts: Annotated[tuple[int, ...], "how many parts there are"]
    size: Annotated[int, "how many elements one has"]
    rest: Annotated[int | None, "how many the last one has"] = None
    ring: Annotated[
        int | None,
        "how many there is memory for: each takes the place of one that is no longer used, and is "
        "received after that",
    ] = None
    window: Annotated[Window | None, "where chunks lie that windows reach over"] = None
    why: Annotated[str, "why it is cut so"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Why an arrival cannot roll."""

    why: Annotated[str, "what stands against a ring"]
    others: Annotated[tuple[str, ...], "the arrivals that wait for it, or for which it waits"] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WayAround:
    """What PEs need of each other in the next invocation, and adapters bring."""

    cycles: Annotated[int, "what that takes in an invocation, roughly"]
    why: Annotated[str, "what stands against an exchange between neighbours"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A stream that enters on a side."""

    tensor: Annotated[str, "what arrives"]
    side: Annotated[Side, "where it enters"]
    sparse: Annotated[bool, "whether only what is not zero does"]
    colour: Annotated[str, "the one that PEs listen to"]
    source: Annotated[str, "the colour at the port, another one where adapters spread the stream"]
    spread: Annotated[bool, "whether they do"]
    outer: Annotated[Box, "least and greatest outer indices"]
    replicas: Annotated[
        tuple[str, ...], "the colours that bring it once for each PE of a lane, or of a border"
    ] = ()
    ways: Annotated[
        Mapping[str, int],
        "cycles expected until the last PE has it, where PEs forward it, or get replicas",
    ] = field(default_factory=dict)
    feedback: Annotated[str | None, "the tensor that comes back"] = None
    around: Annotated[
        WayAround | None, "what it takes that it comes back for the next invocation, and is no halo"
    ] = None
    part: Annotated[str | None, "which of several streams on this side, in adapted.isl"] = None
    chunks: Annotated[
        Chunks | None,
        "the parts in which an arrival is taken while others still come",
    ] = None
    whole: Annotated[str | None, "why it is not cut into chunks"] = None
    operand_of: Annotated[
        str | None, "the statement whose instruction takes each element as it comes: no memory has "
        "any of them"
    ] = None
    held: Annotated[
        Held | None, "why all of it is in memory at a time, though there is hardly room"
    ] = None
    otherwise: Annotated[str | None, "what elements of the tensor are that never arrive"] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Early:
    """What leaves of a departure while its statement still runs."""

    statement: Annotated[str, "the one that writes it"]
    after: Annotated[
        str, "the chunks after which some leaves, outer indices where the arrival is sparse"
    ]
    all: Annotated[bool, "whether nothing is left for the end"]
    sends: Annotated[int | None, "how often it leaves"] = None
    rows: Annotated[int | None, "how many rows leave at a time"] = None
    ring: Annotated[
        int | None,
        "for the results of how many steps there is memory: each takes the place of others once "
        "these have left",
    ] = None
    why: Annotated[str, "what that is good for"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequences:
    """What leaves of a sparse tensor: its sequences, each with an end."""

    sparse: Annotated[Literal[True], "only what is not zero leaves, with its index"]
    outer: Annotated[Box, "least and greatest outer indices"]


@dataclass(frozen=True, slots=True, kw_only=True)
class InTurn:
    """How PEs that gather send rows in turn, and sum nothing: numbers as isl texts."""

    first: Annotated[tuple[str, ...], "the least outer indices of the rows that PEs send in turn"]
    rows: Annotated[tuple[str, ...], "how many rows there are, by outer index"]
    before: Annotated[str, "elements of a row that a PE forwards before its own"]
    own: Annotated[str, "elements of a row that are its own"]
    after: Annotated[str, "elements that it forwards then"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaving:
    """A stream towards a side, summed or gathered on its way."""

    tensor: Annotated[str, "what leaves"]
    side: Annotated[Side, "where to"]
    colours: Annotated[
        tuple[str, str], "a PE sends on the first if its place is even, parity, else on the second"
    ]
    by: Annotated[
        By, "how a PE adds its own part to what comes from farther in, gather if it sends both"
    ]
    parity: Annotated[str, "the place of a PE from the side, or the port, modulo 2"]
    feedback: Annotated[str | None, "the arrival as which it comes back, and does not leave"] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure(Leaving):
    """What PEs send along a row or column."""

    collected: Annotated[bool, "adapters collect it on the border"] = False
    out: Annotated[str | None, "the colour on which the last PE sends it back"] = None
    sequences: Annotated[Sequences | None, Inline()] = None
    in_turn: Annotated[InTurn | None, Inline()] = None
    waits: Annotated[
        tuple[str, ...],
        "the departures of which a PE has sent and taken back its parts before this one, and the "
        "arrivals that it has taken, or spread",
    ] = ()
    early: Annotated[Early | None, "what leaves while the statement still runs"] = None
    result_of: Annotated[
        str | None, "the statement whose instruction sends each element as it computes it: no "
        "memory has any of them"
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SumCollection(Leaving):
    """What adapters send along a border."""

    departure: Annotated[str, "the departure whose sums it takes"]
    out: Annotated[str, "the colour on which the last adapter sends it to the port, or back"]
    sequences: Annotated[Sequences | None, Inline()] = None
    in_turn: Annotated[InTurn | None, Inline()] = None


Outgoing = Departure | SumCollection


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """The elements of a tensor that PEs get from others for the next invocation."""

    kind: Annotated[Literal["halo"], "halo (of neighbours)"]
    tensor: Annotated[str, "the tensor"]
    rounds: Annotated[
        tuple[tuple[Side, ...], ...], "the sides to which elements move, those of a round at once"
    ]
    colours: Annotated[
        Mapping[str, tuple[str, str]],
        "by axis, a PE sends on the first if its coordinate is even, else on the second",
    ]
    ways: Annotated[
        Mapping[str, int], "cycles expected of it in an invocation, by way"
    ] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forwarding:
    """A line of PEs that forward a stream."""

    colours: Annotated[
        tuple[str, str], "a PE hears the first if its place is even, parity, else the second"
    ]
    enters: Annotated[str, "the colour on which the stream enters"]
    parity: Annotated[str, "the place of a PE on the line, modulo 2"]
    order: Annotated[
        Mapping[str, str],
        "by statement, times of the skewed schedule, in whose order PEs use what those before them "
        "forward",
    ] = field(default_factory=dict)
    otherwise: Annotated[Mapping[str, str], "by statement, why there is no such order"] = field(
        default_factory=dict
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskGraph:
    """What moves between PEs, and what they run, by name."""

    tensors: Annotated[Mapping[str, KeptTensor], "what lies in the memory of a PE"]
    arrivals: Annotated[Mapping[str, Arrival], "the streams that enter on a side"]
    departures: Annotated[
        Mapping[str, Departure], "the streams that leave, along a row or column"
    ]
    collections: Annotated[
        Mapping[str, SumCollection], "the streams from adapter to adapter, of sums of a departure"
    ] = field(default_factory=dict)
    moves: Annotated[
        Mapping[str, Move], "what PEs exchange between two invocations"
    ] = field(default_factory=dict)
    forwarding: Annotated[
        Mapping[str, Forwarding], "the streams that PEs forward, since routers do not copy"
    ] = field(default_factory=dict)
    copied: Annotated[tuple[Colour, ...], "the colours if routers copied"] = ()
    tasks: Annotated[Mapping[str, AnyTask], "what PEs run, in the order in which each does"]
    waits: Annotated[
        Mapping[str, tuple[str, ...]], "the statements that must have run on the PE before one runs"
    ] = field(default_factory=dict)
    colours: Annotated[
        tuple[Colour, ...], "the stream of each, or several that pass no router together"
    ]

    @property
    def leaving(self) -> dict[str, Outgoing]:
        """The departures, and the collections of adapters."""
        return {**self.departures, **self.collections}

    def find_local(self, tensor: str) -> str:
        """Return the name of the local tensor in which a tensor lies."""
        described = self.tensors.get(tensor)
        return f"{tensor if described is None else described.stored_in or tensor}_local"

    @property
    def swaps(self) -> dict[str, tuple[str, ...]]:
        """By local tensor, the tensors whose buffers it has, each before the one whose it takes."""
        found: dict[str, dict[int, str]] = {}
        for name, tensor in self.tensors.items():
            if tensor.buffer is not None and not tensor.view:
                found.setdefault(self.find_local(name), {})[tensor.buffer] = name
        return {local: tuple(by[k] for k in sorted(by)) for local, by in found.items()}

    def count_buffers(self) -> dict[str, int]:
        """Return how many buffers local tensors have that have several."""
        return {local: len(names) for local, names in self.swaps.items()}

    @property
    def swapped(self) -> dict[str, str]:
        """The tensor that takes the buffer of another one after an invocation, by that one."""
        return {
            source: tensor for names in self.swaps.values() for tensor, source in pairwise(names)
        }


def read_graph(source: Source) -> TaskGraph:
    """Return the graph in tasks.yaml. Raises UserErrors where it was edited to be no graph."""
    return read_record(source, TaskGraph)


def write_graph(graph: TaskGraph) -> str:
    """Return tasks.yaml: the graph, and at its head what the keys are that occur."""
    return write_document(explain(TITLE, graph), as_data(graph))

# --- Tasks of statements and halos ----------------------------------------------------------------

AT_RUN_TIME = ("enumerate", "configure")
"""Ways to a vector instruction whose size is found before each call."""


class _Said(TypedDict):
    """What tasks.yaml says of a statement."""

    statement: str
    iterators: tuple[str, ...]
    target: str
    op: str
    expression: str


def make_react(statement: Statement, arrival: str) -> React:
    """Return the task that runs a statement on each element of an arrival."""
    return React(arrival=arrival, **_said(statement))


def make_operate(statement: Statement, arrival: str, departure: str | None) -> Operate:
    """Return the task that runs a statement on an arrival, and sends what it gives, perhaps."""
    return Operate(arrival=arrival, departure=departure, **_said(statement))


def make_compute(statement: Statement, chunks: Sequence[str], follows: Sequence[str]) -> Compute:
    """Return the task that runs a statement on memory, in steps if it has chunks."""
    return Compute(chunks=tuple(chunks), follows=tuple(follows), **_said(statement))


def _said(statement: Statement) -> _Said:
    return _Said(
        statement=statement.name,
        iterators=tuple(statement.iterators),
        target=statement.target.tensor,
        op=statement.op,
        expression=write_expression(statement.expr),
    )


def make_halo(layer: Layer, arrival: str, tensor: str) -> Halo:
    """Return the task that copies what windows still reach of the end of a ring to its front."""
    return Halo(
        arrival=arrival,
        iterators=tuple(f"i{k}" for k in range(len(layer.tensors[tensor].shape))),
        target=name_halo(tensor, layer),
        op="=",
        expression=tensor,
    )


def name_halo(tensor: str, layer: Layer) -> str:
    """Return the name of what lies at the front of a tensor's ring; no other tensor has it."""
    name = f"{tensor}_halo"
    while name in layer.tensors:
        name += "_"
    return name
