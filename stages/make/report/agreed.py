"""The lines that a person reads when a program is built: what its three runs agree on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lairmake.stages.diagnose import noun_after
from lairmake.stages.make.report.summary import list_first

RIGHT = "right, bit for bit: NumPy, graph, fabric"


def summarise_program(name: str, results: Mapping[str, Any]) -> str:
    """Return the result of a program as text; `results` is its `build/results.json`.

    Its machine and field; each output, with its value where that is one number; cycles, and what an
    operation takes of them besides its elements; what workers did meanwhile; sums; how many
    operations ran; and the bytes of PEs.
    """
    columns, rows = results["field"]
    responses = _several(results["responses"], "response")
    lines = [f"{name} on {results['machine']}: {columns} x {rows} workers, {responses} a side"]
    said = [
        *_outputs(results),
        ("cycles", _program_cycles(results)),
        ("workers", _workers(results["workers"])),
        *_sums(results["sums"]),
        ("ran", _operations(results["operations"])),
        ("memory", f"{_program_memory(results['memory'])}, {results['memory']['executive']} on the "
                   f"executive, {results['memory']['response']} on the fullest response"),
    ]
    width = max(len(what) for what, _ in said)
    return "\n".join([*lines, *(f"  {what:<{width}}  {text}" for what, text in said)]) + "\n"


def program_line(name: str, results: Mapping[str, Any]) -> str:
    """Return the result of one of many programs as a line."""
    found = RIGHT if is_program_right(results) else "WRONG"
    return f"{name}: {found}; {_group(results['cycles'])} cycles\n"


def is_program_right(results: Mapping[str, Any]) -> bool:
    """Say whether every output was right."""
    return all(found["right"] for found in results["outputs"].values())


def _outputs(results: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if not results["outputs"]:
        yield "output", "none to compare: `output=True` says which object is one"
    for output, found in results["outputs"].items():
        value = f"{found['value']}, " if "value" in found else ""
        yield output, f"{value}{RIGHT if found['right'] else 'WRONG'}"


def _program_cycles(results: Mapping[str, Any]) -> str:
    """Return the cycles, of how many iterations if there is one loop, and what calls take."""
    iterations = list(results["iterations"].values())
    if len(iterations) == 1:
        of = _several(iterations[0], "iteration")
    else:
        of = _several(sum(results["operations"].values()), "operation")
    said, set_up = f"{_group(results['cycles'])} for {of}", results["set_up"]
    center, neighbour = (set_up.get(where) for where in ("center", "neighbour"))
    if center is not None:
        said += f"; an operation takes {center:.0f} and its elements"
        said += f", one with a neighbour {neighbour:.0f}" if neighbour is not None else ""
    elif neighbour is not None:
        said += f"; an operation with a neighbour takes {neighbour:.0f} and its elements"
    return said


def _workers(shares: Mapping[str, float]) -> str:
    """Return what workers did, in per cent of all cycles."""
    words = {"elements": "elements", "set_up": "set-up", "sums": "waiting for sums",
             "control": "waiting for the control"}
    return ", ".join(f"{100 * shares[each]:.0f} % {said}" for each, said in words.items()
                     if each != "sums" or shares[each])


def _sums(sums: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    if sums["count"]:
        which = "" if sums["count"] == 1 else "the last one "
        yield "sums", f"{sums['count']}, {which}{sums['latency']} cycles from the last value"


def _operations(counts: Mapping[str, int]) -> str:
    """Return how often nodes ran, and which of them most often."""
    most = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    named = list_first([f"{count} {op}" for op, count in most])
    return f"{_several(sum(counts.values()), 'operation')}: {named}" if most else "no operation"


def _several(count: int, noun: str) -> str:
    return f"{_group(count)} {noun_after(count, noun)}"


def _group(number: int) -> str:
    """Return a number with a space after each thousand, from five digits on."""
    return f"{number:,}".replace(",", " ") if number > 9999 else str(number)


def _program_memory(memory: Mapping[str, int]) -> str:
    return f"{memory['workers']} of {memory['of']} bytes on a worker"
