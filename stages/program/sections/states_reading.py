"""Read the states of the executive, as sections.yaml has them.

Paper    E Sec. 4.1
"""

from __future__ import annotations

from collections.abc import Sequence

import yaml

from lairmake.stages.program.irg.graph import (
    Branch,
    ForLoop,
    Graph,
    Item,
    Leave,
    Node,
    WhileLoop,
    list_items,
)
from lairmake.stages.program.irg.graph_yaml import Reading
from lairmake.stages.program.sections.finding import is_on_workers, is_over_pes
from lairmake.stages.program.sections.program import (
    Begin,
    Compute,
    Go,
    GoUnless,
    Next,
    SendGlobal,
    SendSection,
    State,
    Stop,
    TakeSum,
)
from lairmake.stages.program.values.forms import GLOBAL_SCALAR

STATE_KEYS = ("send_section", "send_global", "take_sum", "compute", "begin", "next", "otherwise",
        "go_unless", "to", "go", "stop")
WITH = {"next": "otherwise", "go_unless": "to"}
"""The second keys of states that have two."""


def read_states(
    reading: Reading, at: yaml.Node, nodes: Sequence[yaml.Node], graph: Graph, sections: int
) -> tuple[State, ...]:
    """Return the states of sections.yaml.

    Raises UserError where one is of no such section, entry, loop or node, or goes to no state, or
    where the last neither stops nor goes elsewhere.
    """
    items = {item.id: item for item in list_items(graph.items)}
    reader = _StateReader(reading, graph, items, len(nodes), sections)
    states = tuple(reader.state(node) for node in nodes)
    if not states or not isinstance(states[-1], Go | Stop):
        said = "the last state neither stops nor goes to another"
        raise reading.error(nodes[-1] if nodes else at, said)
    return states


class _StateReader:
    def __init__(
        self, reading: Reading, graph: Graph, items: dict[int, Item], states: int, sections: int
    ) -> None:
        self.reading, self.graph, self.items = reading, graph, items
        self.states, self.sections = states, sections
        self.loops = {item.name: item for item in items.values() if isinstance(item, ForLoop)}

    def state(self, node: yaml.Node) -> State:
        given = self.reading.fields(node, "a state", (), STATE_KEYS)
        keys = list(given)
        if not keys or keys[1:] != ([WITH[keys[0]]] if keys[0] in WITH else []):
            raise self.reading.error(node, "a state is one of " + ", ".join(
                key for key in STATE_KEYS if key not in WITH.values()))
        value = given[keys[0]]
        match keys[0]:
            case "send_section":
                return SendSection(section=self.reading.integer(
                    value, "a section", 0, self.sections - 1))
            case "send_global":
                name = self.reading.known(value, "send_global", self.graph.entries)
                if self.graph.entries[name].kind != GLOBAL_SCALAR:
                    raise self.reading.error(value, f"{name} is no {GLOBAL_SCALAR}")
                return SendGlobal(entry=name)
            case "take_sum":
                return TakeSum(node=self.node(value, is_sum=True))
            case "compute":
                return Compute(node=self.node(value, is_sum=False))
            case "begin":
                return Begin(loop=self.reading.known(value, "loop", self.loops))
            case "next":
                return Next(loop=self.reading.known(value, "loop", self.loops),
                            otherwise=self.target(given["otherwise"]))
            case "go_unless":
                return GoUnless(item=self.condition(value), to=self.target(given["to"]))
            case "go":
                return Go(to=self.target(value))
            case "stop":
                self.reading.choice(value, "stop", ("true",))
        return Stop()

    def target(self, node: yaml.Node) -> int:
        return self.reading.integer(node, "a state", 0, self.states - 1)

    def item(self, node: yaml.Node) -> Item | None:
        return self.items.get(self.reading.integer(node, "a node"))

    def node(self, node: yaml.Node, *, is_sum: bool) -> int:
        item, entries = self.item(node), self.graph.entries
        fits = isinstance(item, Node) and (
            is_on_workers(item, entries) and is_over_pes(item, entries)
            and entries[item.dst].kind == GLOBAL_SCALAR
            if is_sum else not is_on_workers(item, entries))
        if not isinstance(item, Node) or not fits:
            what = "sum over workers that is global" if is_sum else "node of the executive"
            raise self.reading.error(node, f"{node.value} is no {what}")
        return item.id

    def condition(self, node: yaml.Node) -> int:
        item = self.item(node)
        if not isinstance(item, WhileLoop | Branch | Leave):
            raise self.reading.error(node, f"{node.value} is no item with a condition")
        return item.id
