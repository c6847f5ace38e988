"""Functions of one index that an element looks up in a table, and does not compute again.

A table holds the values for each value of the index, and is filled in main. It is kept where the
operations of the function cost more than the address of an entry.

Source   strength reduction; V Sec. 5.4, computes sizes at run time
"""

from __future__ import annotations

import islpy as isl

from lairmake.stages.layer.texts.yaml_files import Table
from lairmake.stages.layer.vector.memory import extend
from lairmake.stages.layer.vector.situation import Situation
from lairmake.stages.machine.types import BYTES
from lairmake.stages.poly.expression import count_operations, express
from lairmake.stages.poly.functions import (
    PARAM,
    PE_NAMES,
    find_function,
    find_greatest,
    find_index_constants,
    find_least,
    is_affine_function,
    project_names,
)

TYPE = "int32"
"""The type of an entry."""


class Tables:
    """The tables of a task, by the symbolic constants that stand for what is looked up."""

    def __init__(self, situation: Situation) -> None:
        """Start without any; they may take a share of the memory that tensors and code leave."""
        self.profile = situation.profile
        self.context = situation.elements.params()
        self.firsts = {f"first{k}": each for k, each in enumerate(situation.exact.minimum)}
        self.found: dict[str, Table] = {}
        self.places: dict[str, str] = {}
        files, tasks = situation.files, len(situation.files.graph.tasks)
        free = self.profile.memory - files.code - (3 + 2 * tasks) * self.profile.code_task
        free -= extend(files.local, ()).bytes(situation.local_type)
        self.room = free // (2 * tasks * BYTES[TYPE])

    def holds(self, name: str, function: isl.PwAff) -> bool:
        """Return whether [p] -> { [f(p)] } is looked up under a name, in a new table.

        It may depend on the least value first0 of a dimension, which is one of the same index.
        """
        cost = count_operations(express(function, self.context)) * self.profile.scalar
        if cost <= self.profile.address:
            return False
        for least, value in self.firsts.items():
            function = _composed(function, least, value)
        simple = function.gist(self.context).coalesce()
        names = simple.get_var_names_not_none(PARAM)
        used = [n for k, n in enumerate(names) if simple.involves_dims(PARAM, k, 1)]
        used = [name for name in used if name not in PE_NAMES]
        if len(used) != 1 or used[0] not in find_index_constants(self.context):
            return False
        first, last = _ends(self.context, used[0])
        entries = last - first + 1
        if entries > self.room:
            return False
        self.room -= entries
        self.found[name] = Table(
            by=used[0], least=first, entries=entries, value=str(simple)
        )
        return True

    def place(self, base: int | str) -> int | str:
        """Return an index of an operand's base, or the constant that it is looked up as."""
        if isinstance(base, int) or is_affine_function(isl.PwAff(base), self.context):
            return base
        if base not in self.places:
            name = f"at{len(self.places)}"
            held = self.holds(name, isl.PwAff(base))
            self.places[base] = f"[{name}] -> {{ [({name})] }}" if held else base
        return self.places[base]


def _composed(function: isl.PwAff, name: str, value: isl.PwAff) -> isl.PwAff:
    """Return [p] -> { [f(p, v(p))] } of [p, name] -> { [f(p, name)] } and [p] -> { [v(p)] }."""
    position = function.find_dim_by_name(PARAM, name)
    if position < 0 or not function.involves_dims(PARAM, position, 1):
        return function
    same = isl.PwAff(f"[{name}] -> {{ [({name})] }}").eq_set(value)
    graph = isl.Set.from_pw_aff(function).intersect_params(same)
    at = graph.find_dim_by_name(PARAM, name)
    return find_function(graph.project_out(PARAM, at, 1)).get_at(0)


def _ends(context: isl.Set, name: str) -> tuple[int, int]:
    """Return the least and the greatest value of a symbolic constant."""
    others = [n for n in context.get_var_names_not_none(PARAM) if n != name]
    values = project_names(context, others)
    values = values.unbind_params(isl.MultiId(f"[{name}] -> {{ [{name}] }}"))
    return find_least(values, 0).to_python(), find_greatest(values, 0).to_python()
