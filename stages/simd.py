"""Decide how each task gets its vector instruction, and why; or that it runs as a loop.

Paper    Verdoolaege et al., IMPACT 2020, Sec. 5, conditions 1 to 4; Sec. 5.1, 5.3, 5.4
Reads    layer.yaml, tasks.yaml, instances.isl, compressions.isl, hulls.isl, sizes.isl
Writes   simd.yaml    per task: by, why, sizes, guard, operation, operands
Assumes  boxes and sizes are found (approximate, enumerate).
Ensures  a vector instruction runs all instances of its task, and besides them only harmless ones.
"""

from __future__ import annotations

import math
import typing

import islpy as isl

from stages.diagnose import UserError
from stages.lair.grammar import parse_expression
from stages.lair.operation import Operation, operation_of
from stages.lair.tasks import FILLS, RUNS, STREAMS
from stages.lair.yaml_text import write_document
from stages.poly.bind import index_constants
from stages.poly.bounds import ExactBounds, exact_bounds, fixed_size
from stages.poly.compression import keeps_order
from stages.poly.linear import linear_form
from stages.poly.local import Shape, at_this_pe, shape_of
from stages.poly.pieces import maps_of, sets_of

if typing.TYPE_CHECKING:
    from stages.make.inputs import Inputs

READS = (
    "layer.yaml",
    "tasks.yaml",
    "instances.isl",
    "compressions.isl",
    "hulls.isl",
    "sizes.isl",
)
WRITES = ("simd.yaml",)
HEADER = """How each task gets its vector instruction, and why (Sec. 5).
by: hull, exact or enumerate, from hulls.isl and sizes.isl; or loops, which isl generates.
guard: the symbolic constants for which there are instances; null: all that occur.
sizes, extents: the sizes of the instruction, and from where to where they go if they differ.
least, several: with enumerate, the least size and how many there are, a configuration each.
operation: d op a, b; operands: d, a, b. Element [i] of a local tensor is at base + strides * i,
base an index of the tensor, strides in elements; first0, ... are the least instances."""
Task = dict[str, typing.Any]


class NoVectorError(Exception):
    """Why a task has no vector instruction."""


def run(inputs: Inputs) -> dict[str, str]:
    """Return simd.yaml."""
    decisions = Decisions(inputs).of_all_tasks()
    return {
        "simd.yaml": write_document(HEADER, decisions)
    }


