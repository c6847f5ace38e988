"""The command `doit new`: a new folder that builds, with the files of another one."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lairmake.stages.diagnose import UserError, UserErrors, source_of
from lairmake.stages.make.core.action import is_up_to_date
from lairmake.stages.make.core.layers import (
    lone_folder,
)
from lairmake.stages.make.core.sweep import check_link, paths_out
from lairmake.stages.make.doit.commands.command import JSON, LayerCommand, Options, print_json
from lairmake.stages.make.doit.commands.inert import option
from lairmake.stages.make.doit.commands.models import SHIPPED, find_model, how_to_build, place_of
from lairmake.stages.make.store.files import is_left_over, temporary_name
from lairmake.stages.make.store.folders import (
    CHOSEN,
    LAYER,
    NETWORK,
    NOT_LAYERS,
    OF_DOIT,
    PROGRAM,
    LayerFolder,
    file_of,
    files_in,
    mark_of,
    shown_path,
)

NAME = re.compile(r"[A-Za-z_][\w-]*(/[A-Za-z_][\w-]*)*")
LIKE = option(
    "like",
    "the layer whose files are copied, by its name or its path [default: %(default)s]",
    default="fc",
)
INPUTS = option("inputs", "copy its inputs too, as of a program always")
MODULES = sys.stdlib_module_names | {"lairmake", "numpy", "stages"}
"""Names that no program may have: Python looks for these modules beside it first."""


class New(LayerCommand):
    """Make a layer folder."""

    name = "new"
    doc_purpose = "make a layer folder that builds"
    doc_usage = "NAME [--like LAYER]"
    doc_description = (
        "NAME is made below projects/ in the top folder of a workspace, and where you stand "
        "elsewhere. It gets the files of another layer, by default of fc: edit NAME/NAME.lair and "
        "NAME/layer.yaml. LAYER may be a network with its layers, as mlp, a kernel, or a program, "
        "as heat: edit NAME/NAME.py; or a graph, or a part of one that was built, as lenet/conv2: "
        "where it lies is written out."
    )
    cmd_options = (LIKE, INPUTS, JSON)
    needs_dodo = False

    def act(self, options: Options, words: list[str]) -> int:
        """Copy a layer to a new folder."""
        if len(words) != 1 or not NAME.fullmatch(words[0]):
            raise self.refuse("say one NAME, of letters, digits, _ and -, and not a digit first")
        folder = place_of(words[0])
        self._check(folder)
        model = find_model(options["like"], words[0], self.session.program)
        copy_layer(model.path, folder, options["inputs"])
        take_over(model, folder)
        self._report(folder, options["json"])
        return 0

    def _check(self, folder: Path) -> None:
        """Raise UserError where no layer can be made."""
        name = lone_folder(folder).name
        above = [p for p in folder.parents if (p / LAYER).is_file()]
        if name in self.cmds:
            raise UserError(f"{name} is a command of doit", hint="choose another name")
        if NOT_LAYERS.intersection(name.split("/")):
            raise UserError(f"{name} is where a layer keeps its files", hint="choose another name")
        if folder.exists() or folder.is_symlink():
            raise UserError(f"{shown_path(folder)} exists", hint="choose another name")
        if above:
            raise UserError(f"{shown_path(folder)} would lie in the layer {above[0].name}")

    def _report(self, folder: Path, as_json: bool) -> None:
        layer = lone_folder(folder)
        files = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())
        if as_json:
            print_json({"layer": layer.name, "folder": str(folder), "files": files})
            return
        print("\n".join([f"{shown_path(folder)}/", *(f"  {f}" for f in files)]))
        print(f"build it: {how_to_build(folder, self.session.program)}")


def copy_layer(model: Path, folder: Path, inputs: bool) -> None:
    """Copy what a user wrote in the folder `model`; its .lair, or its program, gets a new name.

    Raises UserError where the new folder cannot be written; then nothing stays.
    """
    made = folder.with_name(temporary_name(folder.name))
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        for name in filter(is_left_over, os.listdir(folder.parent)):
            shutil.rmtree(folder.parent / name, ignore_errors=True)
        is_program = mark_of(files_in(model)) == PROGRAM
        shutil.copytree(model, made, ignore=_left_out(model, inputs or is_program))
        if is_program:
            _rename_program(made, folder.name)
        else:
            _rename_lair(made, f"{folder.name}.lair")
        lead_to_files(model, made, folder)
        if not (made / OF_DOIT).is_file():
            shutil.copy(SHIPPED / "fc" / OF_DOIT, made)
        made.rename(folder)
    except OSError as error:
        raise UserError(f"cannot write {shown_path(folder)}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(made, ignore_errors=True)


def lead_to_files(model: Path, made: Path, folder: Path) -> None:
    """Let the paths in YAML files, of machines and of parts elsewhere, start from a new folder.

    A text that is no YAML stays as it is: the stages say what is wrong with it.
    """
    for file in made.rglob("*.yaml"):
        place = file.relative_to(made).parent
        with contextlib.suppress(UserError, UserErrors):
            source = source_of(file.name, file.read_bytes())
            led = {p: os.path.relpath(model / place / p, folder / place) for p in paths_out(source)}
            if led:
                file.write_text(_with_words(source.text, led), encoding="utf-8")


def _with_words(text: str, others: Mapping[str, str]) -> str:
    """Return a text with other words in place of some, also in its comments."""
    every = "|".join(map(re.escape, others))
    return re.sub(rf"(?<![\w./-])(?:{every})(?![\w./-])", lambda found: others[found[0]], text)


def take_over(layer: LayerFolder, folder: Path) -> None:
    """Write into a new layer.yaml what a search chose for the layer that was copied.

    Where the choice is not known, or does not fit the text, the new layer has its own search.
    """
    chosen, file = file_of(layer, CHOSEN), folder / LAYER
    with contextlib.suppress(UserError, UserErrors, OSError):
        if layer.is_searched and chosen.is_file() and is_up_to_date("settle", layer):
            from lairmake.stages.mapping.candidates import write_out
            from lairmake.stages.mapping.layer_yaml import read_mapping

            sources = (source_of(path.name, path.read_bytes()) for path in (file, chosen))
            text = write_out(*sources)
            if not read_mapping(source_of(LAYER, text.encode())).is_open:
                file.write_text(text, encoding="utf-8")


def _left_out(model: Path, inputs: bool) -> Any:
    """Return which files of a layer folder are not copied: what is built, and other layers.

    The layers in a network may be its parts.
    """
    built = NOT_LAYERS - ({"inputs"} if inputs else set())
    has_parts = mark_of(files_in(model)) == NETWORK

    def ignored(place: str, names: list[str]) -> list[str]:
        layers = [n for n in names if not has_parts and mark_of(files_in(Path(place, n)))]
        left = {n for n in names if n in built or n.startswith((".", "__")) or n in layers}
        for name in sorted({*names} - left):
            check_link(Path(place, name), model.resolve())
        return sorted(left)

    return ignored


def _rename_lair(folder: Path, name: str) -> None:
    """Give the only .lair file a name, and say so in layer.yaml."""
    lairs = list(folder.glob("*.lair"))
    if len(lairs) == 1:
        _rename(lairs[0], name, folder / LAYER, "lair")


def _rename_program(folder: Path, name: str) -> None:
    """Give the only source of a program the name of its folder, and say so in program.yaml."""
    sources = [path for path in folder.glob("*.py") if path.name != OF_DOIT]
    if len(sources) == 1 and name not in MODULES:
        _rename(sources[0], f"{name}.py", folder / PROGRAM, "program")


def _rename(path: Path, name: str, said: Path, key: str) -> None:
    """Give a file a name, also where a key of a YAML text says it."""
    text = said.read_text(encoding="utf-8")
    old = re.escape(path.name)
    text = re.sub(rf"^({key}:\s*){old}(?=\s|$)", rf"\g<1>{name}", text, flags=re.MULTILINE)
    said.write_text(text, encoding="utf-8")
    path.rename(path.with_name(name))
