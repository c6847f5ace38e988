"""Digests of all that eleven folders write, compared with those of an earlier revision.

    python -m tests.golden write      writes them into tests/golden/house.sha256
    python -m tests.golden            compares: what differs, is missing or is new, and exits 1

While code moves, what it writes stays. Both read what lies below cache/ and projects/: build it
before. Pages are left out: they have the code of the browser in them.
"""

import hashlib
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (
    "fc", "conv1d", "conv2d", "pointwise", "listing1", "krnl0_tiled", "lenet", "mlp", "cg", "ising",
    "heat",
)
SAVED = Path(__file__).with_name("house.sha256")
PAGE = "report.html"


def find_digests():
    """Return the digest of each file that stages wrote, by its path from the root."""
    tops = [ROOT / "cache" / name for name in FOLDERS]
    tops += [ROOT / "projects" / name for name in FOLDERS]
    files = (path for top in tops for path in top.rglob("*") if path.is_file())
    names = {path.relative_to(ROOT).as_posix(): path for path in files if path.name != PAGE}
    written = {n: p for n, p in names.items() if n.startswith("cache/") or "/build/" in n}
    return {n: hashlib.sha256(p.read_bytes()).hexdigest() for n, p in sorted(written.items())}


def main(words):
    """Write the digests, or compare with those that were written; return the exit code."""
    found = find_digests()
    if words == ["write"]:
        SAVED.write_text("".join(f"{digest}  {name}\n" for name, digest in found.items()))
        print(f"{len(found)} files")
        return 0
    saved = dict(reversed(line.split("  ")) for line in SAVED.read_text().splitlines())
    for name in sorted(saved.keys() | found.keys()):
        if saved.get(name) != found.get(name):
            what = "missing" if name not in found else "new" if name not in saved else "differs"
            print(f"{what}: {name}")
    print(f"{sum(saved[n] == found.get(n) for n in saved)} of {len(saved)} files are the same")
    return int(saved != found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