class Decisions:
    """The files that decide, and the configurations that are still free on a PE."""

    def __init__(self, inputs: Inputs) -> None:
        """Read the files."""
        self.mapping = inputs.mapping()
        self.prefer = self.mapping.simd.prefer
        self.profile = inputs.profile()
        self.graph = inputs.yaml("tasks.yaml")
        self.instances = inputs.objects("instances.isl")
        self.compressed = inputs.objects("compressions.isl")
        self.hulls = inputs.objects("hulls.isl")
        self.sizes = inputs.objects("sizes.isl")
        self.by_tensor = at_this_pe(self.hulls["to_local"])
        self.shapes = {s.get_tuple_name(): shape_of(s) for s in sets_of(self.hulls["local"])}
        self.running = {n for n, t in self.graph["tasks"].items() if t["kind"] in RUNS}
        self.free: dict[str, int] = {}

    def of_all_tasks(self) -> dict[str, Task]:
        """Return the decision of every task but relays, which pass on single elements.

        Streams cannot do without an instruction: they take configurations first.
        """
        found: dict[str, Task] = {}
        tasks = {n: t for n, t in self.graph["tasks"].items() if t["kind"] != "relay"}
        for name in sorted(tasks, key=lambda n: tasks[n]["kind"] not in STREAMS):
            found[name] = self._decide(name, tasks[name])
        return {name: found[name] for name in tasks}

    def _decide(self, name: str, task: Task) -> Task:
        """Return how a task runs; a task for which no box will do runs as a loop."""
        decision = {"guard": self._guard(name)} if task["kind"] in RUNS else {}
        try:
            return decision | self._vector(name, task)
        except NoVectorError as reason:
            if task["kind"] in STREAMS:
                self._take_configurations(name, task, {})
            return decision | {"by": "loops", "why": str(reason)}

    def _guard(self, name: str) -> str | None:
        """Return the symbolic constants for which there are instances; None if all that occur."""
        known = isl.Set.from_union_set(self.instances[f"{name}_known"])
        domain = isl.Set.from_union_set(self.compressed[name]).params()
        return None if known.is_subset(domain) else str(domain.gist(known))

    def _vector(self, name: str, task: Task) -> Task:
        """Return a vector instruction. Raises NoVectorError."""
        if self.prefer == "loops" and task["kind"] in (*RUNS, "store"):
            raise NoVectorError("layer.yaml prefers loops")
        operation = self._operation(task)
        shape = self._shape(name, task)
        self._check_rank(name, shape)
        operands = self._operands(name, task, operation, shape)
        self._take_configurations(name, task, shape)
        described = {key: value for key, value in shape.items() if key not in ("box", "origin")}
        described["extents"] = self._extents(name, shape["sizes"])
        return {**described, "operation": operation.name, "operands": operands}

    def _extents(self, name: str, sizes: list[int | str]) -> list[int | list[int]]:
        """Return each size, or its least and greatest value where it is not the same everywhere."""
        domain = isl.Set.from_union_set(self.compressed[name]).params()
        found: list[int | list[int]] = []
        for size in sizes:
            if isinstance(size, int):
                found.append(size)
            else:
                here = isl.PwAff(size).intersect_params(domain).floor()
                found.append([here.min_val().to_python(), here.max_val().to_python()])
        return found

    def _operation(self, task: Task) -> Operation:
        if task["kind"] == "store":
            raise NoVectorError("a single element is stored")
        if task["kind"] == "pack":
            raise NoVectorError("zeros are left out")
        if task["kind"] == "send":
            leaving = self.graph["departures"] | self.graph.get("collections", {})
            by = leaving[task["departure"]]["by"]
            return Operation(name="COPY" if by == "gather" else by.upper(), a="", b=None)
        if task["kind"] not in RUNS:
            return Operation(name="COPY", a=task.get("value", ""), b=None)
        operation = operation_of(task["target"], task["op"], parse_expression(task["expression"]))
        if operation is None:
            text = f"{task['target']} {task['op']} {task['expression']}"
            raise NoVectorError(f"`{text}` is more than one operation")
        return operation

    def _shape(self, name: str, task: Task) -> Task:
        """Return by, why and sizes, and the box they describe. Raises NoVectorError."""
        known = isl.Set.from_union_set(self.instances[f"{name}_known"])
        elements = isl.Set.from_union_set(self.compressed[name])
        exact = exact_bounds(elements, known)
        if task["kind"] not in RUNS:
            if task["kind"] not in FILLS:
                self._check_order(name, elements)
            return self._stream_shape(elements, exact)
        if f"{name}_vector" in self.hulls:
            return self._fixed_shape(name, elements, exact)
        return self._enumerated_shape(name, elements, exact)

    def _check_order(self, name: str, elements: isl.Set) -> None:
        """Raise NoVectorError unless the compression keeps the order of a stream's elements."""
        compression = isl.Map.from_union_map(self.compressed[f"{name}_compression"])
        if not keeps_order(compression, elements):
            raise NoVectorError("the box has its elements in another order")

    def _stream_shape(self, elements: isl.Set, exact: ExactBounds) -> Task:
        sizes = fixed_size(exact, index_constants(elements)) if exact.is_box else None
        if sizes is None:
            raise NoVectorError("the elements are no box")
        return {
            "by": "exact",
            "why": "the elements are a box",
            "sizes": [_value(s) for s in sizes],
            "box": elements,
            "origin": exact.minimum,
        }

    def _fixed_shape(self, name: str, elements: isl.Set, exact: ExactBounds) -> Task:
        vector = isl.Set.from_union_set(self.hulls[f"{name}_vector"])
        by = vector.get_tuple_name()
        sizes = _components(vector)
        if by == "exact":
            why = "the instances are a box of fixed size"
            if f"{name}_hull" in self.hulls:
                why += ", smaller than their fixed-size box hull"
            box, origin = elements, exact.minimum
        else:
            extra = not self.hulls[f"{name}_extra"].is_empty()
            why = "a fixed-size box hull holds the instances"
            why += ", and extra ones that do no harm" if extra else " and no others"
            box = isl.Set.from_union_set(self.hulls[f"{name}_hull"])
            origin = tuple(_components(isl.Set.from_union_set(self.hulls[f"{name}_offset"])))
        return {
            "by": by,
            "why": why,
            "sizes": list(map(_value, sizes)),
            "box": box,
            "origin": origin,
        }

    def _enumerated_shape(self, name: str, elements: isl.Set, exact: ExactBounds) -> Task:
        """Return one size a configuration. Raises NoVectorError if sizes cannot be enumerated."""
        reason = self._without_box(name, exact)
        if f"{name}_hull" not in self.sizes:
            raise NoVectorError(reason)
        hull = isl.Set.from_union_set(self.sizes[f"{name}_hull"])
        offset = isl.Set.from_union_set(self.sizes[f"{name}_offset"])
        return {
            "by": "enumerate",
            "why": reason,
            "sizes": [_value(size) for size in exact.size],
            "least": [_value(least) for least in _components(offset)],
            "several": list(shape_of(hull)),
            "box": elements,
            "origin": list(map(_first, range(len(exact.minimum)))),
        }

    def _without_box(self, name: str, exact: ExactBounds) -> str:
        """Say why no box of fixed size is used."""
        if self.prefer == "enumerate":
            return "layer.yaml prefers size enumeration"
        if f"{name}_hull" not in self.hulls:
            hull = "there is no fixed-size box hull"
        elif not self.hulls[f"{name}_outside"].is_empty():
            hull = "extra instances would read outside local memory"
        else:
            hull = "extra instances would write what others use"
        return f"{hull}, and the exact bounds are " + ("not fixed" if exact.is_box else "no box")

    def _check_rank(self, name: str, shape: Task) -> None:
        """Raise NoVectorError unless a vector instruction has so many dimensions.

        That is a UserError where layer.yaml wants an instruction for the statement of the task.
        """
        rank, most = len(shape["sizes"]), self.profile.dimensions
        if rank == 0 and name in self.running:
            raise NoVectorError("there is a single instance")
        if rank > most:
            text = f"{name} needs {rank} dimensions, a vector instruction has {most}"
            if self.prefer in ("hull", "exact", "enumerate") and name in self.running:
                raise UserError(text, self.mapping.span("simd"), "use `simd: {prefer: loops}`")
            raise NoVectorError(text)

    def _take_configurations(self, name: str, task: Task, shape: Task) -> None:
        """Count the configurations of a task. Raises NoVectorError, or UserError if it must have.

        Computing PEs and the adapters of a side are different PEs, each with all configurations.
        """
        place = self._place(task)
        free = self.free.setdefault(place, self.profile.live_configurations)
        count = math.prod(shape.get("several", [])) + self._passes(task)
        if count > free:
            noun = "configuration" if count == 1 else "configurations"
            text = (
                f"{name} needs {count} {noun} of vector instructions, "
                f"{free} of {self.profile.live_configurations} are free"
            )
            if task["kind"] in STREAMS:
                hint = "let fewer tensors arrive and leave"
                raise UserError(text, self.mapping.key_span("tensors"), hint)
            if self.prefer == "enumerate" and task["kind"] not in FILLS:
                raise UserError(text, self.mapping.span("simd"), "use `simd: {prefer: loops}`")
            raise NoVectorError(text)
        self.free[place] = free - count

    def _place(self, task: Task) -> str:
        """Return the side of the adapters that run a task; "" for one of computing PEs."""
        collections = self.graph.get("collections", {})
        if task["kind"] in ("hear", "spread"):
            return str(self.graph["arrivals"][task["arrival"]]["side"])
        if task["kind"] in ("clear", "gather"):
            return str(self.graph["departures"][task["departure"]]["side"])
        return str(collections.get(task.get("departure"), {}).get("side", ""))

    def _passes(self, task: Task) -> int:
        """Return the instructions of a gather that pass on the elements of other PEs."""
        stream = self.graph["departures"].get(task.get("departure"), {})
        if task["kind"] != "send" or stream.get("by") != "gather":
            return 0
        return sum(isl.PwAff(stream[part]).max_val().is_pos() for part in ("before", "after"))

    def _operands(self, name: str, task: Task, operation: Operation, shape: Task) -> list[Task]:
        """Return the operands: local memory with a base and strides, an element, or a number."""
        accesses = {_range_name(m): m for m in maps_of(self.compressed[f"{name}_access"])}
        if task["kind"] not in RUNS:
            memory = self._memory(name, next(iter(accesses.values())), shape)
            filled = {"number": operation.a, "type": memory["type"]}
            return [memory, filled] if task["kind"] in FILLS else [memory]
        found: list[Task] = []
        for operand in (task["target"], operation.a, operation.b):
            if isinstance(operand, str) and operand == self._arriving(task):
                found.append({"element": operand, "type": self._type(operand)})
            elif isinstance(operand, str):
                found.append(self._memory(name, accesses[operand], shape))
            elif operand is not None:
                found.append({"number": operand, "type": ""})
        integral = all(o["type"].startswith("int") for o in found if o["type"])
        for operand in found:
            operand["type"] = operand["type"] or ("int32" if integral else "float32")
        return found

    def _type(self, tensor: str) -> str:
        """Return the type of a tensor, or of the copy of it that adapters hold."""
        tensors = self.graph["tensors"]
        copied = tensor.removesuffix("_source").removesuffix("_collected")
        name = tensor if tensor in tensors else copied
        return str(tensors[name]["type"])

    def _arriving(self, task: Task) -> str | None:
        """Return the tensor whose element a task reacts to."""
        if task["kind"] != "react":
            return None
        tensor: str = self.graph["arrivals"][task["arrival"]]["tensor"]
        return tensor

    def _memory(self, name: str, access: isl.Map, shape: Task) -> Task:
        """Return { T_local[base + strides] }. Raises NoVectorError if the access is not linear."""
        local = access.apply_range(self.by_tensor[_range_name(access)])
        known = isl.Set.from_union_set(self.instances[f"{name}_known"])
        form = linear_form(local.intersect_domain(shape["box"]), known)
        if form is None:
            raise NoVectorError(f"the access to {_range_name(access)} is not linear")
        rows = zip(form.constant, form.coefficients, strict=True)
        base = [_at_origin(constant, row, shape["origin"]) for constant, row in rows]
        return {
            "local": _range_name(local),
            "type": self._type(_range_name(access)),
            "base": [_value(b) for b in base],
            "strides": _strides(form.coefficients, self.shapes[_range_name(local)])
            or [0] * len(shape["sizes"]),
        }


