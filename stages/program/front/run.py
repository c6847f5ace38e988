"""Run of a source on x86, as `python` would run it."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lairmake.stages.program.front.source_on_x86 import digest_code, strip_source
from lairmake.stages.program.front.value import WORLD, HostValue, take_array
from lairmake.stages.program.values.api import check_parameters, execute
from lairmake.stages.program.values.forms import Number, ProgramError
from lairmake.stages.program.values.operators import Initial

# --- Run of a source and its outputs --------------------------------------------------------------
#
# Paper    E Sec. 5.2: the same source runs with NumPy

def rehearse_program(
    source: str, path: str, code: str, outputs: Sequence[str],
    initial: Mapping[str, Number | str | None], data: Mapping[str, bytes],
) -> dict[str, bytes]:
    """Return the outputs of a source as files, `build/numpy/NAME.npy`.

    `initial` has the first values of every object: a number, "file" for values in
    `build/data/NAME.npy` of `data`, or None for an object that the program writes first. Blocks of
    MACH_Compiler_Ignore are left out; `code` is the digest of the rest. Raises ProgramError for
    another digest, or for other first values, and any exception of the source.
    """
    tree = strip_source(source, path)
    if digest_code(tree) != code:
        raise ProgramError(f"{path.rpartition('/')[2]} changes while it is built", "build it again")
    WORLD.begin(_read_initial(initial, data))
    names = execute(tree, path)
    check_parameters()
    return {f"build/numpy/{name}.npy": _spell(_find_output(name, names)) for name in outputs}


def _read_initial(
    initial: Mapping[str, Number | str | None], data: Mapping[str, bytes]
) -> dict[str, Initial]:
    return {
        name: np.load(io.BytesIO(data[f"build/data/{name}.npy"]), allow_pickle=False)
        if isinstance(given, str) else given
        for name, given in initial.items()
    }


def _find_output(name: str, names: Mapping[str, Any]) -> HostValue:
    """Return an output: an object, or a scalar that a hint named. Raises ProgramError."""
    found = WORLD.objects.get(name, names.get(name))
    if not isinstance(found, HostValue):
        said = f"the program has an output {name}, which its run on x86 did not make"
        raise ProgramError(said, "what it does depends on nothing but its files and parameters")
    return found


def _spell(value: HostValue) -> bytes:
    text = io.BytesIO()
    np.lib.format.write_array(text, np.ascontiguousarray(take_array(value)).reshape(value.shape),
                              allow_pickle=False)
    return text.getvalue()
