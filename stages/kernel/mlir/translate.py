"""Translation of a function in MLIR to the operations of a kernel, with claims of sizes.

Source   F: MLIR types define the volumes, MLIR operations define volume
         element maps
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from xdsl.dialects.builtin import IndexType
from xdsl.dialects.func import ReturnOp
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.ops import TransposeOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from lairmake.stages.diagnose import UserError
from lairmake.stages.kernel.mlir import linalg, moves
from lairmake.stages.kernel.mlir.affine import write_index
from lairmake.stages.kernel.mlir.body import ELEMENTWISE, HINT, constant
from lairmake.stages.kernel.mlir.dialect import Text, check_definitions
from lairmake.stages.kernel.mlir.draft import KernelDraft
from lairmake.stages.kernel.mlir.moves import collapse, expand
from lairmake.stages.kernel.mlir.syntax import show_form
from lairmake.stages.kernel.mlir.verifier import check_form

HANDLERS: Mapping[str, Callable[[KernelDraft, Operation], None]] = {
    "arith.constant": constant,
    "tensor.empty": moves.empty,
    "tensor.cast": moves.cast,
    "tensor.splat": moves.splat,
    "tensor.extract": moves.extract,
    "tensor.pad": moves.pad,
    "tensor.extract_slice": moves.extract_slice,
    "tensor.insert_slice": moves.insert_slice,
    "tensor.concat": moves.concat,
    "tensor.collapse_shape": collapse,
    "tensor.expand_shape": expand,
    "linalg.broadcast": linalg.broadcast,
    "linalg.map": linalg.map_,
    "linalg.reduce": linalg.reduce,
    **dict.fromkeys(ELEMENTWISE, linalg.elementwise),
}


def translate(text: Text) -> tuple[KernelDraft, list[str]]:
    """Return the operations of a function, and the volumes that it returns.

    Raises UserError for an operation not on volumes, or one that uses an undefined value.
    """
    check_definitions(text)
    draft = KernelDraft(text)
    for argument in text.function.body.block.args:
        if isinstance(argument.type, IndexType):
            draft.indices[id(argument)] = draft.symbol(text.names[id(argument)])
        else:
            draft.define(argument, {"kind": "input"}, text.function, "argument")
    outputs: list[str] = []
    for operation in text.function.body.block.ops:
        if isinstance(operation, ReturnOp):
            for value in operation.operands:
                draft.type_of(value.type, operation)
            outputs = [draft.volume(value) for value in operation.operands]
        else:
            _add_checked(draft, operation)
    return draft, list(dict.fromkeys(outputs))


def _add_checked(draft: KernelDraft, operation: Operation) -> None:
    """Add an operation. Raises UserError for a malformed one.

    xDSL's verifier is only asked after an unexpected failure, as errors of this compiler say more.
    """
    draft.at = operation
    try:
        check_form(draft, operation)
        _add(draft, operation)
    except UserError:
        raise
    except Exception:
        _verify(draft, operation)
        raise


def _verify(draft: KernelDraft, operation: Operation) -> None:
    """Raise UserError for an operation that xDSL finds malformed.

    The error has xDSL's message if that is readable.
    """
    try:
        operation.verify()
    except VerifyException as error:
        said = " ".join(str(error).split())
        raise draft.error(operation, f"MLIR: {said}", show_form(operation.name)) from error
    except Exception as error:
        message = f"{operation.name} is written in another way"
        raise draft.error(operation, message, show_form(operation.name)) from error


def _add(draft: KernelDraft, operation: Operation) -> None:
    if all(isinstance(result.type, IndexType) for result in operation.results):
        for result in operation.results:
            write_index(draft, result)
        return
    if isinstance(operation, LinalgStructuredOperation | TransposeOp):
        handler: Any = linalg.structured
    else:
        handler = HANDLERS.get(operation.name)
    if handler is None:
        raise _unknown(draft, operation)
    handler(draft, operation)


def _unknown(draft: KernelDraft, operation: Operation) -> UserError:
    if operation.dialect_name() in ("arith", "math"):
        return draft.error(operation, f"{operation.name} is no arithmetic here", HINT)
    hint = "write it as linalg.generic, or as tensor.pad, extract_slice, insert_slice or concat"
    return draft.error(operation, f"{operation.name} is no operation on volumes here", hint)
