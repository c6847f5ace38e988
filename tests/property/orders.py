"""Random orders of a tensor's elements: interchange, reversal, chunks, strides, offsets."""

import random

import islpy as isl


def element_names(shape):
    return [f"e{k}" for k in range(len(shape))]


def random_order(rng: random.Random, shape):
    """Return the indices of an injective order, as isl text in the names of the elements."""
    sizes = zip(element_names(shape), shape, strict=True)
    parts = [_dimension(rng, name, size) for name, size in sizes]
    if rng.random() < 0.45:
        rng.shuffle(parts)
    indices = [part for pieces in parts for part in pieces]
    if len(indices) > 1 and rng.random() < 0.2:
        rng.shuffle(indices)
    if not indices:
        return [(str(rng.randint(0, 2)), 3)]
    return _merged(rng, indices)


def _dimension(rng, name, size):
    """Return one dimension as indices with their extents: (text, size)."""
    kind = rng.random()
    if kind < 0.15:
        return [(f"{size - 1} - {name}", size)]
    if kind < 0.35 and size > 1:
        chunk = rng.randint(1, size)
        return [(f"{name}//{chunk}", -(-size // chunk)), (f"{name} mod {chunk}", chunk)]
    if kind < 0.43:
        return [(f"2*{name} + 1", 2 * size)]
    if kind < 0.5:
        return [(f"{name} + {size}", 2 * size)]
    return [(name, size)]


def _merged(rng, indices):
    """Join neighbouring indices into one, which counts both; always below four of them."""
    while len(indices) > 1 and (len(indices) > 4 or rng.random() < 0.3):
        k = rng.randrange(len(indices) - 1)
        (a, n), (b, m) = indices[k], indices[k + 1]
        indices[k : k + 2] = [(f"{m}*({a}) + ({b})", n * m)]
    return indices


def order_map(tensor, shape, indices):
    """Return { tensor[e] -> index[i] }."""
    names = ", ".join(element_names(shape))
    return isl.Map(f"{{ {tensor}[{names}] -> index[{', '.join(text for text, _ in indices)}] }}")


def elements_of(tensor, shape):
    """Return { tensor[e] } of all elements."""
    names = element_names(shape)
    bounds = " and ".join(f"0 <= {n} < {s}" for n, s in zip(names, shape, strict=True)) or "true"
    return isl.Set(f"{{ {tensor}[{', '.join(names)}] : {bounds} }}")


def with_ports(ports: isl.Map, order: isl.Map):
    """Return { tensor[e] -> [PE[x, y] -> index[i]] }."""
    return ports.range_product(order.intersect_domain(ports.domain()))


def per_port(rng: random.Random, ports: isl.Map, tensor, shape):
    """Return an order whose indices may count anew at every port, or are those of all."""
    indices = random_order(rng, shape)
    if rng.random() < 0.4 and indices:
        position = rng.randrange(len(indices))
        text, size = indices[position]
        if size > 1:
            modulus = rng.randint(1, size)
            local = list(indices)
            local[position] = (f"({text}) mod {modulus}", modulus)
            found = with_ports(ports, order_map(tensor, shape, local))
            if found.is_injective():
                return found
    return with_ports(ports, order_map(tensor, shape, indices))
