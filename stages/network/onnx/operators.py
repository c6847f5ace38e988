"""Operators of ONNX as operations on volumes."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from onnx import TensorProto

from lairmake.stages.network.onnx.node import OnnxNode
from lairmake.stages.network.operators import copies, elementwise, windows
from lairmake.stages.network.operators.draft import Array, PaddedPiece, Shape
from lairmake.stages.network.operators.elementwise import (
    POWERS,
    SHARED,
    TRUE,
    KeyWindow,
    Operand,
    apply,
    of_channels,
    write_number,
)
from lairmake.stages.network.operators.windows import Windows

# --- Functions of elements ------------------------------------------------------------------------
#
# Source   ONNX, Operators.md: each is an expression of LAIR

PLAIN: Mapping[str, str] = {
    **SHARED,
    "And": "min({0}, {1})",
    "Equal": "equal({0}, {1})",
    "Greater": "less({1}, {0})",
    "GreaterOrEqual": "less_equal({1}, {0})",
    "HardSwish": "{0} * max(0.0, min(1.0, {0} * 0.16666666666666666 + 0.5))",
    "Less": "less({0}, {1})",
    "LessOrEqual": "less_equal({0}, {1})",
    "Mish": "{0} * tanh(log(1.0 + exp({0})))",
    "Not": "1.0 - {0}",
    "Or": "max({0}, {1})",
    "PRelu": "select(less({0}, 0.0), {1} * {0}, {0})",
    "Where": "select({0}, {1}, {2})",
    "Xor": "abs({0} - {1})",
}
"""Operators without attributes; true is 1, and false 0."""

FOLDED: Mapping[str, str] = {
    "Max": "max({0}, {1})", "Min": "min({0}, {1})", "Sum": "{0} + {1}", "Mean": "{0} + {1}",
}
"""Operators of any number of operands, applied two by two."""

SHAPED: Mapping[str, tuple[str, Mapping[str, float]]] = {
    "Elu": ("select(less({0}, 0.0), {alpha} * (exp(min({0}, 0.0)) - 1.0), {0})", {"alpha": 1.0}),
    "Celu": (
        "max({0}, 0.0) + min(0.0, {alpha} * (exp(min({0}, 0.0) / {alpha}) - 1.0))",
        {"alpha": 1.0},
    ),
    "HardSigmoid": ("max(0.0, min(1.0, {alpha} * {0} + {beta}))", {"alpha": 0.2, "beta": 0.5}),
    "LeakyRelu": ("select(less({0}, 0.0), {alpha} * {0}, {0})", {"alpha": 0.01}),
    "Selu": (
        "{gamma} * select(less({0}, 0.0), {alpha} * (exp(min({0}, 0.0)) - 1.0), {0})",
        {"alpha": 1.67326319217681884765625, "gamma": 1.05070102214813232421875},
    ),
    "ThresholdedRelu": ("select(less({alpha}, {0}), {0}, 0.0)", {"alpha": 1.0}),
    "Shrink": (
        "select(less({lambd}, {0}), {0} - {bias}, select(less({0}, -{lambd}), {0} + {bias}, 0.0))",
        {"lambd": 0.5, "bias": 0.0},
    ),
    "Swish": ("{0} * sigmoid({alpha} * {0})", {"alpha": 1.0}),
}
"""Operators with attributes, and their defaults."""

LARGEST = (65504.0, (2.0 - 2.0**-7) * 2.0**127, (2.0 - 2.0**-23) * 2.0**127)
"""The largest values of a float16, a bfloat16 and a float32."""

SQUARE_ROOT_OF_HALF = 0.7071067811865476
TANH_OF_GELU = (0.7978845608028654, 0.044715)


def plain(node: OnnxNode) -> None:
    """Add a function of elements without attributes."""
    _give(node, PLAIN[node.operator], [node.operand(k) for k in range(node.count)])


def folded(node: OnnxNode) -> None:
    """Add a function of any number of operands."""
    operands = [node.operand(k) for k in range(node.count)]
    template = "{0}"
    for k in range(1, len(operands)):
        template = FOLDED[node.operator].format(template, f"{{{k}}}")
    if node.operator == "Mean":
        template = f"({template}) / {write_number(len(operands))}"
    _give(node, template, operands)


def shaped(node: OnnxNode) -> None:
    """Add a function of elements with attributes."""
    template, defaults = SHAPED[node.operator]
    given = {name: write_number(node.attribute(name, value)) for name, value in defaults.items()}
    _give(node, template.format("{0}", **given), [node.operand(0)])


def clip(node: OnnxNode) -> None:
    """Add Clip, with the finite ones of its limits."""
    template, operands = "{0}", [node.operand(0)]
    for k, function, name in ((1, "max", "min"), (2, "min", "max")):
        limit = node.attribute(name)
        if limit is None and node.has(k):
            limit = node.operand(k)
        if limit is None or (not isinstance(limit, str) and _is_endless(limit)):
            continue
        template = f"{function}({template}, {{{len(operands)}}})"
        operands.append(limit)
    _give(node, template, operands)


def _is_endless(limit: float) -> bool:
    """Return whether a limit bounds no finite value of a type of floats."""
    return abs(limit) in LARGEST or abs(limit) >= LARGEST[-1]


def gelu(node: OnnxNode) -> None:
    """Add GELU, by the error function or its approximation."""
    x = [node.operand(0)]
    if node.attribute("approximate", "none") == "tanh":
        factor, cubic = (write_number(each) for each in TANH_OF_GELU)
        cube = f"{{0}} + {cubic} * ({{0}} * {{0}} * {{0}})"
        _give(node, f"0.5 * {{0}} * (1.0 + tanh({factor} * ({cube})))", x)
    else:
        root = write_number(SQUARE_ROOT_OF_HALF)
        _give(node, f"0.5 * {{0}} * (1.0 + erf({{0}} * {root}))", x)


def power(node: OnnxNode) -> None:
    """Add a power; small whole exponents are products."""
    base, exponent = node.operand(0), node.operand(1)
    if not isinstance(exponent, str) and exponent in POWERS:
        _give(node, POWERS[exponent], [base])
    else:
        _give(node, "pow({0}, {1})", [base, exponent])


def cast(node: OnnxNode) -> None:
    """Add Cast: to a truth from a number, else the same elements."""
    if node.attribute("to") == TensorProto.BOOL and node.type_of(0) != np.bool_:
        _give(node, TRUE, [node.operand(0)])
    else:
        node.alias()


def dropout(node: OnnxNode) -> None:
    """Add Dropout, which drops nothing; its mask is true."""
    node.alias()
    if len(node.results) > 1:
        node.give(node.draft.weigh(node.results[1], np.ones(node.shape_of_result(1))), 1)


def _give(node: OnnxNode, template: str, operands: Sequence[Operand]) -> None:
    node.give(apply(node.draft, node.wish, template, operands))


ARITHMETIC: Mapping[str, Callable[[OnnxNode], None]] = {
    **dict.fromkeys(PLAIN, plain), **dict.fromkeys(FOLDED, folded),
    **dict.fromkeys(SHAPED, shaped), "Clip": clip, "Gelu": gelu, "Pow": power, "Cast": cast,
    **{name: lambda node: node.alias() for name in ("Identity", "CastLike")}, "Dropout": dropout,
}

# --- Sums, reductions and normalisation -----------------------------------------------------------
#
# Source   ONNX, Operators.md

PER_CHANNEL = 21
"""The first opset whose group normalisation scales channels, not groups."""

NEW_SOFTMAX = 13
"""The first opset whose softmax is along one axis, not along all from one on."""


def product(node: OnnxNode) -> None:
    """Add MatMul."""
    node.give(elementwise.multiply(node.draft, node.wish, node.volume(0), node.volume(1)))


def general_product(node: OnnxNode) -> None:
    """Add Gemm: alpha A B + beta C."""
    turned = bool(node.attribute("transA", 0)), bool(node.attribute("transB", 0))
    alpha, beta = node.attribute("alpha", 1.0), node.attribute("beta", 1.0)
    has_bias = node.has(2) and beta != 0
    plain = alpha == 1 and not has_bias
    found = elementwise.multiply(
        node.draft, node.wish if plain else f"{node.wish}_sum", node.volume(0), node.volume(1),
        turned=turned,
    )
    if not plain:
        factor = "{0}" if alpha == 1 else "{1} * {0}"
        offset = "" if not has_bias else " + {2}" if beta == 1 else " + {3} * {2}"
        bias = node.operand(2) if has_bias else 0.0
        found = apply(node.draft, node.wish, factor + offset, [found, alpha, bias, beta])
    node.give(found)


def batch_normalisation(node: OnnxNode) -> None:
    """Add BatchNormalization with known statistics: a factor and an offset for each channel."""
    if node.attribute("training_mode", 0) or len(node.results) > 1:
        raise node.error("it is in training mode", "export the model for inference")
    small, x = node.attribute("epsilon", 1e-5), node.volume(0)
    numbers = range(1, 5)
    is_known = all(map(node.is_known, numbers))
    statistics: list[str | Array] = [
        node.known(k, "a statistic") if is_known else node.volume(k) for k in numbers
    ]
    node.give(elementwise.scale_batches(node.draft, node.wish, x, statistics, small))


def instance_normalisation(node: OnnxNode) -> None:
    """Add InstanceNormalization: over the places of each channel of each sample."""
    rank = len(node.shape)
    normal = elementwise.normalise(
        node.draft, f"{node.wish}_normal", node.volume(0), range(2, rank),
        node.attribute("epsilon", 1e-5),
    )
    by, to = (of_channels(node.volume(k)) for k in (1, 2))
    node.give(elementwise.scale(node.draft, node.wish, normal.result, by, to))


def group_normalisation(node: OnnxNode) -> None:
    """Add GroupNormalization: over the channels of a group, and all places."""
    draft, x, groups = node.draft, node.volume(0), node.attribute("num_groups")
    samples, channels, *places = node.shape
    per_channel = node.opset >= PER_CHANNEL
    shape = (samples, groups, channels // groups, *places)
    parted = copies.reshape(draft, f"{node.wish}_groups", x, shape)
    normal = elementwise.normalise(
        draft, f"{node.wish}_normal", parted, range(2, len(shape)),
        node.attribute("epsilon", 1e-5),
    )
    at = f"{channels // groups}*d1 + d2" if per_channel else "d1"
    by, to = (of_channels(node.volume(k), at) for k in (1, 2))
    scaled = elementwise.scale(draft, f"{node.wish}_scaled", normal.result, by, to)
    node.give(copies.reshape(draft, node.wish, scaled, node.shape))


def layer_normalisation(node: OnnxNode) -> None:
    """Add LayerNormalization or RMSNormalization: over all dimensions from `axis` on."""
    rank = len(node.shape)
    normal = elementwise.normalise(
        node.draft, f"{node.wish}_normal", node.volume(0),
        range(node.axis("axis", -1, rank), rank), node.attribute("epsilon", 1e-5),
        centred=node.operator == "LayerNormalization",
    )
    offset = node.operand(2) if node.has(2) else None
    node.give(elementwise.scale(node.draft, node.wish, normal.result, node.operand(1), offset))
    if len(node.results) > 1:
        assert normal.mean is not None
        node.give(normal.mean, 1)
    if len(node.results) > 2:
        inverse = apply(node.draft, node.results[2], "1.0 / {0}", [normal.deviation])
        node.give(inverse, 2)


def softmax(node: OnnxNode) -> None:
    """Add Softmax or LogSoftmax: along an axis, before opset 13 along all from one on."""
    rank, new = len(node.shape), node.opset >= NEW_SOFTMAX
    axis = node.axis("axis", -1 if new else 1, rank)
    axes = [axis] if new else range(axis, rank)
    log = node.operator == "LogSoftmax"
    node.give(elementwise.softmax(node.draft, node.wish, node.volume(0), axes, log))


REDUCTIONS: Mapping[str, tuple[str, str, str]] = {
    "ReduceSum": ("+=", "{0}", "{0}"), "ReduceMean": ("+=", "{0}", "{0} / {1}"),
    "ReduceMax": ("max=", "{0}", "{0}"), "ReduceMin": ("min=", "{0}", "{0}"),
    "ReduceProd": ("*=", "{0}", "{0}"), "ReduceL1": ("+=", "abs({0})", "{0}"),
    "ReduceL2": ("+=", "{0} * {0}", "sqrt({0})"),
    "ReduceSumSquare": ("+=", "{0} * {0}", "{0}"),
    "ReduceLogSum": ("+=", "{0}", "log({0})"),
}
"""The reduction, the reduced expression, and the result, of the reduced value and the count."""


def reduction(node: OnnxNode) -> None:
    """Add a reduction over axes; over all axes if none are given."""
    x, rank = node.volume(0), len(node.shape_of(0))
    axes = node.attribute("axes")
    if axes is None and node.has(1):
        axes = node.numbers(1, "the axes")
    if not axes and node.attribute("noop_with_empty_axes", 0):
        node.alias()
        return
    found = node.dimensions(axes or range(rank), rank)
    keep = bool(node.attribute("keepdims", 1))
    if node.operator == "ReduceLogSumExp":
        _log_sum_exp(node, x, found, keep)
        return
    operator, value, after = REDUCTIONS[node.operator]
    wish = node.wish if after == "{0}" else f"{node.wish}_sum"
    total = elementwise.reduce(node.draft, wish, x, found, operator, value, keep)
    if after != "{0}":
        number = float(math.prod(node.shape_of(0)[k] for k in found))
        total = apply(node.draft, node.wish, after, [total, number])
    node.give(total)


def _log_sum_exp(node: OnnxNode, x: str, axes: Sequence[int], keep: bool) -> None:
    """Add the logarithm of a sum of powers, computed relative to the largest one."""
    draft, wish = node.draft, node.wish
    largest = elementwise.reduce(draft, f"{wish}_max", x, axes, "max=")
    power = apply(draft, f"{wish}_exp", "exp({0} - {1})", [x, largest])
    total = elementwise.reduce(draft, f"{wish}_sum", power, axes, "+=")
    if keep:
        node.give(apply(draft, wish, "{0} + log({1})", [largest, total]))
        return
    found = apply(draft, f"{wish}_kept", "{0} + log({1})", [largest, total])
    node.give(copies.reshape(draft, wish, found, node.shape))


LAYERS: Mapping[str, Callable[[OnnxNode], None]] = {
    "MatMul": product, "Gemm": general_product,
    "BatchNormalization": batch_normalisation,
    "InstanceNormalization": instance_normalisation,
    "GroupNormalization": group_normalisation, "LayerNormalization": layer_normalisation,
    "RMSNormalization": layer_normalisation, "Softmax": softmax, "LogSoftmax": softmax,
    "ReduceLogSumExp": reduction, **dict.fromkeys(REDUCTIONS, reduction),
}

# --- Attention and rotary positions ---------------------------------------------------------------
#
# Source   ONNX, Operators.md: Attention and RotaryEmbedding, of opset 23 and later

MASK, PAST, COUNT = 3, 4, 6
"""Optional operands of attention: a mask, past keys and values, and the count of valid keys."""


def attention(node: OnnxNode) -> None:
    """Add Attention, with new keys and values behind the past ones."""
    draft, wish = node.draft, node.wish
    is_flat = len(node.shape_of(0)) == 3
    query, key, value = (
        _with_heads(node, k, name) for k, name in enumerate(("queries", "keys", "values"))
    )
    before = 0
    if node.has(PAST):
        key, value = (
            copies.concatenate(draft, f"{wish}_all_{name}", [node.volume(PAST + k), each], 2)
            for k, (name, each) in enumerate((("keys", key), ("values", value)))
        )
        before = node.shape_of(PAST)[2]
    given = {1: key, 2: value}
    heads, size = draft.shapes[query][1], draft.shapes[query][3]
    key, value = (
        elementwise.repeat_heads(draft, f"{wish}_repeated_{name}", each, heads)
        for name, each in (("keys", key), ("values", value))
    )
    found = elementwise.attend(
        draft, f"{wish}_heads" if is_flat else wish, query, key, value,
        scale=node.attribute("scale") or 1 / math.sqrt(size), cap=node.attribute("softcap", 0.0),
        seen=_seen(node, before, draft.shapes[query][2], draft.shapes[key][2]),
        is_masked=3 in node.places,
    )
    given[0] = elementwise.join_heads(draft, wish, found.result) if is_flat else found.result
    modes = (found.scaled, found.capped, found.masked, found.shares)
    given[3] = modes[node.attribute("qk_matmul_output_mode", 0)]
    for k, place in enumerate(node.places):
        node.give(given[place], k)


def _with_heads(node: OnnxNode, k: int, name: str) -> str:
    """Return an operand as [sample, head, place, k]."""
    if len(node.shape_of(k)) == 4:
        return node.volume(k)
    heads = node.attribute("kv_num_heads" if k else "q_num_heads", 0)
    if not heads or node.shape_of(k)[2] % heads:
        raise node.error(f"{node.shape_of(k)[2]} elements are no {heads} heads")
    return elementwise.split_heads(node.draft, f"{node.wish}_{name}", node.volume(k), heads)


def _seen(node: OnnxNode, before: int, queries: int, keys: int) -> KeyWindow:
    """Return the keys that each query sees; the first `before` of all `keys` are past ones."""
    left, right = (node.attribute(f"{side}_window_size", -1) for side in ("left", "right"))
    behind = [0] * bool(node.attribute("is_causal", 0)) + [right] * (right >= 0)
    after = min(behind, default=None)
    mask = _mask(node, keys) if node.has(MASK) else None
    is_truth = mask is not None and node.type_of(MASK) == np.bool_
    truths = [mask] if mask is not None and is_truth else []
    if node.has(COUNT):
        counted = node.known(COUNT, "how many keys count").reshape(-1, 1, 1, 1)
        place = np.arange(queries)[:, None] + (before or counted - queries)
        key = np.arange(keys)
        holds = np.broadcast_to(key < counted, (len(counted), 1, queries, keys)).copy()
        holds &= True if after is None else key <= place + after
        holds &= True if left < 0 else key >= place - left
        truths.append(node.draft.weigh(f"{node.wish}_counted", holds))
        left, after = -1, None
    return KeyWindow(
        first=before, before=left if left >= 0 else None, after=after, truths=truths,
        added=[] if mask is None or is_truth else [mask],
    )


def _mask(node: OnnxNode, keys: int) -> str:
    """Return a mask for `keys` keys; keys beyond the mask are not seen."""
    mask = node.volume(MASK)
    shape = (*node.draft.shapes[mask][:-1], keys)
    if not 1 < node.draft.shapes[mask][-1] < keys:
        return mask
    none = 0.0 if node.type_of(MASK) == np.bool_ else float("-inf")
    return copies.pad(node.draft, f"{node.wish}_mask", mask, shape, [0] * len(shape), none)


def rotary_embedding(node: OnnxNode) -> None:
    """Add RotaryEmbedding, with cosines and sines of all positions, or of a table of positions."""
    draft, wish = node.draft, node.wish
    is_flat = len(node.shape_of(0)) == 3
    x = node.volume(0)
    if is_flat:
        heads = node.attribute("num_heads", 0)
        if not heads or node.shape_of(0)[2] % heads:
            raise node.error(f"{node.shape_of(0)[2]} elements are no {heads} heads")
        x = elementwise.split_heads(draft, f"{wish}_heads", x, heads)
    cosine, sine = (_angles(node, k, name) for k, name in ((1, "cosine"), (2, "sine")))
    pairs = (node.attribute("rotary_embedding_dim", 0) or draft.shapes[x][3]) // 2
    if any(draft.shapes[each][-1] != pairs for each in (cosine, sine)):
        raise node.error(f"cosines and sines are not of {pairs} pairs")
    result = elementwise.rotate(
        draft, f"{wish}_rotated" if is_flat else wish, x, cosine, sine,
        interleaved=bool(node.attribute("interleaved", 0)),
    )
    node.give(elementwise.join_heads(draft, wish, result) if is_flat else result)


def _angles(node: OnnxNode, k: int, name: str) -> str:
    """Return the cosines or sines as [sample, place, pair]."""
    if not node.has(3):
        return node.volume(k)
    at = node.known(3, "the position")
    if node.is_known(k):
        return node.draft.weigh(f"{node.wish}_{name}", node.known(k, name)[at])
    return copies.take(node.draft, f"{node.wish}_{name}", node.volume(k), at, 0)


ATTENTION: Mapping[str, Callable[[OnnxNode], None]] = {
    "Attention": attention, "RotaryEmbedding": rotary_embedding,
}

# --- Moves of elements ----------------------------------------------------------------------------
#
# Source   ONNX, Operators.md

def transpose(node: OnnxNode) -> None:
    """Add Transpose: with all dimensions reversed if none are given."""
    rank = len(node.shape)
    order = node.attribute("perm", list(reversed(range(rank))))
    node.give(copies.transpose(node.draft, node.wish, node.volume(0), order))


def reshape(node: OnnxNode) -> None:
    """Add Reshape, Flatten, Squeeze or Unsqueeze: the same elements in another shape."""
    node.give(copies.reshape(node.draft, node.wish, node.volume(0), node.shape))


def cut(node: OnnxNode) -> None:
    """Add Slice."""
    sizes = node.shape_of(0)
    axes, starts, steps = _slices(node, len(sizes))
    first, by = [0] * len(sizes), [1] * len(sizes)
    for axis, start, step in zip(axes, starts, steps, strict=True):
        size = sizes[axis]
        start = start + size if start < 0 else start
        first[axis] = min(max(start, 0), size - 1 if step < 0 else size)
        by[axis] = step
    node.give(copies.cut(node.draft, node.wish, node.volume(0), first, by, node.shape))


def _slices(node: OnnxNode, rank: int) -> tuple[list[int], list[int], list[int]]:
    """Return the axes that are cut, their starts, and their steps."""
    starts = node.attribute("starts")
    axes, steps = node.attribute("axes"), None
    if starts is None:
        starts = node.numbers(1, "the starts")
        axes = node.numbers(3, "the axes") if node.has(3) else None
        steps = node.numbers(4, "the steps") if node.has(4) else None
    axes = list(range(len(starts))) if axes is None else axes
    found = [node.dimension(int(axis), rank) for axis in axes]
    return found, list(starts), [1] * len(starts) if steps is None else steps


def split(node: OnnxNode) -> None:
    """Add Split: slices one after another."""
    rank, start = len(node.shape_of(0)), 0
    axis, x = node.axis("axis", 0, rank), node.volume(0)
    for k, name in enumerate(node.results):
        shape = node.shape_of_result(k)
        first = [start if n == axis else 0 for n in range(rank)]
        node.give(copies.cut(node.draft, name, x, first, [1] * rank, shape), k)
        start += shape[axis]


def concatenate(node: OnnxNode) -> None:
    """Add Concat."""
    axis = node.axis("axis", 1, len(node.shape))
    volumes = [node.volume(k) for k in range(node.count) if node.shape_of(k)[axis]]
    node.give(copies.concatenate(node.draft, node.wish, volumes, axis))


def pad(node: OnnxNode) -> None:
    """Add Pad: with a number, or in the mode `reflect`, `edge` or `wrap`."""
    rank, x = len(node.shape), node.volume(0)
    pads = node.attribute("pads")
    pads = node.numbers(1, "what is put around") if pads is None else pads
    axes = node.numbers(3, "the axes") if node.has(3) else range(rank)
    low = [0] * rank
    for n, axis in enumerate(axes):
        low[node.dimension(int(axis), rank)] = pads[n]
    mode = node.attribute("mode", "constant")
    if mode == "constant":
        value = node.attribute("value", 0.0)
        if node.has(2):
            value = float(node.known(2, "the value around").ravel()[0])
        node.give(copies.pad(node.draft, node.wish, x, node.shape, low, value))
    else:
        node.give(copies.mirror(node.draft, node.wish, x, node.shape, low, mode))


def expand(node: OnnxNode) -> None:
    """Add Expand."""
    node.give(copies.expand(node.draft, node.wish, node.volume(0), node.shape))


def tile(node: OnnxNode) -> None:
    """Add Tile."""
    times = node.numbers(1, "how often")
    node.give(copies.repeat(node.draft, node.wish, node.volume(0), times))


def to_space(node: OnnxNode) -> None:
    """Add DepthToSpace: channels become places of blocks."""
    size, channels = node.attribute("blocksize"), node.shape[1]
    first = node.attribute("mode", "DCR") == "DCR"
    within = f"({size}*(d2 mod {size}) + d3 mod {size})"
    channel = f"{channels}*{within} + d1" if first else f"{size * size}*d1 + {within}"
    at = ["d0", channel, f"floor(d2/{size})", f"floor(d3/{size})"]
    node.give(_moved(node, at))


def to_depth(node: OnnxNode) -> None:
    """Add SpaceToDepth: places of blocks become channels."""
    size, channels = node.attribute("blocksize"), node.shape_of(0)[1]
    if node.attribute("mode", "DCR") == "DCR":
        block, channel = f"floor(d1/{channels})", f"d1 mod {channels}"
    else:
        block, channel = f"(d1 mod {size * size})", f"floor(d1/{size * size})"
    at = [
        "d0", channel, f"{size}*d2 + floor({block}/{size})", f"{size}*d3 + ({block}) mod {size}"
    ]
    node.give(_moved(node, at))


def _moved(node: OnnxNode, at: Sequence[str]) -> str:
    piece = PaddedPiece(volume=node.volume(0), at=at)
    return node.draft.copy(node.wish, node.shape, [piece])


def gather(node: OnnxNode) -> None:
    """Add Gather with known indices."""
    indices = node.known(1, "the index")
    axis = node.axis("axis", 0, len(node.shape_of(0)))
    if np.any((indices < -node.shape_of(0)[axis]) | (indices >= node.shape_of(0)[axis])):
        raise node.error(f"an index is beyond {node.shape_of(0)[axis]} elements")
    node.give(copies.take(node.draft, node.wish, node.volume(0), indices, axis))


SHAPES: Mapping[str, Callable[[OnnxNode], None]] = {
    "Concat": concatenate, "DepthToSpace": to_space, "Expand": expand, "Gather": gather,
    "Pad": pad, "Slice": cut, "SpaceToDepth": to_depth, "Split": split, "Tile": tile,
    "Transpose": transpose,
    **dict.fromkeys(("Flatten", "Reshape", "Squeeze", "Unsqueeze"), reshape),
}

# --- Convolutions and poolings --------------------------------------------------------------------
#
# Source   ONNX, Operators.md

def convolution(node: OnnxNode) -> None:
    """Add Conv: a sum over windows and channels, and a bias."""
    x, w = node.volume(0), node.volume(1)
    around = _windows(node, node.shape_of(1)[2:])
    wish = node.wish if not node.has(2) else f"{node.wish}_sum"
    filters = windows.outer_first(node.draft, w, node.attribute("group", 1))
    found = windows.convolve(node.draft, wish, x, filters, around)
    _biased(node, found, 2)


def transposed(node: OnnxNode) -> None:
    """Add ConvTranspose: each element of the operand adds a window to the result."""
    x, w = node.volume(0), node.volume(1)
    sizes, places = node.shape_of(1)[2:], node.shape[2:]
    strides, dilations = _steps(node, "strides", sizes), _steps(node, "dilations", sizes)
    before = _outside(node, sizes, strides, dilations, places)
    around = Windows(
        sizes=sizes, strides=strides, dilations=dilations, before=before, after=before
    )
    wish = node.wish if not node.has(2) else f"{node.wish}_sum"
    groups = node.attribute("group", 1)
    _biased(node, windows.spread(node.draft, wish, x, w, around, groups, places), 2)


def _outside(
    node: OnnxNode, sizes: Shape, strides: Shape, dilations: Shape, places: Shape
) -> Shape:
    """Return the places at the start of a transposed convolution that are left out."""
    further = node.attribute("output_padding", [0] * len(sizes))
    own = node.shape_of(0)[2:]
    reach = [
        (n - 1) * s + (k - 1) * d + 1 + f
        for n, k, s, d, f in zip(own, sizes, strides, dilations, further, strict=True)
    ]
    kind = node.attribute("auto_pad", "NOTSET")
    if kind == "NOTSET" and "output_shape" not in _named(node):
        return tuple(node.attribute("pads", [0] * 2 * len(sizes))[: len(sizes)])
    left_out = [max(r - p, 0) for r, p in zip(reach, places, strict=True)]
    return tuple(-(-n // 2) if kind != "SAME_UPPER" else n // 2 for n in left_out)


def _named(node: OnnxNode) -> set[str]:
    return {name for name in ("output_shape",) if node.attribute(name) is not None}


def _biased(node: OnnxNode, found: str, k: int) -> None:
    """Add a result with a bias for each channel, if the node has one."""
    if not node.has(k):
        node.give(found)
        return
    bias = of_channels(node.volume(k))
    node.give(apply(node.draft, node.wish, "{0} + {1}", [found, bias]))


def _windows(node: OnnxNode, sizes: Shape) -> Windows:
    """Return the windows of a node, with padding from its attributes or from the sizes."""
    strides, dilations = _steps(node, "strides", sizes), _steps(node, "dilations", sizes)
    before, after = _around(node, sizes, strides, dilations)
    return Windows(
        sizes=tuple(sizes), strides=strides, dilations=dilations, before=before, after=after
    )


def _steps(node: OnnxNode, name: str, sizes: Sequence[int]) -> Shape:
    return tuple(node.attribute(name, [1] * len(sizes)))


def _around(
    node: OnnxNode, sizes: Shape, strides: Shape, dilations: Shape
) -> tuple[Shape, Shape]:
    """Return the padding before and after the places of a volume."""
    kind, places = node.attribute("auto_pad", "NOTSET"), node.shape_of(0)[2:]
    pads = list(node.attribute("pads", [0] * 2 * len(sizes)))
    if kind == "VALID":
        pads = [0] * len(pads)
    if kind in ("NOTSET", "VALID"):
        return tuple(pads[: len(sizes)]), tuple(pads[len(sizes) :])
    less, more = windows.find_same(places, sizes, strides, dilations)
    return (less, more) if kind == "SAME_UPPER" else (more, less)


def pooling(node: OnnxNode) -> None:
    """Add MaxPool, AveragePool or LpPool of windows."""
    if len(node.results) > 1:
        raise node.error("the places of the largest elements are asked for", "leave them out")
    exact = _windows(node, tuple(node.attribute("kernel_shape")))
    reached = _reach(node, exact) if node.attribute("ceil_mode", 0) else exact
    x = node.volume(0)
    if node.operator == "MaxPool":
        node.give(windows.pool(node.draft, node.wish, x, reached, "max="))
        return
    nothing = (0,) * len(exact.sizes)
    counts = node.attribute("count_include_pad", 0)
    counted = exact if counts else dataclasses.replace(exact, before=nothing, after=nothing)
    node.give(windows.average(node.draft, node.wish, x, reached, counted))


def _reach(node: OnnxNode, exact: Windows) -> Windows:
    """Return windows with padding up to the end of the last window that begins within.

    This applies where the number of windows is rounded up; padding before the places counts as
    within.
    """
    after = []
    for n, k, s, d, b, a in zip(
        node.shape_of(0)[2:], exact.sizes, exact.strides, exact.dilations, exact.before,
        exact.after, strict=True,
    ):
        reach = (k - 1) * d + 1
        count = min(-(-(n + b + a - reach) // s), (n + b - 1) // s) + 1
        after.append(max((count - 1) * s + reach - b - n, 0))
    return dataclasses.replace(exact, after=tuple(after))


def global_pooling(node: OnnxNode) -> None:
    """Add GlobalAveragePool or GlobalMaxPool: over all places."""
    x, axes = node.volume(0), range(2, len(node.shape))
    if node.operator == "GlobalMaxPool":
        node.give(elementwise.reduce(node.draft, node.wish, x, axes, "max="))
    else:
        node.give(elementwise.mean(node.draft, node.wish, x, axes))


CONVOLUTIONS: Mapping[str, Callable[[OnnxNode], None]] = {
    "Conv": convolution, "ConvTranspose": transposed, "MaxPool": pooling,
    "AveragePool": pooling, "GlobalAveragePool": global_pooling,
    "GlobalMaxPool": global_pooling,
}
