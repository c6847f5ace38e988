"""Profiles of ours only: no file of a user is there."""

from lairmake.stages.diagnose import UserError


class Ours:
    """Where machines are found, and none in a file."""

    def further_path(self, given, span):
        raise UserError(f"{given} does not exist", span)

    def note_figures(self, given, files, write):
        pass


OURS = Ours()
