"""The command `doit schema`: JSON schemas of the files that a user writes, for editors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lairmake.stages.make.doit.commands.command import LayerCommand, Options, print_json

DRAFT = "https://json-schema.org/draft/2020-12/schema"
KINDS = ("layer", "network", "kernel", "program", "lairmake")


class Schema(LayerCommand):
    """Print a JSON schema."""

    name = "schema"
    doc_purpose = "print the JSON schema of layer.yaml, or of another file, for editors"
    doc_usage = "layer | network | kernel | program | lairmake"
    doc_description = (
        "Says what keys a layer.yaml, network.yaml, kernel.yaml, program.yaml or lairmake.yaml "
        "has, and what they hold. An editor that is given it completes keys, and marks what is "
        "wrong."
    )
    cmd_options = ()
    needs_dodo = False

    def act(self, options: Options, words: list[str]) -> int:
        """Print the schema of the one kind of file that is named."""
        if len(words) != 1 or words[0] not in KINDS:
            raise self.refuse(f"say of which file: {', '.join(KINDS)}")
        print_json({"$schema": DRAFT, **schema_of(words[0])})
        return 0


def schema_of(kind: str) -> Mapping[str, Any]:
    """Return the JSON schema of a kind of file, from its model."""
    if kind == "layer":
        from lairmake.stages.mapping.layer_yaml import schema

        return schema()
    if kind == "network":
        from lairmake.stages.mapping.network_yaml import network_forms

        return network_forms()
    if kind == "kernel":
        from lairmake.stages.mapping.kernel_yaml import kernel_schema

        return kernel_schema()
    if kind == "program":
        from lairmake.stages.mapping.program_yaml import program_schema

        return program_schema()
    from lairmake.stages.make.store.settings import Settings

    return Settings.model_json_schema()
