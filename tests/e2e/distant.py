"""A file system for fsspec, of the folder $DISTANT: slow to set up, and lost after a fork.

As those of the network it must not be used by another process than the one that opened it. With
$BROKEN it cannot be reached.
"""

import os
from pathlib import Path

import fsspec
from fsspec.implementations.local import LocalFileSystem


class Distant(LocalFileSystem):
    protocol = "distant"

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.process = os.getpid()

    @classmethod
    def _strip_protocol(cls, path):
        below = f"{os.environ['DISTANT']}/"
        return path.replace("distant://", below, 1).rstrip("/")

    def _reach(self):
        if "BROKEN" in os.environ:
            with Path(os.environ["BROKEN"]).open("a") as file:
                file.write("asked\n")
            raise ConnectionError("no route to host")
        assert self.process == os.getpid(), "opened by another process"

    def cat_file(self, path, *args, **kwargs):
        self._reach()
        return super().cat_file(path, *args, **kwargs)

    def info(self, path, **kwargs):
        self._reach()
        return super().info(path, **kwargs)

    def pipe_file(self, path, value, **kwargs):
        self._reach()
        return super().pipe_file(path, value, **kwargs)


fsspec.register_implementation("distant", Distant)
