"""Measure how fast Lairmake is: `./do bench`, or `./do bench NAME ...` for some of it.

A name is that of a benchmark or of a group. Each figure is printed with what it must not pass, and
`ok` or `over`: on a busy computer a figure may be over, so this is no error. Exit code 1: a
build failed, or gave a wrong value.
"""

import argparse
import json
import tempfile
from pathlib import Path

from tests.bench import (
    compiling,
    cycles,
    fabric,
    graphs,
    making,
    noting,
    painting,
    programs,
    reporting,
    simulating,
    sweeping,
)
from tests.bench.figures import described, line
from tests.bench.machine import machine

GROUPS = {
    "compiling": (compiling.sizes, compiling.wafer, compiling.cold, compiling.null),
    "make": (making.thousand, making.listed, making.reverts),
    "sweeping": (sweeping.sixty,),
    "simulating": (simulating.fc4096, simulating.fc8192),
    "fabric": (fabric.busy128, fabric.busy256, noting.noted),
    "reporting": (reporting.reports, reporting.traces),
    "programs": (programs.heat, programs.fields, programs.long, programs.interpreter,
                 programs.on_the_fabric),
    "graphs": (graphs.lenet, graphs.split),
    "painting": (painting.paint,),
    "cycles": (cycles.fc1024, cycles.conv2d),
}


def main():
    """Run what the command line names."""
    arguments = parser().parse_args()
    chosen = selected(arguments.names)
    making.AGAINST[:] = arguments.against
    if arguments.json:
        print(json.dumps({"machine": machine(), "figures": list(json_figures(chosen))}, indent=2))
    else:
        print("\n".join(f"{name:<10}{value}" for name, value in machine().items()))
        print_table(chosen)


def parser():
    """Return the parser of the command line; its help lists the benchmarks."""
    names = [
        f"  {group:<12}{each.__name__:<9}{each.__doc__.splitlines()[0]}"
        for group, benchmarks in GROUPS.items() for each in benchmarks
    ]
    made = argparse.ArgumentParser(
        prog="bench", description=__doc__, epilog="\n".join(names),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    known = {*GROUPS, *(each.__name__ for each in selected([]))}
    made.add_argument("names", nargs="*", metavar="NAME", type=one_of(known))
    made.add_argument("--against", action="append", default=[], metavar="COMMIT",
                      help="compare `list` in a fresh clone with that in one of this commit")
    made.add_argument("--json", action="store_true", help="print JSON, at the end")
    return made


def one_of(known):
    """Return a check of an argument: whether it is one of the names."""

    def name(text):
        if text not in known:
            raise argparse.ArgumentTypeError(f"{text} is none of {', '.join(sorted(known))}")
        return text

    return name


def selected(names):
    """Return the benchmarks of these names, or of these groups' names; all, if there are none."""
    return [
        each for group, benchmarks in GROUPS.items() for each in benchmarks
        if not names or group in names or each.__name__ in names
    ]


def measured(benchmark):
    """Yield the figures of a benchmark, which gets a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        yield from benchmark(Path(folder))


def json_figures(benchmarks):
    """Yield the figures of benchmarks, for JSON."""
    for each in benchmarks:
        yield from (described(each.__name__, figure) for figure in measured(each))


def print_table(benchmarks):
    """Print each figure as soon as it is known."""
    for each in benchmarks:
        print(f"\n{each.__name__}: {each.__doc__.splitlines()[0]}", flush=True)
        for figure in measured(each):
            print(line(figure), flush=True)


if __name__ == "__main__":
    main()
