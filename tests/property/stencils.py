"""Random stencils over time: fields, taps, blocks of PEs, delays, and ways of what moves."""

import random

from tests.property.layers import RandomLayer

TYPES = ("float16", "float32", "int16", "int32")
MACHINES = ("wse2", "wse2", "wse3", "ideal", "wse1")


def stencil_of_seed(seed):
    """Return a random layer of one or two fields, each of which is one of them in the next step."""
    rng = random.Random(f"stencil {seed}")
    rank = rng.choice((1, 2, 2, 2, 3))
    number = rng.choice((1, 1, 1, 2))
    reach = rng.choice((1, 1, 1, 2))
    shape = [rng.randint(2 * reach + 2, 11 if rank < 3 else 6) for _ in range(rank)]
    if rank == 3:
        shape[2] = rng.randint(3, 9)
    type_ = rng.choice(TYPES)
    lair = "".join(_node(rng, k, shape, min(rank, 2), reach, type_) for k in range(number))
    sizes = "".join(f"[{n}]" for n in shape)
    delayed = number == 1 and rng.random() < 0.5
    both = number == 1 and not delayed and rng.random() < 0.4
    if number == 1:
        call = f"n0 = s0(u0, {'u0' if delayed else 'w'})"
    else:
        call = "n0 = s0(u0, u1) n1 = s1(u1, u0)"
    fields = [f"u{k}" for k in range(number)] + (["w"] if ", w)" in call else [])
    given = ", ".join(f"{type_} {name}{sizes}" for name in fields)
    made = ", ".join(f"{type_} n{k}{sizes}" for k in range(number))
    lair += f"graph g(): {given} -> {made} {{ {call} }}\n"
    following = {f"u{k}": f"n{k}" for k in range(number)} | ({"w": "n0"} if both else {})
    back = rng.choice((1, 1, 2, 3)) if delayed else 0
    texts = {
        "layer.lair": lair,
        "layer.yaml": _mapping(rng, shape, following, min(rank, 2), back),
    }
    return RandomLayer(texts=texts, numbers=())


def _node(rng, number, shape, axes, reach, type_):
    """Return a node that adds taps of one field, along as many axes, and an element of another."""
    names, taps = "ijk"[:len(shape)], "rs"[:axes]
    span = 2 * reach + 1
    condition = rng.choice([
        f"r >= {rng.randint(0, reach)}", "(r + s) mod 2 = 1" if axes == 2 else "r mod 2 = 0",
        f"{taps[-1]} = {reach}", f"r + {taps[-1]} <= {rng.randint(reach, 2 * span)}",
    ])
    inside = " and ".join(
        f"{reach} <= {name} < {n} - {reach}" for name, n in zip(names, shape[:axes], strict=False)
    )
    target = "".join(f"[{name}]" for name in names)
    read = "".join(
        f"[{name} + {taps[at]} - {reach}]" if at < axes else f"[{name}]"
        for at, name in enumerate(names)
    )
    sizes, ends = "".join(f"[{n}]" for n in shape), [*shape, *[span] * axes]
    factor = rng.choice(("0.25", "0.5", "-0.5")) if "float" in type_ else rng.choice("12")
    return (
        f"lair s{number}(): {type_} a{sizes}, {type_} b{sizes} -> {type_} c{sizes}\n"
        f"{{ all ({', '.join((*names, *taps))}) in ({', '.join(map(str, ends))})"
        f" where {condition} and {inside}\n"
        f"    c{target} += a{read} * {factor} - b{target} }}\n"
    )


def _mapping(rng, shape, following, axes, back):
    """Return a layer.yaml that places blocks of the first axes, in either direction.

    `following` is what tensors are in the next step; another one is that of so many steps `back`.
    """
    names, taps = "ijk"[:len(shape)], "rs"[:axes]
    parts, ends = [], []
    for name, n in list(zip(names, shape, strict=True))[:axes]:
        block, first = rng.randint(1, max(1, n // 2)), rng.choice((0, 0, 0, 1))
        offset = rng.randint(0, block - 1)
        last = (n - 1 + offset) // block
        forward = f"({name} + {offset})//{block}"
        parts.append(rng.choice((forward, forward, f"{last} - {forward}")) + f" + {first}")
        ends.append(last + first + 1)
    if axes == 1:
        parts.append("1")
        ends.append(2)
    order = rng.choice(((0, 1), (1, 0)))
    place = ", ".join(parts[k] for k in order)
    iterators = ", ".join((*names, *taps))
    nodes = [f"s{made[1:]}" for made in dict.fromkeys(following.values())]
    places = "; ".join(f"{node}[{iterators}] -> PE[{place}]" for node in nodes)
    steps = ", ".join(f"{name}: {{next: {made}}}" for name, made in following.items())
    text = (
        f"machine: {rng.choice(MACHINES)}\n"
        f"target: \"{{ PE[{', '.join(str(ends[k] + rng.choice((0, 0, 1))) for k in order)}] }}\"\n"
        f"placement: \"{{ {places} }}\"\ninvocations: {rng.randint(2, 6)}\n"
        f"tensors: {{{steps}}}\ndata: {{seed: {rng.randint(0, 99)}}}\n"
    )
    return text + (f"delays: {{s0.b: {back}}}\n" if back else "")
