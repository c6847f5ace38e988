"""Messages for texts that are no YAML, in our words instead of those of the parser."""

from __future__ import annotations

import re

import yaml

TOKENS = {
    "<stream end>": "the end of the text", "<block end>": "the end of what is indented",
    "<scalar>": "a text", "<block mapping start>": "a line that is indented further",
    "<block sequence start>": "a list, `-`",
    "<document start>": "`---`", "<document end>": "`...`", "<anchor>": "an anchor, `&`",
    "<alias>": "an alias, `*`", "<tag>": "a tag, `!`", "<directive>": "a directive, `%`",
}
"""Our names of parts of a text, by those of the parser; others are signs."""
NAMED = {"\\t": "a tab", "\\n": "the end of the line", "\\x00": "the end of the text"}
"""Characters that cannot be seen, by the parser's spelling of them."""
SAID = (
    (r"expected '(.)' or '(.)', but got (.+)", "found {2}, expected `{0}` or `{1}`"),
    (r"expected <block end>, but found (.+)", "found {0}, expected a key, or the end of the line"),
    (r"expected the node content, but found (.+)", "found {0}, expected a value"),
    (r"expected '<document start>', but found (.+)", "found {0} behind the value"),
    (r"mapping values are not allowed here", "found `:` behind what is no key"),
    (r"mapping keys are not allowed here", "found `?`, which begins no key here"),
    (r"sequence entries are not allowed here", "found `-`, which begins no entry of a list here"),
    (r"could not find expected ':'", "a key without `:`"),
    (r"found character (.+) that cannot start any token", "found {0}, which begins no value"),
    (r"found undefined alias (.+)", "`*{bare}` is the name of no anchor"),
    (r"second occurrence", "a second anchor of this name"),
    (r"could not determine a constructor for the tag 'tag:yaml.org,2002:([^']+)'",
     "an unknown tag, `!!{bare}`"),
    (r"could not determine a constructor for the tag (.+)", "an unknown tag, `{bare}`"),
    (r"found unknown escape character (.+)", "`\\{bare}` stands for nothing"),
    (r"found unexpected end of stream", "this text has no end"),
    (r"found unexpected document separator", "found `---` or `...` in a text"),
    (r"expected a comment or a line break, but found (.+)", "found {0}, where a line ends"),
    (r"expected chomping or indentation .*, but found (.+)", "found {0} behind `|` or `>`"),
    (r"expected alphabetic or numeric character, but found (.+)",
     "found {0} behind `*` or `&`, where a name begins"),
    (r"expected URI, but found (.+)", "found {0} in a tag, `!`"),
    (r"expected escape sequence .*", "an escape without its digits"),
    (r"found unhashable key", "a key is a name"),
    (r"failed to (convert|decode) base64 data.*", "this is no base64"),
    (r"but found another document", "a second document, behind `---`"),
)
"""Messages of the parser, as patterns, and ours."""
OTHERWISE = "this is not YAML"


def explain_yaml(problem: str) -> str:
    """Return what is wrong with a text, as the parser's `problem` says it."""
    for pattern, said in SAID:
        found = re.fullmatch(pattern, problem, re.DOTALL)
        if found is not None:
            bare = found[1].strip("'\"") if found.groups() else ""
            return said.format(*map(_name, found.groups()), bare=bare)
    return OTHERWISE


def _name(part: str) -> str:
    """Return how a person calls a part of a text that the parser names."""
    quoted = part[:1] in "'\"" and part[-1:] == part[:1]
    bare = part[1:-1] if quoted else part
    if bare in TOKENS:
        return TOKENS[bare]
    if bare in NAMED:
        return NAMED[bare]
    return f"`{bare}`" if quoted else bare


KINDS = {
    "timestamp": "a date", "int": "an integer", "float": "a number", "bool": "a truth value",
}
"""Our names of kinds of values, by those of YAML."""


def explain_scalar(node: yaml.ScalarNode) -> str:
    """Return what is wrong with a text that YAML reads as a number or a date, and that is none."""
    kind = KINDS.get(node.tag.rpartition(":")[2], "a value")
    return f"{f'`{node.value}`' if node.value else 'an empty text'} reads as {kind}, and is none"
