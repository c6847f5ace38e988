"""The kinds of tasks in tasks.yaml, one class each.

What there is to do for a task of each kind is a `ForKind`: mypy names the kinds that one forgets.
"""

from __future__ import annotations

import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

ArrivalName = Annotated[str, "the arrival that is taken, or spread"]
DepartureName = Annotated[str, "the departure, or collection, that is sent or collected"]
Filled = Annotated[str, "the tensor whose local memory gets a value"]
Value = Annotated[str, "that value"]
StatementName = Annotated[str, "the statement whose instances run"]
Iterators = Annotated[tuple[str, ...], "the names of its indices"]
Target = Annotated[str, "the tensor that it writes"]
Operator = Annotated[str, "how it does so"]
Expression = Annotated[str, "what it computes"]

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


@dataclass(frozen=True, slots=True, kw_only=True)
class React(OfStatement, OfArrival):
    """Run a statement on a sparse element."""

    kind: ClassVar[Literal["react"]] = "react"


@dataclass(frozen=True, slots=True, kw_only=True)
class Store(OfArrival):
    """Keep a sparse element."""

    kind: ClassVar[Literal["store"]] = "store"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receive(OfArrival):
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Carry(Assigns):
    """Make a tensor what it is in the next invocation."""

    kind: ClassVar[Literal["carry"]] = "carry"


@dataclass(frozen=True, slots=True, kw_only=True)
class Halo(Assigns, OfArrival):
    """Copy what windows still reach of the end of a ring to its front."""

    kind: ClassVar[Literal["halo"]] = "halo"


@dataclass(frozen=True, slots=True, kw_only=True)
class Send:
    """Send a departure, or a collection."""

    kind: ClassVar[Literal["send"]] = "send"
    departure: DepartureName


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlySend:
    """Send what leaves early."""

    kind: ClassVar[Literal["early_send"]] = "early_send"
    departure: DepartureName


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

Streams = Receive | Operate | EarlySend | Send | Pack | Hear | Spread | Collect
"""Tasks that move a whole stream, or a sequence, between the fabric and memory."""

AnyTask = (
    Initialise | React | Store | Receive | Operate | Compute | Carry | Halo | Send | EarlySend
    | Pack | Relay | Hear | Spread | Clear | Collect
)


def always(result: Same) -> Callable[[object, AnyTask], Same]:
    """Return what is the same for all tasks of a kind."""
    return lambda context, task: result


@dataclass(frozen=True, slots=True, kw_only=True)
class ForKind(typing.Generic[Context, Result]):
    """What there is to do for a task of each kind: of a context and the task, a result."""

    initialise: Callable[[Context, Initialise], Result]
    react: Callable[[Context, React], Result]
    store: Callable[[Context, Store], Result]
    receive: Callable[[Context, Receive], Result]
    operate: Callable[[Context, Operate], Result]
    compute: Callable[[Context, Compute], Result]
    carry: Callable[[Context, Carry], Result]
    halo: Callable[[Context, Halo], Result]
    send: Callable[[Context, Send], Result]
    early_send: Callable[[Context, EarlySend], Result]
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
