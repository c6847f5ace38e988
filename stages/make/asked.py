"""Errors in layers that a stage wrote for a kernel, as errors in its kernel.yaml."""

from __future__ import annotations

from stages.diagnose import Source, Span, UserError, UserErrors

REMEDY = "which follows from this: take smaller tiles, or another machine"


def as_asked(
    error: UserError | UserErrors, part: str, source: Source
) -> UserError | UserErrors:
    """Return what is wrong with a part at the place in kernel.yaml, `source`, that asks for it.

    What has no place in a file is told as it is.
    """
    if isinstance(error, UserErrors):
        return UserErrors(_asked(each, part, source) for each in error.errors)
    return _asked(error, part, source)


def _asked(error: UserError, part: str, source: Source) -> UserError:
    if error.span is None:
        return error
    written = f"{error.span.source.path}:{error.span.line}, {REMEDY}"
    hint = f"{error.hint}: in {written}" if error.hint else f"see {written}"
    return UserError(f"part {part}: {error.message}", _place(source), hint)


def _place(source: Source) -> Span:
    """Return where kernel.yaml asks for parts: its tiles, else its facts."""
    from stages.volumes.kernel import read_kernel

    kernel = read_kernel(source)
    return kernel.key_span("tiles" if kernel.tiles else "facts")
