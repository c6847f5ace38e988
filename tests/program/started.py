"""A program folder whose source runs in a process of its own, and nothing else of a build."""

from lairmake.stages.diagnose import UserError
from lairmake.stages.make.core.inputs import FolderInputs
from lairmake.stages.make.store.folders import LayerFolder
from lairmake.stages.program.sandbox.limits import LIMITS
from lairmake.stages.program.sandbox.parent import run_apart
from tests.program.run_source import run_source


class Folder:
    """A folder of a program; `files` are what a stage would be given of it."""

    def __init__(self, path):
        self.path = path
        self.write("program.yaml", "program: heat.py\n")
        self.write("heat.py", "")
        self.opened = {}

    def write(self, name, text):
        file = self.path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def inputs(self):
        below = {name: self.path / name for name in ("build", "cache")}
        folder = LayerFolder(name="heat", path=self.path, home=self.path, **below)
        return FolderInputs(folder, ("program.yaml",))

    def run(self, source, limits=LIMITS, **arguments):
        """Return what a source leaves in `found`, of which `opened` are the files that it read."""
        self.write("heat.py", source)
        inputs = self.inputs()
        found = run_apart(run_source, inputs, arguments, limits=limits)
        self.opened = inputs.further
        return found

    def error(self, source, limits=LIMITS):
        """Return the text of the error that a source ends with, with no path of this machine."""
        try:
            self.run(source, limits)
        except UserError as error:
            return str(error).replace(f"{self.path}/", "")
        raise AssertionError("no error")
