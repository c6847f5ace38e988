"""Syntax tree with spans."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from lairmake.stages.diagnose import Source, Span, UserError, nearest

# --- Tree of a LAIR file --------------------------------------------------------------------------
#
# A span is where a thing was written, not what it is: it takes no part in equality.
#
# Source   V Sec. 4.1.1, Listings 1 and 3 to 5

@dataclass(frozen=True, slots=True, kw_only=True)
class NumberSyntax:
    """A literal; whole numbers are ints."""

    value: int | float
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceSyntax:
    """A name with its indices, as written: a tensor, an iterator or a size parameter."""

    name: str
    indices: tuple[Expr, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Affine:
    """The integer `constant + sum(coefficient * iterator)`, coefficients nonzero."""

    coefficients: tuple[tuple[str, int], ...]
    constant: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessSyntax:
    """The element of a tensor that an instance touches: one affine row per dimension.

    `view` is the name of a further access of a statement to a tensor; None for the first one.
    """

    tensor: str
    rows: tuple[Affine, ...]
    view: str | None = None
    span: Span = field(compare=False, repr=False)

    @property
    def name(self) -> str:
        """The name by which texts of stages tell the access from others of its statement."""
        return self.view or self.tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Unary:
    """`op operand`; the only `op` is `-`."""

    op: str
    operand: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Binary:
    """`left op right`; `op` is one of `+ - * /`, in conditions also `//` and `mod`."""

    op: str
    left: Expr
    right: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSyntax:
    """A function of `FUNCTIONS` in stages/lair/expressions.py, applied."""

    function: str
    arguments: tuple[Expr, ...]
    span: Span = field(compare=False, repr=False)


Expr = NumberSyntax | ReferenceSyntax | AccessSyntax | Unary | Binary | CallSyntax


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeParam:
    """`T = float16` in a node's head."""

    name: str
    default: str
    default_span: Span = field(compare=False, repr=False)
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeParam:
    """`M` or `M = 32` in a node's head; `default` None means that there is none."""

    name: str
    default: int | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorSyntax:
    """A tensor in a node's head; its sizes are affine in the size parameters."""

    name: str
    type: str
    sizes: tuple[Expr, ...]
    type_span: Span = field(compare=False, repr=False)
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class NameSyntax:
    """A name where it is introduced: an iterator of a statement."""

    name: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonSyntax:
    """`left op right` of integers; `op` is one of `< <= > >= = !=`."""

    op: str
    left: Expr
    right: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementSyntax:
    """`all (iterators) in (sizes) where conditions target op expr`.

    A chain `0 <= i < N` is two conditions; all of them hold for an instance.
    """

    iterators: tuple[NameSyntax, ...]
    sizes: tuple[Expr, ...]
    conditions: tuple[ComparisonSyntax, ...]
    target: ReferenceSyntax
    op: str
    expr: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSyntax:
    """A `lair` definition; `own` are tensors that only its statements read, `span` its name's."""

    name: str
    type_params: tuple[TypeParam, ...]
    size_params: tuple[SizeParam, ...]
    inputs: tuple[TensorSyntax, ...]
    outputs: tuple[TensorSyntax, ...]
    own: tuple[TensorSyntax, ...]
    statements: tuple[StatementSyntax, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCall:
    """`results = node<types>(sizes)(arguments)` in a graph.

    Arguments are expressions here; stages/lair/checks.py asks that they be names of tensors.
    """

    results: tuple[ReferenceSyntax, ...]
    node: str
    types: tuple[NameSyntax, ...]
    sizes: tuple[Expr, ...]
    arguments: tuple[Expr, ...]
    node_span: Span = field(compare=False, repr=False)
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphSyntax:
    """A `graph` definition; `span` is that of its name."""

    name: str
    type_params: tuple[TypeParam, ...]
    size_params: tuple[SizeParam, ...]
    inputs: tuple[TensorSyntax, ...]
    outputs: tuple[TensorSyntax, ...]
    calls: tuple[NodeCall, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSyntax:
    """A LAIR file; `definitions` holds nodes and graphs in the order of the file."""

    definitions: tuple[NodeSyntax | GraphSyntax, ...]
    span: Span = field(compare=False, repr=False)

    @property
    def nodes(self) -> tuple[NodeSyntax, ...]:
        """The `lair` definitions."""
        return tuple(each for each in self.definitions if isinstance(each, NodeSyntax))

    @property
    def graphs(self) -> tuple[GraphSyntax, ...]:
        """The `graph` definitions."""
        return tuple(each for each in self.definitions if isinstance(each, GraphSyntax))


def walk(expr: Expr) -> Iterator[Expr]:
    """Yield an expression's parts in the order of the text, each before what it contains.

    Indices of references are not entered: they are integers, not values.
    """
    yield expr
    match expr:
        case Unary():
            yield from walk(expr.operand)
        case Binary():
            yield from walk(expr.left)
            yield from walk(expr.right)
        case CallSyntax():
            for argument in expr.arguments:
                yield from walk(argument)


def mentions(expr: Expr, name: str) -> bool:
    """Return whether an expression refers to a name, or accesses a tensor of it."""
    return any(
        (isinstance(each, ReferenceSyntax) and each.name == name)
        or (isinstance(each, AccessSyntax) and each.tensor == name)
        for each in walk(expr)
    )


def rewrite(expr: Expr, leaf: Callable[[Expr], Expr]) -> Expr:
    """Return an expression with what `leaf` gives in place of its numbers, names and accesses."""
    match expr:
        case Unary():
            return replace(expr, operand=rewrite(expr.operand, leaf))
        case Binary():
            left, right = rewrite(expr.left, leaf), rewrite(expr.right, leaf)
            return replace(expr, left=left, right=right)
        case CallSyntax():
            return replace(expr, arguments=tuple(rewrite(a, leaf) for a in expr.arguments))
    return leaf(expr)

# --- Names in LAIR --------------------------------------------------------------------------------

_ISL = (
    "and ceil ceild exists false floor floord implies infinity infty max min mod nan not or "
    "rational true"
)
_C = (
    "auto break case char const continue default do double else enum extern float for goto if "
    "inline int long main register restrict return short signed sizeof static struct switch "
    "typedef union unsigned void volatile while"
)
LONGEST_NAME = 100
_OURS = re.compile(r"PE|PE_X|PE_Y|index\d*|\w+_local")


def check_name(name: str, span: Span) -> Iterable[UserError]:
    """Yield an error if a name has a meaning in what the compiler writes.

    Names of a layer are tuples and dimensions of isl texts and identifiers of C programs.
    """
    language = None
    if name.lower() in _ISL.split():
        language = "isl"
    elif name in _C.split() or re.fullmatch(r"_[_A-Z]\w*", name):
        language = "C"
    elif _OURS.fullmatch(name):
        language = "the mapping"
    if language is not None:
        yield UserError(f"{name} has a meaning in {language}", span, "choose another name")


def make_plain_name(wish: str) -> str:
    """Return a name of LAIR, as close to a wish as may be: `torch_jit` for `torch-jit`.

    It is that of a file, too, and so is not longer than LONGEST_NAME.
    """
    plain = re.sub(r"\W", "_", wish, flags=re.ASCII)[:LONGEST_NAME]
    plain = plain if re.match(r"[A-Za-z]|_[^_A-Z]", plain) else f"v{plain}"
    return f"{plain}_" if is_reserved(plain) else plain


def is_reserved(name: str) -> bool:
    """Return whether a name has a meaning in what the compiler writes."""
    start = Span(source=Source(path="", text=""), start=0, end=0)
    return any(check_name(name, start))


def did_you_mean(name: str, known: Iterable[str], kind: str) -> str:
    """Return the hint for an unknown name: the nearest known one, else all of a kind."""
    names = list(known)
    near = nearest(name, names, cutoff=0.5)
    if near:
        return f"did you mean {near}?"
    return f"{kind}: {', '.join(names)}" if names else f"there are no {kind}"
