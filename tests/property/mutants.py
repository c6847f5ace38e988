"""Folders in which one file was damaged, from seeds: what a user mistypes, or a stranger sends."""

from __future__ import annotations

import io
import random
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
WORDS = [
    "{", "}", "[", "]", "(", ")", ":", ";", ",", "->", "exists", "mod", "floor(", "min(", "and",
    "or", "not", "true", "infty", "NaN", "//", "/0", "*", "-", "9" * 40, "-1", "0", "1e400",
    "0x7F800000", "é", "\x00", "\t", "\r", "\ufeff", "&a", "*a", "&a [*a]", "<<: *a",
    "!!python/name:os.system", "|", "'", '"', "#", "%", "@", "?", "{ PE[-1, 0] }", "../../x",
    "/etc/passwd", "PE", "null", "[]", "{}", "all (i) in (0)", "lair", "graph", "max=",
    "tensor<?xf32>", "index", "f64", "sparse: true", "2147483648", "-32768", "next: y",
    "pin: [hulls.isl]", "machine: {profile: wse2, lanes: -1}",
]
TEXTS = ("hulls.isl", "adapted.isl", "instances.isl", "simd.yaml", "tasks.yaml")
POOL = """\
func.func @pool(%x: tensor<6x6xf32>) -> tensor<5x6xf32> {
  %edge = arith.constant 2.0 : f32
  %p = tensor.pad %x low[1, 0] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %edge : f32
  } : tensor<6x6xf32> to tensor<7x7xf32>
  %s = tensor.extract_slice %p[0, 1] [5, 6] [1, 1] : tensor<7x7xf32> to tensor<5x6xf32>
  %y = arith.mulf %s, %s : tensor<5x6xf32>
  return %y : tensor<5x6xf32>
}
"""


def _array(*shape: int) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.arange(np.prod(shape)).reshape(shape).astype(np.float16) % 3)
    return buffer.getvalue()


def _shipped(*names: str) -> dict[str, bytes]:
    files = {}
    for name in names:
        files[name.partition("/")[2]] = (ROOT / "projects" / name).read_bytes()
    return files


FOLDERS = {
    "layer": _shipped("fc/fc.lair", "fc/layer.yaml")
    | {"inputs/x.npy": _array(16), "inputs/W.npy": _array(32, 16)},
    "graph": _shipped("residual/residual.lair", "residual/layer.yaml"),
    "network": _shipped(
        "mlp/network.yaml", "mlp/first/first.lair", "mlp/first/layer.yaml", "mlp/relu/relu.lair",
        "mlp/relu/layer.yaml", "mlp/last/last.lair", "mlp/last/layer.yaml",
    ),
    "kernel": {"pool.mlir": POOL.encode(), "kernel.yaml": b"facts: []\nmachine: wse2\n"},
    "machine": _shipped("fc/fc.lair", "fc/layer.yaml")
    | {"mine.yaml": (ROOT / "stages/machine/profiles/wse2.yaml").read_bytes()},
    "settings": {"lairmake.yaml": b"store: {url: kept, read_only: true}\n"},
    "text": {name: (ROOT / "cache/fc" / name).read_bytes() for name in TEXTS},
    "pinned": _shipped("fc/fc.lair", "fc/layer.yaml")
    | {f"cache/{name}": (ROOT / "cache/fc" / name).read_bytes() for name in TEXTS},
}
FOLDERS["pinned"]["layer.yaml"] += f"pin: [{', '.join(TEXTS)}]\n".encode()
FOLDERS["machine"]["layer.yaml"] = FOLDERS["machine"]["layer.yaml"].replace(b"wse2", b"mine.yaml")


def write_mutant(seed: int, folder: Path) -> tuple[str, str]:
    """Write the folder of a seed; returns its kind, and the name of the file that is damaged."""
    choose = random.Random(seed)
    kind = choose.choice(sorted(FOLDERS))
    files = dict(FOLDERS[kind])
    name = choose.choice(sorted(files))
    for _ in range(choose.choice([1, 1, 1, 2, 4])):
        files[name] = damage(files[name], choose)
    for each, content in files.items():
        path = folder / each
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return kind, name


def damage(content: bytes, choose: random.Random) -> bytes:
    """Return a text with one thing in it that is wrong."""
    way = choose.choice([_flipped, _cut, _lines, _lines, _spliced, _spliced, _spliced, _number])
    return way(content, choose)


def _flipped(content: bytes, choose: random.Random) -> bytes:
    at = choose.randrange(max(1, len(content)))
    byte = bytes([content[at] ^ 1 << choose.randrange(8)]) if content else b""
    return content[:at] + byte + content[at + 1 :]


def _cut(content: bytes, choose: random.Random) -> bytes:
    return content[: choose.randrange(len(content) + 1)]


def _lines(content: bytes, choose: random.Random) -> bytes:
    """Delete a line, write it twice, or swap two."""
    lines = content.splitlines(keepends=True) or [b""]
    one, other = (choose.randrange(len(lines)) for _ in range(2))
    way = choose.randrange(3)
    if way == 0:
        del lines[one]
    elif way == 1:
        lines.insert(other, lines[one])
    else:
        lines[one], lines[other] = lines[other], lines[one]
    return b"".join(lines)


def _spliced(content: bytes, choose: random.Random) -> bytes:
    word = choose.choice(WORDS).encode() * choose.choice([1, 1, 1, 3, 1000])
    at = choose.randrange(len(content) + 1)
    return content[:at] + word + content[at + choose.choice([0, 0, 1, len(word)]) :]


def _number(content: bytes, choose: random.Random) -> bytes:
    """Put another number in place of one."""
    places = [k for k, byte in enumerate(content) if 48 <= byte < 58]
    if not places:
        return content
    at = choose.choice(places)
    number = choose.choice([b"0", b"-1", b"3", b"17", b"1000000", b"9" * 40, b"0.5"])
    return content[:at] + number + content[at + 1 :]
