"""What a command asks of the stages of a build, whichever process runs them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOptions:
    """How stages are built: `always`, whatever is known of them; so that texts which were edited
    by hand stay, with `keep_edits`; on texts `of_revision`, which older stages may have written.
    """

    always: bool = False
    keep_edits: bool = False
    of_revision: bool = False


PLAIN = BuildOptions()
"""A build without options."""
