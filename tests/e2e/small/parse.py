"""Leave the comments of the .lair out.

Paper    none: a small stage for the tests of the Make
Reads    layer.yaml, *.lair
Writes   lair.isl
"""

from lairmake.stages.diagnose import Span, UserError, UserErrors
from lairmake.stages.noted import note

READS = ("layer.yaml", "*.lair")
WRITES = ("lair.isl",)


def run(inputs):
    sources = [inputs.source(name) for name in inputs.names("*.lair")]
    errors = [error for source in sources for error in wrong(source)]
    if errors:
        raise UserErrors(errors)
    if inputs.text("layer.yaml").startswith("crash"):
        raise RuntimeError("a bug")
    lines = [line.split("#")[0].strip() for s in sources for line in s.text.splitlines()]
    note("parse", inputs)
    return {"lair.isl": "\n".join(filter(None, lines)) + "\n"}


def wrong(source):
    at = source.text.find("wrong")
    if at >= 0:
        span = Span(source=source, start=at, end=at + 5)
        yield UserError("this is wrong", span, "write what is right")
