"""Random LAIR nodes: small instance sets, and accesses such as convolutions make."""

import itertools
import random
from dataclasses import dataclass, replace

from tests.property.expression import random_expression
from tests.property.views import with_views
from tests.property.wishes import Wishes

NAMES = ("i", "j", "k", "l", "m")
SIZES = {1: 3, 2: 8, 3: 8, 4: 9, 5: 6, 6: 6, 7: 4, 8: 6, 9: 3, 10: 3, 11: 2, 12: 4}
LOOPS = {1: 12, 2: 37, 3: 31, 4: 13, 5: 7}
FEW_LOOPS = {1: 20, 2: 50, 3: 30}
MOST_INSTANCES = (320, 1500), (95, 5)
NEAR = ((1, 1), (1, 1), (1, -1))
DILATED = ((2, 1), (1, 2), (3, 2), (2, 3))
TYPES = {
    ("float16",): 70, ("float32",): 9, ("int16",): 6, ("int32",): 5,
    ("float16", "float32"): 7, ("int16", "int32"): 4,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """An affine index: iterators with their coefficients, and a constant."""

    terms: tuple[tuple[str, int], ...]
    constant: int = 0

    @property
    def text(self):
        parts = [name if c == 1 else f"{c}*{name}" for name, c in self.terms]
        if self.constant or not parts:
            parts.append(str(self.constant))
        return " + ".join(parts).replace("+ -", "- ")

    def extent(self, sizes):
        """Return the least and the greatest value over the instance set."""
        ends = [sorted((0, c * (sizes[name] - 1))) for name, c in self.terms]
        return self.constant + sum(e[0] for e in ends), self.constant + sum(e[1] for e in ends)

    def moved(self, by):
        return Row(terms=self.terms, constant=self.constant + by)

    def backwards(self, end):
        """Return `end` less the row."""
        return Row(terms=tuple((n, -c) for n, c in self.terms), constant=end - self.constant)


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The elements of a tensor that instances access; further accesses to it have a `view`."""

    tensor: str
    rows: tuple[Row, ...]
    view: str = ""

    @property
    def label(self):
        """What stands for the access in the expression of its statement."""
        return self.view or self.tensor

    @property
    def text(self):
        return self.tensor + "".join(f"[{row.text}]" for row in self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    sizes: dict[str, int]
    target: Access
    op: str
    reads: tuple[Access, ...]
    expression: str
    conditions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Algorithm:
    """A node: types and shapes by tensor, and one statement an output.

    Its text has a type parameter T for all tensors, and N for all sizes equal to the first one,
    if it is generic.
    """

    types: dict[str, str]
    shapes: dict[str, tuple[int, ...]]
    inputs: tuple[str, ...]
    statements: tuple[Statement, ...]
    generic: bool

    def name_of(self, statement):
        """Return the tuple name of a statement's instances."""
        return "layer" if len(self.statements) == 1 else f"layer_{statement.target.tensor}"

    @property
    def viewed(self):
        """The tensors that statements access several times, which do not arrive sparse."""
        return {read.tensor for s in self.statements for read in s.reads if read.view}

    @property
    def text(self):
        outputs = [s.target.tensor for s in self.statements]
        params = "<T=float16>(N)" if self.generic else "()"
        head = f"lair layer{params}: {self._declared(self.inputs)} -> {self._declared(outputs)}"
        return "\n".join([head, "{", *map(self._statement, self.statements), "}"]) + "\n"

    @property
    def arguments(self):
        """Return what layer.yaml must say of the parameters."""
        if not self.generic:
            return {}
        return {"sizes": {"N": self._size}, "types": {"T": next(iter(self.types.values()))}}

    @property
    def _size(self):
        return next(iter(self.statements[0].sizes.values()))

    def _spelled(self, size):
        return "N" if self.generic and size == self._size else str(size)

    def _declared(self, tensors):
        types = {t: "T" if self.generic else self.types[t] for t in tensors}
        sizes = {t: "".join(f"[{self._spelled(s)}]" for s in self.shapes[t]) for t in tensors}
        return ", ".join(f"{types[t]} {t}{sizes[t]}" for t in tensors)

    def _statement(self, statement):
        accesses = {read.label: read.text for read in statement.reads}
        expression = statement.expression.format_map(accesses)
        sizes = ", ".join(map(self._spelled, statement.sizes.values()))
        where = f" where {' and '.join(statement.conditions)}" if statement.conditions else ""
        return (
            f"  all ({', '.join(statement.sizes)}) in ({sizes}){where}\n"
            f"    {statement.target.text} {statement.op} {expression}"
        )


def random_algorithm(rng: random.Random, wishes: Wishes):
    """Return a node of one to three statements that share up to three inputs."""
    count = rng.choices((1, 2, 3), (86, 11, 3))[0]
    inputs = [f"x{k}" for k in range(rng.choices((1, 2, 3), (20, 55, 25))[0])]
    group = ("float16",)
    if not wishes.sparse or rng.random() < 0.3:
        group = rng.choices(list(TYPES), list(TYPES.values()))[0]
    exact = any(t.startswith("int") for t in group) or rng.random() < 0.95
    loops = LOOPS if count == 1 else FEW_LOOPS
    statements = tuple(
        _random_statement(rng, wishes, f"y{k}", inputs, exact, loops) for k in range(count)
    )
    read = {a.tensor for s in statements for a in s.reads}
    used = [t for t in inputs if t in read] or inputs[:1]
    ranks = {a.tensor: len(a.rows) for s in reversed(statements) for a in s.reads}
    statements = with_views(wishes, tuple(_with_ranks(rng, s, ranks) for s in statements))
    tensors = [*used, *(s.target.tensor for s in statements)]
    if rng.random() < 0.03 and len(used) < len(inputs):
        tensors, used = [*tensors, "unread"], [*used, "unread"]
    return Algorithm(
        types={t: rng.choice(group) for t in tensors},
        shapes={t: _shape(rng, t, statements) for t in tensors},
        inputs=tuple(used), statements=statements,
        generic=len(group) == 1 and rng.random() < 0.08,
    )


def _random_statement(rng, wishes, target, inputs, exact, loops):
    sizes = _random_sizes(rng, loops)
    rows, op = _random_target(rng, sizes, wishes.reduction)
    tensors = rng.sample(inputs, min(len(inputs), rng.choices((1, 2, 3), (28, 52, 20))[0]))
    if rng.random() < 0.02:
        tensors = []
    reads = tuple(_random_read(rng, t, sizes, wishes.stride) for t in tensors)
    return Statement(
        sizes=sizes, target=Access(tensor=target, rows=rows), op=op, reads=reads,
        expression=random_expression(rng, tensors, op, exact or op == "*="),
    )


def _random_sizes(rng, loops):
    """Return one to five sizes up to 12, mostly of few instances together."""
    names = NAMES[: rng.choices(list(loops), loops.values())[0]]
    room = rng.choices(*MOST_INSTANCES)[0]
    sizes = {}
    for name in rng.sample(names, len(names)):
        allowed = [size for size in SIZES if size <= room]
        sizes[name] = rng.choices(allowed, [SIZES[size] for size in allowed])[0]
        room //= sizes[name]
    return {name: sizes[name] for name in names}


def _random_target(rng, sizes, reduction):
    """Return the rows of an access that reaches every element, and an operator it allows."""
    names = list(sizes)
    rng.shuffle(names)
    kept = names[: rng.choices((0, 1, 2, 3), (3, 42, 45, 10))[0]]
    if reduction and max(sizes.values()) > 1:
        summed = rng.choice([name for name in names if sizes[name] > 1])
        kept = [name for name in kept if name != summed]
    if rng.random() < 0.5:
        kept.sort()
    others = [name for name in names if name not in kept]
    rows = tuple(_target_row(rng, name, others, sizes) for name in kept)
    single = len({i for r in rows for i, _ in r.terms}) == len(names)
    diagonal = any(len(r.terms) > 1 for r in rows)
    if single and not diagonal and rng.random() < 0.7:
        return rows, "="
    return rows, rng.choices(("+=", "max=", "min=", "*="), (76, 10, 7, 7))[0]


def _target_row(rng, name, others, sizes):
    """Return `i`, `size - 1 - i`, or `i + c*j` without gaps, where j is taken from the others."""
    kind = rng.random()
    if kind < 0.12:
        return Row(terms=((name, -1),), constant=sizes[name] - 1)
    if kind < 0.2 and others:
        other = others.pop(rng.randrange(len(others)))
        return Row(terms=((name, 1), (other, rng.randint(1, sizes[name]))))
    return Row(terms=((name, 1),))


def _random_read(rng, tensor, sizes, stride):
    """Return an access of one to three rows; iterators appear once, mostly."""
    free = list(sizes)
    rng.shuffle(free)
    rank = min(len(sizes), rng.choices((0, 1, 2, 3), (2, 43, 43, 12))[0])
    rows = []
    for left in range(rank, 0, -1):
        rows.append(_read_row(rng, free, left - 1, sizes, stride))
    return Access(tensor=tensor, rows=tuple(rows))


def _read_row(rng, free, reserved, sizes, stride):
    """Return a row of one or two iterators, taken from `free` but for `reserved` of them."""
    first = free.pop() if free else rng.choice(list(sizes))
    kind = rng.random()
    if kind < 0.05:
        return Row(terms=(), constant=rng.randint(0, 2))
    if kind < 0.35 and len(free) > reserved:
        pairs = DILATED if stride else (*NEAR, *NEAR, *DILATED)
        return Row(terms=tuple(zip((first, free.pop()), rng.choice(pairs), strict=True)))
    factor = rng.choices((1, -1, 2, 3, -2), (45, 10, 30, 10, 5) if stride else (75, 15, 7, 2, 1))[0]
    return Row(terms=((first, factor),))


def _with_ranks(rng, statement, ranks):
    """Return the statement with as many rows to a tensor as the first statement has."""
    reads = []
    for read in statement.reads:
        rows = read.rows[: ranks[read.tensor]]
        while len(rows) < ranks[read.tensor]:
            rows = (*rows, Row(terms=(), constant=rng.randint(0, 1)))
        rows = tuple(_from_zero(rng, row, statement.sizes) for row in rows)
        reads.append(Access(tensor=read.tensor, rows=rows))
    return replace(statement, reads=tuple(reads))


def _from_zero(rng, row, sizes):
    """Return the row with a constant that makes its least value 0, or rarely a little more."""
    slack = rng.choices((0, 1, 2), (90, 6, 4))[0]
    return row.moved(slack - row.extent(sizes)[0])


def _shape(rng, tensor, statements):
    """Return the least shape that holds all accesses, now and then with room to spare."""
    accesses = [(a, s) for s in statements for a in (*s.reads, s.target) if a.tensor == tensor]
    if not accesses:
        return tuple(rng.sample(range(1, 6), rng.randint(1, 2)))
    shape = []
    for rows in itertools.zip_longest(*(a.rows for a, _ in accesses)):
        ends = [row.extent(s.sizes)[1] for row, (_, s) in zip(rows, accesses, strict=True)]
        spare = rng.choices((0, 1, 3), (92, 5, 3))[0] if tensor.startswith("x") else 0
        shape.append(max(ends) + 1 + spare)
    return tuple(shape)
