"""Values are defined before they are used: xDSL reads a text where they are not."""

from __future__ import annotations

from xdsl.ir import Block

from lairmake.stages.diagnose import UserError
from lairmake.stages.kernel.mlir.text import Text

HINT = "put the operation that defines it in front of this one"


def check_definitions(text: Text) -> None:
    """Raise UserError for an operation that uses what one behind it, or itself, defines."""
    _check_block(text, text.function.body.block, set())


def _check_block(text: Text, block: Block, defined: set[int]) -> None:
    """Add to `defined`, by identity, what a block defines; nothing outside can name it."""
    defined.update(map(id, block.args))
    for operation in block.ops:
        for value in operation.operands:
            if id(value) not in defined:
                message = f"%{text.names[id(value)]} is used before it is defined"
                raise UserError(message, text.span(operation), HINT)
        for region in operation.regions:
            for inner in region.blocks:
                _check_block(text, inner, defined)
        defined.update(map(id, operation.results))