def _at_origin(
    constant: isl.PwAff, coefficients: typing.Sequence[int], origin: typing.Sequence[isl.PwAff]
) -> isl.PwAff:
    """Return constant + coefficients * origin."""
    for coefficient, value in zip(coefficients, origin, strict=True):
        if coefficient:
            constant = constant.add(value.scale_val(isl.Val(coefficient)))
    return constant.coalesce()


def _strides(coefficients: typing.Sequence[typing.Sequence[int]], shape: Shape) -> list[int]:
    """Return how many elements of a local tensor each dimension of the box steps over."""
    steps = [1]
    for size in reversed(shape[1:]):
        steps.insert(0, steps[0] * size)
    columns = zip(*coefficients, strict=True)
    return [sum(c * s for c, s in zip(column, steps, strict=True)) for column in columns]


def _first(dimension: int) -> isl.PwAff:
    """Return the symbolic constant for the least value of a dimension, found at run time."""
    return isl.PwAff(f"[first{dimension}] -> {{ [(first{dimension})] }}")


def _components(point: isl.Set) -> list[isl.PwAff]:
    """Return the functions f of [p] -> { [f(p)] }, rounded down off their domain."""
    function = isl.PwMultiAff.from_set(point)
    return [function.get_pw_aff(k).floor() for k in range(point.dim(isl.dim_type.set))]


def _value(function: isl.PwAff) -> int | str:
    """Return a constant as a number, another function as isl text; integral wherever it is used."""
    function = function.floor()
    least, greatest = function.min_val(), function.max_val()
    if least.is_int() and least.eq(greatest):
        return int(least.to_python())
    return str(function)


def _range_name(access: isl.Map) -> str:
    name: str = access.get_tuple_name(isl.dim_type.out)
    return name
