"""Procedures called by hand on the virtual machine: its programs, compiled and run."""

from dataclasses import replace

import islpy as isl

from lairmake.stages.fabric.driver import run_fabric
from lairmake.stages.fabric.layout import Role, RoleMemory
from lairmake.stages.machine.profile import load_profile
from lairmake.stages.machine.types import BYTES
from lairmake.stages.pe.speller import spell
from lairmake.stages.program.irg.addresses import Addresses, EntryPlace
from lairmake.stages.program.irg.graph import FROM_FILE, GraphEntry, ProgramGraph
from lairmake.stages.program.lowering.c import find_geo_condition, find_geo_number
from lairmake.stages.program.lowering.control import write_merge, write_reduction, write_response
from lairmake.stages.program.lowering.executive import write_executive
from lairmake.stages.program.lowering.lowered import Material
from lairmake.stages.program.lowering.programs import make_arrays
from lairmake.stages.program.lowering.tensors import list_worker_tensors
from lairmake.stages.program.lowering.worker import write_worker
from lairmake.stages.program.sections.program import (
    Procedure,
    SectionCall,
    Sections,
    SendSection,
    StopState,
    finish_procedure,
)
from lairmake.stages.program.vm.colours import find_features, number_colours
from lairmake.stages.program.vm.geometry import Geometry
from tests.program.built import build_texts
from tests.program.laid_out import make_layout, paint


class Machine:
    """Entries, and calls of procedures in one section, on a field of (columns, rows)."""

    def __init__(self, field, profile="wse2", overrides=None, filters=None):
        self.field, self.profile = field, load_profile(profile, overrides or {})
        self.filters = filters or ((0, field[0] - 1, 0, field[1] - 1),)
        self.entries, self.places, self.data = {}, {}, {}
        self.procedures, self.calls, self.end = [], [], 0

    def add(self, name, array):
        """Put an array [column][row][element] on the workers; return its address in words."""
        if array.ndim == 2:
            array = array[..., None]
        type_, at = array.dtype.name, -(-self.end // 16) * 16
        self.entries[name] = GraphEntry(name=name, kind="LocalArray", type=type_, shape=array.shape,
                                   initial=FROM_FILE, output=True)
        self.end = at + BYTES[type_] * array.shape[2]
        self.places[name] = EntryPlace(name=name, space="workers", address=at, first=-1, last=9,
                                  bytes=self.end - at)
        self.data[name] = array
        return at // 2

    def call(self, *arguments, **procedure):
        """Call a procedure, which is numbered by its first call."""
        made = finish_procedure(Procedure(name="", **procedure))
        if made not in self.procedures:
            self.procedures.append(made)
        assert len(arguments) == made.count, made
        self.calls.append(SectionCall(procedure=self.procedures.index(made), arguments=arguments))

    def run(self, **options):
        """Return the outputs by name, and what the fabric tells."""
        self.call(kind="halt")
        sections = Sections(
            procedures=tuple(self.procedures), sections=(tuple(self.calls),), slots=(),
            states=(SendSection(section=0), StopState()), filters=self.filters, workers=self.end,
            shares=((len(self.calls), 0),),
        )
        material, layout = self.lay_out(sections)
        programs = write_all(material)
        roles = {each.role: Role(at=str(material.roles[each.role]), tensors=each.tensors,
                                 memory=RoleMemory(data=each.data, code=0)) for each in programs}
        library = build_texts({each.role: spell(each.listing) for each in programs})
        arrays = make_arrays(material.graph, sections, material.geometry, self.data)
        shapes = {name: each.shape for name, each in self.entries.items()}
        run = run_fabric(library, replace(layout, roles=roles), self.profile, arrays,
                         shapes={**shapes, "executive.state": (2,)}, **options)
        return {name: run.outputs[name][0] for name in self.entries}, run

    def lay_out(self, sections):
        """Return what programs are written of, and the layout without roles."""
        painting = paint(*self.field, 1, find_features(sections))
        layout = make_layout(painting, *self.field, self.profile.name)
        numbers = number_colours(painting.colours, self.profile)
        material = Material(
            graph=ProgramGraph(field=self.field, entries=self.entries, items=()), accesses={},
            addresses=Addresses(places=self.places, workers=self.end, executive=0),
            sections=sections, profile=self.profile, roles=painting.roles,
            geometry=Geometry(width=self.field[0], height=self.field[1], responses=1),
            colours={name: each.number for name, each in numbers.items()},
            variables=painting.variables,
        )
        return material, layout


def write_all(material):
    """Return the programs of all roles."""
    def ask(role):
        here = material.roles[role]
        return {
            name: find_geo_condition(material, name, role) if isinstance(each, isl.Set)
            else find_geo_number(material, name, role)
            for name, each in material.variables.items()
            if isinstance(each, isl.Set) or not each.domain().is_disjoint(here)
        }

    return (write_worker(material, ask("worker"), list_worker_tensors(material)),
            write_reduction(material, ask("reduction")), write_response(material),
            write_executive(material), write_merge(material))
