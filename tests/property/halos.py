"""Elements that never arrive, of layers whose elements all do."""

import dataclasses
import random

import islpy as isl
import yaml

VALUES = (0.0, 0.0, 1.0, -2.0, float("-inf"))


def with_halos(layer, seed):
    """Return a random layer of which some tensors arrive in part; and how many do."""
    rng = random.Random(seed)
    content = yaml.safe_load(layer.texts["layer.yaml"])
    changed = 0
    for name, tensor in (content.get("tensors") or {}).items():
        whole = f"int16 {name}[" in layer.texts["layer.lair"]
        whole |= f"int32 {name}[" in layer.texts["layer.lair"]
        ports = tensor.get("arrives")
        inner = _inner(rng, isl.Map(ports)) if isinstance(ports, str) else None
        if inner is not None:
            value = 0.0 if tensor.get("sparse") else rng.choice(VALUES[: -1 if whole else None])
            tensor |= {"arrives": str(inner), "otherwise": value}
            changed += 1
    text = yaml.safe_dump(content, sort_keys=False, width=10000)
    return dataclasses.replace(
        layer, texts={**layer.texts, "layer.yaml": text}, zeros=()
    ), changed


def _inner(rng, ports):
    """Return ports without the elements at some ends of their dimensions; None if that is all."""
    if not ports.domain().is_bounded():
        return None
    every = ports.domain()
    for k in range(every.dim(isl.dim_type.set)):
        low, high = (each(k).to_python() for each in (every.dim_min_val, every.dim_max_val))
        first, last = (rng.choice((0, 0, 1, 2)) for _ in range(2))
        ports = ports.lower_bound_val(isl.dim_type.in_, k, isl.Val(low + first))
        ports = ports.upper_bound_val(isl.dim_type.in_, k, isl.Val(high - last))
    return None if ports.is_empty() else ports.coalesce()
