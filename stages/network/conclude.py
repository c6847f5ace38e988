"""Put the results of the parts of a network together, and compare the whole with NumPy.

Paper    V Sec. 6
Reads    network.yaml, */layer.yaml, */*.lair, */inputs/*, crossings.yaml,
         */build/results.json, */build/outputs/*.npy, build/fabric.json
Writes   build/results.json
Assumes  every part was simulated with what the parts before it gave.
Ensures  the same inputs give the same bytes; outputs of the network are compared with those of
         NumPy from its inputs on.
"""

from __future__ import annotations

import json
import typing
from collections.abc import Iterator, Sequence

import numpy as np

from lairmake.stages.mapping.network_yaml import (
    Crossing,
    End,
    Network,
    describe_network,
    read_network_file,
)
from lairmake.stages.network.maps import carry, read_moves
from lairmake.stages.reference.data import as_sent, input_samples, stack_samples
from lairmake.stages.reference.evaluate import (
    Arrays,
    describe_parts,
    evaluate_all,
    find_largest_error,
    is_same,
)

if typing.TYPE_CHECKING:
    from lairmake.stages.mapping.inputs import Inputs, LayerInputs

READS = (
    "network.yaml: parts, tensors, run",
    "*/layer.yaml: *",
    "*/*.lair",
    "*/inputs/*",
    "crossings.yaml",
    "*/build/results.json",
    "*/build/outputs/*.npy",
    "build/fabric.json",
)
WRITES = ("build/results.json",)
Description = dict[str, typing.Any]


def run(inputs: Inputs) -> dict[str, str]:
    """Return build/results.json of the network."""
    network = describe_network(inputs.file("network.yaml", read_network_file))
    parts = {p: json.loads(inputs.part(p).text("build/results.json")) for p in network.parts}
    texts = {part: _texts(inputs.part(part)) for part in parts}
    results = {
        "parts": describe_parts(parts, texts),
        "crossings": inputs.yaml("crossings.yaml"),
        "one_after_another": {v: _longest(network, parts, v) for v in ("simd", "loops")},
        "data": dict(_origins(network, parts)),
        "check": _checks(inputs, network, parts),
    }
    if network.is_whole:
        results["fabric"] = json.loads(inputs.text("build/fabric.json"))
    return {"build/results.json": json.dumps(results, indent=2) + "\n"}


def _texts(part: LayerInputs) -> tuple[str, ...]:
    """Return the texts that define a part as a layer."""
    return (part.mapping().says, *map(part.text, part.names("*.lair")))


def _origins(network: Network, parts: Description) -> Iterator[tuple[str, str]]:
    """Yield the origins of the values of each input of the network, without crossings."""
    crossing = {str(each.to) for each in network.crossings}
    for part, results in parts.items():
        for tensor, origin in results["data"].items():
            if str(End(part=part, tensor=tensor)) not in crossing:
                yield f"{part}.{tensor}", origin


def _longest(network: Network, parts: Description, variant: str) -> int:
    """Return the cycles until the last part ends, if each part starts when those before it ended.

    Parts that do not wait for each other run at once. The way from part to part is not counted.
    """
    end: dict[str, int] = {}
    for part in network.parts:
        before = [
            end[each.end.part] for c in network.crossings if c.to.part == part for each in c.given
        ]
        end[part] = max(before, default=0) + parts[part]["cycles"][variant]
    return max(end.values())


def _checks(inputs: Inputs, network: Network, parts: Description) -> Description:
    """Return comparisons of all outputs that go to no other part with NumPy's evaluation.

    Where every part is exact they must agree bit for bit (-0 equals 0). Otherwise each part is
    within its own bound. The effect of errors of one part on the next has no bound, and is only
    reported.
    """
    expected = _evaluate(inputs, network, inputs.yaml("crossings.yaml"))
    exact = all(check["exact"] for part in parts.values() for check in part["check"].values())
    right = all(check["right"] for part in parts.values() for check in part["check"].values())
    crossing = {str(each.end) for c in network.crossings for each in c.given}
    checks = {}
    for end, value in _outputs(inputs, network, expected):
        if str(end) in crossing:
            continue
        given = inputs.part(end.part).array(f"build/outputs/{end.tensor}.npy")
        same = is_same(given, value)
        checks[str(end)] = {
            "exact": exact, "right": right and (same or not exact),
            "max_abs_error": find_largest_error(given, value),
        }
    return checks


def _outputs(
    inputs: Inputs, network: Network, expected: dict[str, list[Arrays]]
) -> Iterator[tuple[End, np.ndarray]]:
    """Yield every output as its part saves it: one that leaves has an array for each invocation."""
    for name in network.parts:
        part = inputs.part(name)
        tensors = part.mapping().tensors
        for output in part.lair().outputs:
            values = [each[output.name] for each in expected[name]]
            leaves = output.name in tensors and tensors[output.name].leaves is not None
            last = values if leaves else values[-1:]
            yield End(part=name, tensor=output.name), stack_samples(last)


def _evaluate(
    inputs: Inputs, network: Network, described: Description
) -> dict[str, list[Arrays]]:
    """Return all tensors of every part, in each invocation, computed from the network's inputs."""
    found: dict[str, list[Arrays]] = {}
    for name in network.parts:
        part = inputs.part(name)
        layer, mapping = part.lair(), part.mapping()
        given = input_samples(mapping, layer, part.arrays())
        sparse = [name for name, tensor in mapping.tensors.items() if tensor.sparse]
        taken = {
            c.to.tensor: _taken(inputs, c, found, described[str(c.to)])
            for c in network.crossings if c.to.part == name
        }
        samples = [
            {**each, **{tensor: values[n % len(values)] for tensor, values in taken.items()}}
            for n, each in enumerate(given)
        ]
        found[name] = evaluate_all(layer, as_sent(samples, sparse))
    return found


def _taken(
    inputs: Inputs, crossing: Crossing, found: dict[str, list[Arrays]], described: Description
) -> Sequence[np.ndarray]:
    """Return an input that comes from other parts, in each invocation; in memory, the last."""
    in_memory = described.get("by", described.get("of", [{}])[0].get("by")) == "memory"
    last = slice(-1, None) if in_memory else slice(None)
    values = [[v[each.end.tensor] for v in found[each.end.part][last]] for each in crossing.given]
    if crossing.is_whole:
        return values[0]
    part = inputs.part(crossing.to.part)
    tensor = part.lair().tensors[crossing.to.tensor]
    said = part.mapping().tensors.get(tensor.name)
    otherwise = 0.0 if said is None or said.otherwise is None else said.otherwise
    moves = [
        read_moves(
            each.map, each.end, inputs.part(each.end.part).lair().tensors[each.end.tensor],
            crossing.to, tensor,
        )
        for each in crossing.given
    ]
    return list(carry(tensor, otherwise, list(zip(moves, map(np.stack, values), strict=True))))
