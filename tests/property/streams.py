"""Dense arrivals that statements may take step by step, and that may roll: few, in plain order."""

import random

import islpy as isl
import yaml

from tests.property.orders import element_names, elements_of, order_map, with_ports

PLAIN = 0.75
"""How many layers with dense arrivals have them so."""


def with_plain_streams(rng: random.Random, text: str, target, shapes) -> str:
    """Return layer.yaml in which a dense tensor may arrive on all rows or columns, in plain order.

    Others that arrive densely do so likewise if they are as long in some dimension, by which they
    may all go in step, and lie in memory else.
    """
    content = yaml.safe_load(text)
    dense = [
        name for name, given in content["tensors"].items()
        if "arrives" in given and not given.get("sparse") and shapes[name]
    ]
    if not dense or rng.random() > PLAIN:
        return text
    first = rng.choice(dense)
    length = rng.choice(shapes[first])
    for name in dense:
        if length in shapes[name]:
            order = in_plain_order(name, shapes[name], length, target, rng.choice("NSWE"))
            content["tensors"][name] = {"arrives": str(order)}
        else:
            content["tensors"][name] = {"resident": True}
    return yaml.safe_dump(content, sort_keys=False, width=10000)


def in_plain_order(name, shape, length, target, side):
    """Return { T[e] -> [PE -> index[e]] } at all ports of a side; a dimension of a length is first.
    """
    lanes = f"0 <= lane < {target.lanes(side)}"
    ports = isl.Map.from_domain_and_range(
        elements_of(name, shape), isl.Set(f"{{ {target.port(side)} : {lanes} }}")
    )
    first, names = shape.index(length), element_names(shape)
    dimensions = sorted(range(len(shape)), key=lambda k: k != first)
    return with_ports(ports, order_map(name, shape, [(names[k], shape[k]) for k in dimensions]))
