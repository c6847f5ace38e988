"""Operators of ONNX for transformers: attention, and positions as rotations.

Source   ONNX, Operators.md: Attention and RotaryEmbedding, of opset 23 and later
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from lairmake.stages.network.onnx.node import Node
from lairmake.stages.network.operators import copies, elementwise
from lairmake.stages.network.operators.elementwise import Seen

MASK, PAST, COUNT = 3, 4, 6
"""The operands of attention that may be left out: a mask, keys and values of before, and how many
keys of each sample count."""


def attention(node: Node) -> None:
    """Add Attention, with the keys and values that follow those of before."""
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


def _with_heads(node: Node, k: int, name: str) -> str:
    """Return an operand as [sample, head, place, k]."""
    if len(node.shape_of(k)) == 4:
        return node.volume(k)
    heads = node.attribute("kv_num_heads" if k else "q_num_heads", 0)
    if not heads or node.shape_of(k)[2] % heads:
        raise node.error(f"{node.shape_of(k)[2]} elements are no {heads} heads")
    return elementwise.split_heads(node.draft, f"{node.wish}_{name}", node.volume(k), heads)


def _seen(node: Node, before: int, queries: int, keys: int) -> Seen:
    """Return which keys each query sees, of so many, some of them of before."""
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
    return Seen(
        first=before, before=left if left >= 0 else None, after=after, truths=truths,
        added=[] if mask is None or is_truth else [mask],
    )


def _mask(node: Node, keys: int) -> str:
    """Return a mask for so many keys; those that it does not reach are not seen."""
    mask = node.volume(MASK)
    shape = (*node.draft.shapes[mask][:-1], keys)
    if not 1 < node.draft.shapes[mask][-1] < keys:
        return mask
    none = 0.0 if node.type_of(MASK) == np.bool_ else float("-inf")
    return copies.pad(node.draft, f"{node.wish}_mask", mask, shape, [0] * len(shape), none)


def rotary_embedding(node: Node) -> None:
    """Add RotaryEmbedding, with cosines and sines of all positions, or of those of a table."""
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


def _angles(node: Node, k: int, name: str) -> str:
    """Return the cosines or sines as [sample, place, pair]."""
    if not node.has(3):
        return node.volume(k)
    at = node.known(3, "the position")
    if node.is_known(k):
        return node.draft.weigh(f"{node.wish}_{name}", node.known(k, name)[at])
    return copies.take(node.draft, f"{node.wish}_{name}", node.volume(k), at, 0)


ATTENTION: Mapping[str, Callable[[Node], None]] = {
    "Attention": attention, "RotaryEmbedding": rotary_embedding,
}
