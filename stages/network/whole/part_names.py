"""The layout of a part among those of others: what it has is called by the part, too.

Roles, streams and tensors are called `part.name`, for those of another part may have the same name.
Colours keep their numbers, and are called by them: parts never touch, so that a number may be
another colour in each. Roles say what their part calls it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lairmake.stages.fabric.layout import Entry, Exit, Layout, LocalTensor, Queue, Role


def name_colour(number: int) -> str:
    """Return what a colour is called on the fabric of several parts."""
    return f"colour{number}"


def name_layout(layout: Layout, part: str) -> Layout:
    """Return the layout of a part with names that no other part has."""
    names = {name: name_colour(each.number) for name, each in layout.colours.items()}
    return Layout(
        grid=layout.grid,
        roles={f"{part}.{n}": _name_role(r, part, names) for n, r in layout.roles.items()},
        colours={names[n]: each for n, each in layout.colours.items()},
        arrivals={
            f"{part}.{n}": _name_entry(each, part, names) for n, each in layout.arrivals.items()
        },
        departures={
            f"{part}.{n}": _name_exit(each, part, names) for n, each in layout.departures.items()
        },
    )


def _name_role(role: Role, part: str, names: Mapping[str, str]) -> Role:
    return replace(
        role,
        listens=None if role.listens is None else tuple(names[name] for name in role.listens),
        streams={new: old for old, new in names.items()},
        input_queues=_rename(role.input_queues, names),
        output_queues=_rename(role.output_queues, names),
        tensors={name: _name_local(each, part) for name, each in role.tensors.items()},
    )


def _rename(
    queues: Mapping[str, Queue] | None, names: Mapping[str, str]
) -> Mapping[str, Queue] | None:
    return None if queues is None else {names[name]: queue for name, queue in queues.items()}


def _name_local(local: LocalTensor, part: str) -> LocalTensor:
    return local if local.stored is None else replace(local, tensor=f"{part}.{local.tensor}")


def _name_entry(entry: Entry, part: str, names: Mapping[str, str]) -> Entry:
    return replace(entry, tensor=f"{part}.{entry.tensor}", colour=names[entry.colour])


def _name_exit(departure: Exit, part: str, names: Mapping[str, str]) -> Exit:
    return replace(
        departure, tensor=f"{part}.{departure.tensor}",
        colours=tuple(names[name] for name in departure.colours),
    )
