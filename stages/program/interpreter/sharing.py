"""Temporaries that may have one array in turn: a graph that was unrolled has very many of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from lairmake.stages.program.irg.graph import Entry, Graph, Node, list_bodies, list_items
from lairmake.stages.program.irg.regions import Accesses, list_nodes
from lairmake.stages.program.values.forms import ON_PES


def share_temporaries(graph: Graph, accesses: Mapping[int, Accesses]) -> dict[str, str]:
    """Return, for each temporary that may have the array of an earlier one, the name of that one.

    Both lie on PEs and have one form, and only nodes of one and the same list refer to them: the
    first one no more once the other, which is written wholly, begins. So loops do not matter.
    """
    everywhere = Counter(name for node in list_nodes(graph.items) for name in _refer(node))
    found: dict[str, str] = {}
    inside = (body for item in list_items(graph.items) for body in list_bodies(item))
    for items in (graph.items, *inside):
        nodes = [item for item in items if isinstance(item, Node)]
        here = Counter(name for node in nodes for name in _refer(node))
        last = {name: node.id for node in nodes for name in _refer(node)}
        first = {name: node for node in reversed(nodes) for name in _refer(node)}
        local = {
            name for name, node in first.items() if _may_share(graph.entries[name])
            and here[name] == everywhere[name] and node.dst == name and name not in node.src
            and accesses[node.id].dst.covers(graph.entries[name])
        }
        _share(graph, nodes, local, last, found)
    return found


def _share(
    graph: Graph, nodes: list[Node], local: set[str], last: Mapping[str, int],
    found: dict[str, str],
) -> None:
    free: dict[tuple[object, ...], list[str]] = defaultdict(list)
    begun: set[str] = set()
    for node in nodes:
        if node.dst in local and node.dst not in begun:
            begun.add(node.dst)
            if others := free[_form(graph, node.dst)]:
                found[node.dst] = others.pop()
        for name in dict.fromkeys(_refer(node)):
            if name in local and last[name] == node.id:
                free[_form(graph, name)].append(found.get(name, name))


def _may_share(entry: Entry) -> bool:
    return entry.temporary and entry.kind in ON_PES and entry.initial is None and not entry.output


def _form(graph: Graph, name: str) -> tuple[object, ...]:
    entry = graph.entries[name]
    return entry.kind, entry.type, entry.shape


def _refer(node: Node) -> tuple[str, ...]:
    return (node.dst, *(each for each in node.src if isinstance(each, str)))
