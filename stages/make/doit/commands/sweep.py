"""The command `doit sweep`: a folder built with each combination of values of some keys."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from doit.exceptions import InvalidCommand

from lairmake.stages.diagnose import UserError
from lairmake.stages.make.core.layers import network_of
from lairmake.stages.make.core.outputs import write_beside
from lairmake.stages.make.core.pins import pins
from lairmake.stages.make.core.pipeline import RESULTS
from lairmake.stages.make.core.sweep import (
    OPTION,
    Combination,
    SweepAxis,
    combine,
    holds_isl,
    place_of,
    read_axes,
    read_text,
    write_folder,
)
from lairmake.stages.make.doit.commands.command import (
    JSON,
    LayerCommand,
    Options,
    build_folders,
    hint_of_sweep,
    print_json,
)
from lairmake.stages.make.doit.commands.inert import EVERYTHING, option
from lairmake.stages.make.doit.commands.run import PROCESSES
from lairmake.stages.make.report.colour import is_terminal
from lairmake.stages.make.report.comparison import (
    COLUMNS,
    NARROW,
    ComparisonRow,
    csv_of,
    data_of,
    is_right,
    list_work,
    row_of,
    sort_rows,
    table,
)
from lairmake.stages.make.store.folders import LayerFolder, file_of, shown_path

SET: dict[str, Any] = {
    **option("set", "a key of the folder's YAML file and its values: sizes.M=32,64; may come again",
             default=[]),
    "name": "given",
}
CSV = option("csv", "print comma-separated values")
SORT = option("sort", f"sort by one of {', '.join(COLUMNS)}; by default as values are given", "")
PARALLEL = option("parallel-type", "run processes of doit: `process` or `thread`", "process",
                  short="P", name="par_type")
PLOT, DATA = "sweep.svg", "sweep.json"


class Sweep(LayerCommand):
    """Build a folder with several values of keys."""

    name = "sweep"
    runs_stages = True
    doc_purpose = "build a layer with each combination of values, and compare what comes out"
    doc_usage = "LAYER --set KEY=VALUE,VALUE [--set ...]"
    doc_description = (
        "KEY is one of layer.yaml, or of the YAML file of a network, a kernel or a program, as "
        "sizes.M or machine; a VALUE is what it holds, or for a key in isl a file with that, as "
        "placement=one.isl,two.isl. A comma in brackets or quotes is none between values. Each "
        "combination is a folder in build/sweep/, built as any other: what is built is built once. "
        "One that is refused is a row of the table that says why. build/sweep/sweep.svg plots "
        "cycles over PEs.\n\n"
        "Exit code 1 where a value is wrong, or no combination was built to the end."
    )
    cmd_options = (SET, SORT, CSV, JSON, PROCESSES, PARALLEL, EVERYTHING)

    def parse_execute(self, in_args: list[str]) -> int:
        """Do the command with the words as typed: doit takes `sizes.M=32` for a variable."""
        return super().parse_execute(_as_typed(self.name, in_args))

    def act(self, options: Options, words: list[str]) -> int:
        """Build all combinations, and print the results of each."""
        if not options["given"]:
            raise self.refuse(f"nothing is set: {self.doc_usage}", self._example(words))
        if options["sort"] not in ("", *COLUMNS):
            raise self.refuse(f"{options['sort']} is no column: {', '.join(COLUMNS)}")
        folder, rest = self.select_one(words)
        if rest:
            raise self.refuse_unknown(rest[0])
        _check_alone(folder, self.session.program)
        axes = read_axes(
            options["given"], lambda keys: holds_isl(folder, keys),
            lambda name, place: read_text(folder, name, place),
        )
        found = combine(folder, axes)
        folders = [write_folder(folder, each) for each in found]
        _say_pinned(folder)
        made_of = {"cmds": self.cmds, **self._kwargs}
        built = build_folders(folders, _words(options), self.loader.load_doit_config(), made_of)
        if built.code:
            return built.code
        rows = sort_rows(_rows(found, folders, built.refused), options["sort"])
        _keep(folder, axes, rows)
        _print(folder, axes, rows, options)
        return int(not any(map(is_right, rows)) or any(_is_wrong(row) for row in rows))

    def _example(self, words: list[str]) -> str:
        """Return a sweep of the folder that words name; of fc, where it is not clear which."""
        try:
            folder, _ = self.select_one(words)
        except InvalidCommand:
            name, given = "fc", "sizes.M=32,64"
        else:
            _check_alone(folder, self.session.program)
            name, given = folder.name, hint_of_sweep(folder)
        return f"`{self.session.program} {self.name} {name} {OPTION} {given}`"


def _as_typed(name: str, left: list[str]) -> list[str]:
    """Return the words behind the name of a command, of which doit left these."""
    typed = (sys.argv[at + 1 :] for at, word in enumerate(sys.argv) if word == name)
    return next((t for t in typed if [w for w in t if w[:1] == "-" or "=" not in w] == left), left)


def _check_alone(folder: LayerFolder, program: str) -> None:
    """Raise UserError for a part: what it takes comes from others."""
    whole = network_of(folder)
    if folder.is_slot or folder.asked_in is not None or whole is not folder:
        hint = f"`{program} new NAME --like {folder.name}` makes a folder of its own of it"
        raise UserError(f"{folder.name} is a part, which is not built alone", hint=hint)


def _say_pinned(folder: LayerFolder) -> None:
    """Say which texts that a person edited no combination has."""
    for path in (file_of(folder, name) for name in pins(folder)):
        if path.is_file():
            print(f"swept without the edits of {shown_path(path)}, which are pinned",
                  file=sys.stderr)


def _words(options: Options) -> list[str]:
    """Return the options of a build."""
    processes = options["num_process"]
    words = ["--parallel-type", options["par_type"]]
    words += [] if processes is None else ["-n", str(processes)]
    return [*words, "-v", "2"] if options["everything"] else words


def _rows(
    found: Sequence[Combination], folders: Sequence[LayerFolder], refused: Mapping[str, str]
) -> list[ComparisonRow]:
    rows = []
    for each, folder in zip(found, folders, strict=True):
        file = file_of(folder, RESULTS)
        results = json.loads(file.read_bytes()) if file.is_file() else None
        keys = {key: choice.text for key, choice in each.chosen.items()}
        place = shown_path(folder.path)
        rows.append(row_of(keys, place, results, refused.get(folder.name, "")))
    return rows


def _is_wrong(row: ComparisonRow) -> bool:
    return row.figures is not None and not is_right(row)


def _data(
    folder: LayerFolder, axes: Sequence[SweepAxis], rows: Sequence[ComparisonRow]
) -> dict[str, Any]:
    keys = [axis.key for axis in axes]
    return {"name": folder.name, "keys": keys, "work": list_work(keys), "rows": data_of(rows)}


def _keep(folder: LayerFolder, axes: Sequence[SweepAxis], rows: Sequence[ComparisonRow]) -> None:
    """Write the plot, and what a report reads."""
    from lairmake.stages.make.report.comparison import scatter

    text = json.dumps(_data(folder, axes, rows), indent=1, ensure_ascii=False)
    write_beside(folder, place_of(folder, PLOT), scatter(rows).encode())
    write_beside(folder, place_of(folder, DATA), f"{text}\n".encode())


def _print(
    folder: LayerFolder, axes: Sequence[SweepAxis], rows: Sequence[ComparisonRow], options: Options
) -> None:
    if options["json"]:
        print_json(_data(folder, axes, rows))
    elif options["csv"]:
        sys.stdout.write(csv_of(rows))
    else:
        width = shutil.get_terminal_size((NARROW, 24)).columns if is_terminal() else NARROW
        sys.stdout.write(table(folder.name, rows, width))

