"""What is wrong in a YAML file of a user, as far as one sees without running a stage."""

from __future__ import annotations

from collections.abc import Iterator

from lairmake.stages.diagnose import Source, UserError, UserErrors
from lairmake.stages.make.core.folder_inputs import FolderInputs
from lairmake.stages.make.store.folders import (
    GRAPHS,
    KERNEL,
    LAYER,
    NETWORK,
    LayerFolder,
    files_in,
)


def errors_in(folder: LayerFolder, name: str, source: Source) -> list[UserError]:
    """Return what is wrong in the text of a file that a folder has by this name."""
    try:
        if name == LAYER:
            return list(_check_layer(folder, source))
        _check_other(folder, name, source)
    except UserErrors as error:
        return error.errors
    except UserError as error:
        return [error]
    return []


def _check_layer(folder: LayerFolder, source: Source) -> Iterator[UserError]:
    """Yield what is wrong with tensors, sizes, types and the machine; raise what comes before."""
    from lairmake.stages.mapping.layer_names import check_names
    from lairmake.stages.mapping.machine import read_machine

    inputs = FolderInputs(folder, (LAYER, "*.lair"), {LAYER: source.text.encode()})
    mapping = inputs.mapping()
    try:
        read_machine(mapping, inputs)
    except UserError as error:
        yield error
    try:
        yield from check_names(mapping, inputs.lair())
    except UserErrors as error:
        yield from error.errors
    except UserError as error:
        yield error


def _check_other(folder: LayerFolder, name: str, source: Source) -> None:
    """Raise UserError(s) for what is wrong in the file of a network, a kernel or a program."""
    if name == KERNEL:
        from lairmake.stages.mapping.kernel_yaml import load_kernel

        load_kernel([source])
    elif name != NETWORK:
        from lairmake.stages.mapping.program_yaml import read_program

        read_program(source)
    elif graphs := [each for each in files_in(folder.path) if each.endswith(GRAPHS)]:
        from lairmake.stages.mapping.network_yaml import load_graph

        load_graph([source], graphs)
    else:
        from lairmake.stages.mapping.network_yaml import read_network

        read_network(source)
