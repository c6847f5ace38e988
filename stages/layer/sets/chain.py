"""The sets of a task graph, each made of those before: as the stages from `allocate` on write them.
"""

from __future__ import annotations

import typing

from lairmake.stages.layer.sets.allocations import write_allocations
from lairmake.stages.layer.sets.compressions import write_compressions
from lairmake.stages.layer.sets.hulls import write_hulls
from lairmake.stages.layer.sets.instances import write_instances
from lairmake.stages.layer.sets.sizes import write_sizes
from lairmake.stages.layer.texts.isl_files import Compressions, Instances
from lairmake.stages.poly.text import Objects

if typing.TYPE_CHECKING:
    from lairmake.stages.layer.texts.isl_files import Adapted, Routing
    from lairmake.stages.layer.texts.task_graph import Graph
    from lairmake.stages.skewing.elements import Lair


def write_sets(
    graph: Graph, lair: Lair, adapted: Adapted, routes: Routing, prefer: str | None
) -> dict[str, str]:
    """Return the texts, up to sizes.isl, by their names. Raises UserError and TooManyOperations."""
    given = graph, lair, adapted, routes
    allocations_text = write_allocations(*given)
    allocations = Objects(allocations_text)
    instances_text = write_instances(*given, allocations)
    instances = Instances(Objects(instances_text))
    compressions_text = write_compressions(graph, instances)
    compressed = Compressions(Objects(compressions_text))
    return {
        "allocations.isl": allocations_text,
        "instances.isl": instances_text,
        "compressions.isl": compressions_text,
        "hulls.isl": write_hulls(graph, instances, compressed, allocations),
        "sizes.isl": write_sizes(graph, instances, compressed, prefer),
    }
