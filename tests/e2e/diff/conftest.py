"""A repository with the layer fc, committed and built."""

import shutil
import subprocess

import pytest

from tests.e2e.conftest import DODO, ROOT, Space

GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
WIDER = (("M: 32, N: 16", "M: 32, N: 20"), ("0:15", "0:19"), ("PE[j//4", "PE[j//5"))
IGNORED = ".lairmake/\n__pycache__/\n/projects/**/build/\n/cache/\n"


class Repository(Space):
    """A workspace with the layer fc in a git repository."""

    def git(self, *arguments):
        return subprocess.run(
            [*GIT, *arguments], cwd=self.root, check=True, capture_output=True, text=True
        ).stdout

    def commit(self, everything=True):
        if everything:
            self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "a commit")
        return self.git("rev-parse", "--short=7", "HEAD").strip()

    def replace(self, name, *changes):
        text = self.read(name)
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        self.write(name, text)


def set_up(space):
    space.write("dodo.py", DODO)
    space.write(".gitignore", IGNORED)
    space.copy(ROOT / "projects/fc", "projects/fc")


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """The store of a workspace that built fc, so that the tests need not."""
    space = Repository(tmp_path_factory.mktemp("built"), ROOT)
    set_up(space)
    space.build()
    space.replace("projects/fc/layer.yaml", *WIDER)
    space.build()
    return space


@pytest.fixture(scope="session")
def committed(built, tmp_path_factory):
    """A repository with fc committed and built."""
    space = Repository(tmp_path_factory.mktemp("committed"), ROOT)
    set_up(space)
    shutil.copytree(built.root / ".lairmake/store", space.root / ".lairmake/store")
    space.git("init", "--quiet")
    space.head = space.commit()
    assert space.build() == []
    return space


@pytest.fixture
def repository(committed, tmp_path):
    """A copy of that repository for one test."""
    space = Repository(shutil.copytree(committed.root, tmp_path, dirs_exist_ok=True), ROOT)
    space.head = committed.head
    return space
