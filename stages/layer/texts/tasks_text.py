"""What instances.isl and compressions.isl say of tasks.

Paper    V Sec. 5.1 and 5.2
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.poly.canonical import list_maps

TaskObject = isl.UnionSet | isl.UnionMap


@dataclass(frozen=True, slots=True)
class Instances:
    """The objects of instances.isl, by task."""

    objects: Mapping[str, TaskObject]

    def of(self, task: str) -> isl.Set:
        """Return [PE_X, PE_Y, index...] -> { instance }, V (12)."""
        return _set(self.objects[task])

    def known(self, task: str) -> isl.Set:
        """Return the symbolic constants with which a task is invoked, V (15)."""
        return _set(self.objects[_known(task)])

    def access(self, task: str) -> isl.UnionMap | None:
        """Return { instance -> element }; None for a task without accesses."""
        found = self.objects.get(_access(task))
        return None if found is None else _relations(found)

    def invoked_where(self, task: str, known: isl.Set) -> Instances:
        """Return the same with other symbolic constants for a task."""
        return Instances({**self.objects, _known(task): isl.UnionSet.from_set(known)})


@dataclass(frozen=True, slots=True)
class Compressions:
    """The objects of compressions.isl, by task."""

    objects: Mapping[str, TaskObject]

    def of(self, task: str) -> isl.Set:
        """Return the compressed instance set { [i] }, V (19)."""
        return _set(self.objects[task])

    def compression(self, task: str) -> isl.Map:
        """Return { [i] -> instance }, V (18)."""
        return isl.Map.from_union_map(_relations(self.objects[_compression(task)]))

    def accesses(self, task: str) -> list[isl.Map]:
        """Return { [i] -> element }, each in one space, V (26)."""
        return list_maps(_relations(self.objects[_access(task)]))


def invoked_objects(
    task: str, instances: isl.Set, known: isl.Set, access: isl.Map | isl.UnionMap | None,
    steps: isl.Map | None,
) -> dict[str, isl.Set | isl.Map | isl.UnionMap]:
    """Return what instances.isl has of a task; what is None is left out."""
    found: dict[str, isl.Set | isl.Map | isl.UnionMap]
    found = {task: instances, _known(task): known}
    found |= {} if access is None else {_access(task): access}
    return found | ({} if steps is None else {f"{task}_steps": steps})


def compressed_objects(
    task: str, compression: isl.Map, elements: isl.Set, access: isl.UnionMap | None
) -> dict[str, isl.Set | isl.Map | isl.UnionMap]:
    """Return what compressions.isl has of a task; what is None is left out."""
    found: dict[str, isl.Set | isl.Map | isl.UnionMap]
    found = {_compression(task): compression, task: elements}
    return found | ({} if access is None else {_access(task): access})


def _set(found: TaskObject) -> isl.Set:
    assert isinstance(found, isl.UnionSet), "tasks have sets of instances"
    return isl.Set.from_union_set(found)


def _relations(found: TaskObject) -> isl.UnionMap:
    assert isinstance(found, isl.UnionMap), "accesses and compressions are relations"
    return found


def _known(task: str) -> str:
    return f"{task}_known"


def _access(task: str) -> str:
    return f"{task}_access"


def _compression(task: str) -> str:
    return f"{task}_compression"
