"""Run of one stage."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType

from lairmake.stages import module_of
from lairmake.stages.make.core.declaration import declaration
from lairmake.stages.make.core.inputs import FolderInputs
from lairmake.stages.make.store.folders import is_pattern, matches
from lairmake.stages.shipped import watch_files

# --- Run of a stage on its declared files ---------------------------------------------------------

watch_files()  # before a stage is loaded: what it reads then is read for all that come after it

MOST_OPERATIONS = 100_000_000
"""Operations of isl in one stage, at most: two minutes at the most, in general half of that."""
MOST_IN_A_SLOT = MOST_OPERATIONS // 10
"""Operations in a slot of a search: what is harder is not tried, since there are others."""


def perform(
    name: str, inputs: FolderInputs, most_operations: int = MOST_OPERATIONS
) -> dict[str, bytes]:
    """Return the contents that stage `name` writes, by the names that it declares.

    Raises UserError or UserErrors where the layer folder is wrong, and TooManyOperations for a
    layer that isl would work on for minutes.
    """
    from lairmake.stages.poly.quota import limit_operations

    with limit_operations(most_operations):
        outputs: Mapping[str, str | bytes] = load(name).run(inputs)
    contents = {n: c.encode() if isinstance(c, str) else bytes(c) for n, c in outputs.items()}
    check_names(name, declaration(name).writes, contents)
    return contents


@functools.cache
def load(name: str) -> ModuleType:
    """Return the module of a stage, loaded with all that it needs."""
    importlib.import_module("lairmake.stages.poly.quota")
    return importlib.import_module(module_of(name))


def check_names(stage: str, declared: Sequence[str], outputs: Mapping[str, bytes]) -> None:
    """Assert that a stage returned every file that it declares, and no other."""
    missing = [n for n in declared if not is_pattern(n) and n not in outputs]
    assert not missing, f"stage {stage} did not return {missing}"
    known = {o for o in outputs for n in declared if matches(o, n)}
    assert known == outputs.keys(), f"{stage} does not declare {sorted(outputs.keys() - known)}"

# --- Options for the stages of a build ------------------------------------------------------------

@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOptions:
    """Options of how stages are built.

    With `always`, stages run whatever is known of them. With `keep_edits`, texts stay that were
    edited by hand. With `of_revision`, older stages may have written the texts.
    """

    always: bool = False
    keep_edits: bool = False
    of_revision: bool = False


PLAIN = BuildOptions()
"""A build without options."""
