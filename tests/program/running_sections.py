"""A machine in NumPy that runs sections.yaml: states of the executive, calls of workers."""

import io

import numpy as np

from lairmake.stages.diagnose import Source
from lairmake.stages.program.interpreter.differences import find_difference
from lairmake.stages.program.interpreter.run import (
    make_addressed_store,
    make_store,
    prepare_step,
    read_value,
    run_graph,
)
from lairmake.stages.program.irg.addresses import read_addresses
from lairmake.stages.program.irg.graph import FROM_FILE, ForLoop, list_items, parse_logic
from lairmake.stages.program.irg.regions import read_regions
from lairmake.stages.program.sections.program import (
    Begin,
    ComputeState,
    Go,
    GoUnless,
    NextState,
    SendGlobal,
    SendSection,
    StopState,
    TakeSum,
)
from lairmake.stages.program.values.forms import ON_PES, ON_WORKERS
from tests.program.sectioned import read_files
from tests.program.simulated_workers import SimulatedWorkers

LONGEST = 200_000
"""States that a program runs through at most."""


class Machine:
    """The executive and its workers. Eager workers run calls as soon as they come, others late."""

    def __init__(self, files, is_eager):
        self.graph, self.sections = read_files(files)
        text = {name: _read(files[name]) for name in ("accesses.isl", "addresses.yaml")}
        self.regions = read_regions(
            Source(path="accesses.isl", text=text["accesses.isl"]), self.graph)
        addresses = read_addresses(
            Source(path="addresses.yaml", text=text["addresses.yaml"]), self.graph)
        self.data = {
            name: _load(files[f"build/data/{name}.npy"])
            for name, entry in self.graph.entries.items() if entry.initial == FROM_FILE}
        self.store = make_addressed_store(self.graph, addresses, self.data)
        self.places = addresses.places
        self.items = {item.id: item for item in list_items(self.graph.items)}
        self.loops = {item.name: item for item in self.items.values()
                      if isinstance(item, ForLoop)}
        self.workers = SimulatedWorkers(self.sections, self.graph.field)
        self.is_eager = is_eager
        for name, array in self.store.arrays.items():
            if self.graph.entries[name].initial is not None and name in self.places:
                self.put(name, array)

    def view(self, name):
        """Return PEs, address, offsets and type of an entry of workers."""
        entry = self.graph.entries[name]
        pes = self.workers.whole()
        if entry.kind in ON_PES:
            (x, y), (w, h) = entry.origin, entry.shape[:2]
            pes = np.s_[x : x + w, y : y + h]
        count = int(np.prod(entry.shape[2:])) if entry.kind in ON_PES else 1
        return pes, self.places[name].address // 2, np.arange(count), entry.type

    def put(self, name, array):
        if self.graph.entries[name].kind in ON_WORKERS:
            pes, address, offsets, type_ = self.view(name)
            values = array.reshape(*self.workers.memory[pes].shape[:2], -1)
            self.workers.write(pes, address, offsets, type_, values)

    def read(self, name):
        """Return the value of an output; of a uniform one it is the same on all workers."""
        entry = self.graph.entries[name]
        if entry.kind not in ON_WORKERS:
            return np.array(self.store.arrays[name])
        values = self.workers.read(*self.view(name))
        if entry.kind in ON_PES:
            return values.reshape(entry.shape)
        bits = np.ascontiguousarray(values).view(np.uint8)
        assert (bits == bits[0, 0]).all()
        return values[0, 0, 0]

    def run(self):
        """Run the program to its end."""
        at = 0
        for _ in range(LONGEST):
            state = self.sections.states[at]
            if isinstance(state, StopState):
                break
            at = self.step(state, at)
            if self.is_eager:
                self.workers.run()
        else:
            raise AssertionError("the program goes on")
        self.workers.run()
        workers = self.workers
        assert workers.halted == 1 and not workers.calls
        assert not workers.results and not workers.globals
        assert workers.ring.is_at_beginning()

    def step(self, state, at):
        """Run a state, and return the number of the next."""
        match state:
            case SendSection():
                self.send(state.section)
            case SendGlobal():
                value = np.array(self.store.arrays[state.entry])
                self.workers.globals.append((True, value))
            case TakeSum():
                self.workers.run()
                _, value = next(self.workers.pick(False))
                dst = self.store.arrays[self.items[state.node].dst]
                assert dst.dtype == value.dtype
                dst[...] = value
            case ComputeState():
                node = self.items[state.node]
                prepare_step(node, self.regions[node.id], self.graph, self.store)()
            case Begin():
                self.store.counters[state.loop][...] = 0
            case NextState():
                return at + 1 if self.take_next(state.loop) else state.otherwise
            case GoUnless():
                return at + 1 if self.holds(self.items[state.item]) else state.to
            case Go():
                return state.to
        return at + 1

    def send(self, number):
        """Put together what the response PEs have of a section, in the order of their drain."""
        calls, parts = list(self.sections.sections[number]), []
        for share in self.sections.shares[number]:
            parts.append(calls[:share])
            calls = calls[share:]
        assert not calls and len(parts) == 2 * self.sections.responses
        for part in parts:
            self.workers.calls.extend(part)

    def take_next(self, name):
        loop, counter = self.loops[name], self.store.counters[name]
        over = self.store.arrays[loop.over] if isinstance(loop.over, str) else range(*loop.over)
        n = int(counter)
        if n == len(over):
            return False
        self.store.arrays[name][...] = over[n]
        counter[...] = n + 1
        return True

    def holds(self, item):
        types = tuple(self.graph.entries[each].type if isinstance(each, str) else ""
                      for each in item.src)
        values = [self.store.arrays[each][()] if isinstance(each, str) else each
                  for each in item.src]
        return bool(parse_logic(item.when, types)(values))


def check_sections(files):
    """Run sections with eager and with late workers; their outputs are those of the graph."""
    for is_eager in (True, False):
        machine = Machine(files, is_eager)
        graph = machine.graph
        store = make_store(graph, machine.regions, machine.data)
        run_graph(graph, machine.regions, store)
        machine.run()
        for entry in graph.entries.values():
            if entry.output:
                assert find_difference(
                    machine.read(entry.name), read_value(store, entry)) is None, entry.name
    return machine


def _read(content):
    return content if isinstance(content, str) else content.decode()


def _load(content):
    return np.load(io.BytesIO(content)) if isinstance(content, bytes) else content
