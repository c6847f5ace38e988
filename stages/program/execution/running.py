"""Run the programs of the virtual machine on the simulated fabric.

Paper    E Sec. 3: the machine is the controller, the workers, and what they do
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import islpy as isl

from stages.diagnose import Source, UserError
from stages.fabric.compiler import CompilerError, build_library, users_cache
from stages.fabric.driver import FabricFailure, FabricRun, FabricStuck, run_fabric
from stages.fabric.layout_texts import check_texts
from stages.fabric.layout_yaml import Layout
from stages.fabric.progress import Tell
from stages.fabric.recorded import Asked
from stages.fabric.resident import find_residents
from stages.fabric.stuck import error_of
from stages.machine.profile import Profile
from stages.program.interpreter.counts import Counts
from stages.program.irg.graph import Entry, Graph
from stages.program.lowering.tensors import STATE
from stages.program.sections.program import Sections
from stages.program.values.arithmetic import Array
from stages.program.values.forms import ON_PES, UNIFORM, count_elements
from stages.program.vm.roles import ROLES

OURS = "the compiler is at fault, not the program, unless what it wrote was edited: please " \
       "report it with the program folder"
EDITED = "lower writes it anew once it is deleted"
PROGRAMS = "vm"
"""The folder of the programs in `build/`."""
TASKS = 3
"""About how many of a worker an operation is: its call, its arguments, and what it computes."""


def find_cycle_limit(
    graph: Graph, sections: Sections, counts: Counts, machine: Profile
) -> int:
    """Return more cycles than a run can take, of a graph that ran so often.

    An operation has as many calls as hops bring what it reads; a loop over elements takes four
    addresses of each at most, three sources and a destination.
    """
    ran = 1 + sum(counts.operations.values()) + sum(counts.iterations.values())
    calls = Counter(call.node for section in sections.sections for call in section
                    if call.node is not None)
    entries = graph.entries.values()
    most = max((count_elements(e.shape[2:] if e.kind in ON_PES else e.shape) for e in entries),
               default=1)
    figures = (machine.dispatch, machine.vector_start_up, machine.configuration, machine.loop,
               machine.scalar, 4 * machine.address, machine.hop, machine.ramp, machine.fifo)
    computed = (50 + most) * max(calls.values(), default=1)
    return ran * (computed + sum(graph.field) + len(sections.states)) * (100 + sum(figures))


def count_tasks(graph: Graph, counts: Counts) -> int:
    """Return about how many tasks a run has."""
    columns, rows = graph.field
    return TASKS * columns * rows * (1 + sum(counts.operations.values()))


def run_programs(
    programs: Sequence[Path], source: Source, layout: Layout, graph: Graph, sections: Sections,
    counts: Counts, machine: Profile, arrays: Mapping[str, Array], probes: Mapping[str, isl.Set],
    tell: Tell, *, recorded: bool = False, asked: Asked | None = None,
) -> FabricRun:
    """Compile the programs, and run them on a layout, of which `source` is the text.

    Raises UserError where they do not end well: they are ours.
    """
    shapes = {entry.name: find_shape(entry, graph) for entry in graph.entries.values()}
    limit = find_cycle_limit(graph, sections, counts, machine)
    with tempfile.TemporaryDirectory() as folder:
        try:
            library = build_library(
                programs, Path(folder), cache=users_cache(), recorded=recorded, generated=True
            )
            return run_fabric(
                library, layout, machine, arrays, shapes=shapes, cycle_limit=limit,
                probes=probes, tell=tell, tasks=count_tasks(graph, counts), recorded=recorded,
                asked=asked,
            )
        except CompilerError as error:
            raise UserError(str(error), hint=error.hint) from error
        except ValueError as error:
            said = f"{source.path} does not fit the program: {error}"
            raise UserError(said, hint=EDITED) from error
        except isl.Error as error:
            said = f"{source.path} does not fit the program: isl cannot compute with its sets"
            raise UserError(said, hint=EDITED) from error
        except FabricFailure as error:
            raise error_of(error, source, PROGRAMS, OURS) from error
        except FabricStuck as error:
            raise _stuck(error, source, limit) from error


def _stuck(error: FabricStuck, source: Source, limit: int) -> UserError:
    """Return a run that stopped as an error, with how far the program was."""
    assert error.run is not None, "it ran"
    _, section, jumps = map(int, error.run.outputs[STATE][0])
    further = f"after section {section}, and {jumps} times back in loops"
    if error.is_endless:
        said = f"the program did not end in {limit} cycles: it is {further}"
    else:
        said = f"the fabric is stuck {further}: {str(error).rstrip()}"
    return error_of(error, source, PROGRAMS, OURS, said, further)


def check_layout(layout: Layout, graph: Graph, source: Source) -> None:
    """Raise UserError where a layout is wrong, has other roles, or lacks what is read."""
    check_texts(layout, source)
    path = source.path
    if set(layout.roles) != set(ROLES):
        said = f"{path} has the roles {', '.join(sorted(layout.roles))}: the virtual machine has " \
               f"{', '.join(sorted(ROLES))}"
        raise UserError(said, hint=EDITED)
    read = {name for name, _ in find_residents(layout, "out")}
    outputs = [entry.name for entry in graph.entries.values() if entry.output]
    for name in (STATE, *outputs):
        if name not in read:
            raise UserError(f"{path} has no tensor {name} that is read at the end", hint=EDITED)


def find_shape(entry: Entry, graph: Graph) -> tuple[int, ...]:
    """Return the shape of what the fabric gives: of a uniform scalar the value of each worker."""
    return graph.field if entry.kind == UNIFORM else entry.shape
