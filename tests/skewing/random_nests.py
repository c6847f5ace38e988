"""Random loop nests, small enough to run instance by instance."""

import functools
import itertools
from dataclasses import dataclass

import islpy as isl

OUT = isl.dim_type.out


@functools.cache
def _function(iterators, expressions):
    values = "".join(f"{e}, " for e in expressions).replace("mod", "%")
    return eval(f"lambda {', '.join(iterators)}: ({values})")


@dataclass(frozen=True, kw_only=True)
class Statement:
    """All texts are lists of expressions in the iterators, for isl and for Python."""

    name: str
    iterators: tuple[str, ...]
    sizes: tuple[int, ...]
    schedule: tuple[str, ...]
    place: tuple[str, ...]
    write: tuple[str, tuple[str, ...]]
    reads: tuple[tuple[str, tuple[str, ...]], ...]

    def map_to(self, name, expressions):
        body = ", ".join(expressions)
        return f"{self.name}[{', '.join(self.iterators)}] -> {name}[{body}]"

    def domain(self):
        bounds = (
            f"0 <= {i} < {n}" for i, n in zip(self.iterators, self.sizes, strict=True)
        )
        return f"{self.name}[{', '.join(self.iterators)}] : {' and '.join(bounds)}"

    def instances(self):
        return list(itertools.product(*map(range, self.sizes)))

    def value(self, expressions, instance):
        return _function(self.iterators, expressions)(*instance)


@dataclass(frozen=True, kw_only=True)
class Nest:
    statements: tuple[Statement, ...]
    given: bool

    def texts(self):
        each = self.statements
        return (
            f"{{ {'; '.join(s.domain() for s in each)} }}",
            f"{{ {'; '.join(s.map_to('', s.schedule) for s in each)} }}",
            f"{{ {'; '.join(s.map_to('PE', s.place) for s in each)} }}",
            f"{{ {'; '.join(s.map_to(*r) for s in each for r in s.reads)} }}",
            f"{{ {'; '.join(s.map_to(*s.write) for s in each)} }}",
            [s.name for s in each] if self.given else [],
        )


def random_nest(chosen):
    """Return one statement, or two that share a loop of a given schedule."""
    return _pair(chosen) if chosen.random() < 0.4 else _alone(chosen)


def _alone(chosen):
    iterators = ("i", "j", "k", "l")[: chosen.choice([2, 3, 3, 4])]
    sizes = tuple(chosen.randint(2, 9 - 2 * len(iterators) + 2) for _ in iterators)
    order = chosen.sample(iterators, len(iterators))
    if chosen.random() < 0.3:
        order.insert(0, f"{chosen.choice(iterators)} // 2")
    given = chosen.random() < 0.5
    statement = Statement(
        name="S", iterators=iterators, sizes=sizes, schedule=tuple(order),
        place=_place(chosen, iterators),
        write=("y", _access(chosen, iterators)),
        reads=tuple((name, _access(chosen, iterators)) for name in "ab"),
    )
    return Nest(statements=(statement,), given=given)


def _pair(chosen):
    sizes = tuple(chosen.randint(2, 5) for _ in "ij")
    place = chosen.choice([("j", "0"), ("j // 2", "0"), ("0", "j"), ("j", "i mod 2")])
    further = (("b", _access(chosen, ("i", "j"))),) if chosen.random() < 0.5 else ()
    shift = chosen.choice(["j", "j + 1", "j - 1", "j - 2", "0"])
    back = chosen.choice(["i", "i - 1", "i - 2"])
    first = Statement(
        name="S", iterators=("i", "j"), sizes=sizes, schedule=("i", "0", "j"), place=place,
        write=("t", ("i", "j")), reads=(("a", _access(chosen, ("i", "j"))),),
    )
    second = Statement(
        name="T", iterators=("i", "j"), sizes=sizes, schedule=("i", "1", "j"), place=place,
        write=("y", _access(chosen, ("i", "j"))), reads=(("t", (back, shift)), *further),
    )
    return Nest(statements=(first, second), given=True)


def _place(chosen, iterators):
    kinds = ["{}", "{}", "{} // 2", "{} // 2", "{} mod 2", "{} + {}", "0"]
    return tuple(
        chosen.choice(kinds).format(*chosen.sample(iterators, 2)) for _ in range(2)
    )


def _access(chosen, iterators):
    kinds = ["{}", "{}", "{}", "{} + {}", "{} + 1", "2 * {}", "0"]
    count = chosen.randint(1, 2)
    return tuple(chosen.choice(kinds).format(*chosen.sample(iterators, 2)) for _ in range(count))


def values_of(relation):
    """Return the value of a function { S[i] -> [t] } at every i."""
    found = {}
    width = relation.dim(isl.dim_type.in_)

    def note(point):
        count = width + relation.dim(OUT)
        values = [
            point.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(count)
        ]
        found[tuple(values[:width])] = tuple(values[width:])

    relation.wrap().flatten().foreach_point(note)
    return found
