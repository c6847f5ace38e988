"""The command `doit cache`: size and check of the store, and how to make it smaller."""

from __future__ import annotations

import re
from typing import Any

from lairmake.stages.diagnose import UserError
from lairmake.stages.make.doit.commands.command import JSON, LayerCommand, Options, print_json
from lairmake.stages.make.doit.commands.inert import option
from lairmake.stages.make.doit.session import Session
from lairmake.stages.make.store import state
from lairmake.stages.make.store.shelf import FolderShelf, Shelf
from lairmake.stages.make.store.state_folder import state_folder
from lairmake.stages.make.store.store import store_of
from lairmake.stages.make.store.upkeep import sizes, sweep, verify

MAX_SIZE = option(
    "max-size",
    "gc: how much may stay, 500M or 2G; without it only what no entry names goes", default="",
)
SHARED = option(
    "shared", "look after the second store, that workspaces share, instead of the local one",
)
SIZE = re.compile(r"(\d+(?:\.\d+)?)([kmgt]?)(?:i?b)?", re.IGNORECASE)
UNITS = "kmgt"
ACTIONS = ("stats", "verify", "gc")


class Cache(LayerCommand):
    """Look after the store."""

    name = "cache"
    doc_purpose = "say what the store holds, check it, or make it smaller"
    doc_usage = "stats|verify|gc [--max-size SIZE] [--shared]"
    doc_description = (
        "stats says how much there is, and how often a task came from the store.\n\n"
        "verify checks every content against its digest, and every entry. What is damaged is taken "
        "from the other store where that has it, else removed, and made anew when it is needed. "
        "The exit code is 1 if anything was damaged.\n\n"
        "gc removes what was not used for longest, until no more than SIZE stays. Builds may run "
        "meanwhile."
    )
    cmd_options = (MAX_SIZE, SHARED, JSON)

    def act(self, options: Options, words: list[str]) -> int:
        """Run the one of the three that is named."""
        if len(words) != 1 or words[0] not in ACTIONS:
            raise self.refuse("say stats, verify or gc")
        shelf, other = self._shelves(options["shared"])
        try:
            if words[0] == "stats":
                return _stats(self.session, shelf, other, options)
            if words[0] == "verify":
                return _verify(shelf, other, options)
            return self._sweep(shelf, options)
        except OSError as error:
            raise UserError(f"{shelf.where()}: {error.strerror or error}") from error

    def _shelves(self, is_shared: bool) -> tuple[Shelf, Shelf | None]:
        """Return the store that is meant, and the other one; None where there is no other."""
        home = self.session.home
        assert home is not None
        store = store_of(home)
        if not is_shared:
            return store.shelf, store.second
        if store.second is None:
            raise self.refuse("there is no second store: lairmake.yaml names one under `store:`")
        return store.second, store.shelf

    def _sweep(self, shelf: Shelf, options: Options) -> int:
        given = options["max_size"]
        match = SIZE.fullmatch(given)
        if given and match is None:
            raise self.refuse(f"{given} is no size: write 500M or 2G")
        if shelf.read_only or not isinstance(shelf, FolderShelf):
            raise self.refuse(f"nothing is removed from {shelf.where()}")
        most = bytes_of(match[1], match[2]) if match else None
        swept = sweep(shelf, most)
        data = {"gone": dict(swept.gone), "bytes": swept.bytes_gone, "left": swept.bytes_kept}
        gone = ", ".join(f"{count} {kind}" for kind, count in swept.gone.items())
        _print(options, data, [f"removed {gone}: {swept.bytes_gone} bytes",
                               f"{swept.bytes_kept} bytes are left"])
        return 0


def bytes_of(number: str, unit: str) -> int:
    """Return a size in bytes; k, m, g and t are powers of 1024."""
    return int(float(number) * 1024 ** (UNITS.index(unit.lower()) + 1 if unit else 0))


def _stats(session: Session, shelf: Shelf, other: Shelf | None, options: Options) -> int:
    """Print the size of the store, and how many of the tasks in the log came from a store."""
    home = session.home
    assert home is not None
    hits, ran = (state.count(state_folder(home), how) for how in ("hit", "ran"))
    found = sizes(shelf)
    lines = [f"{shelf.where()}{', read-only' if shelf.read_only else ''}"]
    lines += [f"  {kind:<8} {count:>7}  {size:>12} bytes" for kind, (count, size) in found.items()]
    share = f", {hits / (hits + ran):.0%} from the store" if hits + ran else ""
    lines.append(f"  of the tasks in the log {ran} ran and {hits} did not{share}")
    if other is not None:
        lines.append(f"  behind it: {other.where()}{', read-only' if other.read_only else ''}")
    data = {
        "store": shelf.where(),
        **{kind: {"count": count, "bytes": size} for kind, (count, size) in found.items()},
        "ran": ran,
        "hits": hits,
        "behind": other.where() if other is not None else None,
    }
    _print(options, data, lines)
    return 0


def _verify(shelf: Shelf, other: Shelf | None, options: Options) -> int:
    """Print what was damaged; 1 if anything was."""
    found = list(verify(shelf, other))
    data = [{"kind": d.kind, "name": d.name, "what": d.what, "end": d.end} for d in found]
    lines = [f"{d.kind}/{d.name} {d.what}: {d.end}" for d in found]
    _print(options, data, lines or ["everything is intact"])
    return int(bool(found))


def _print(options: Options, data: Any, lines: list[str]) -> None:
    if options["json"]:
        print_json(data)
    else:
        print("\n".join(lines))
