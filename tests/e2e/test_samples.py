"""Every sample of docs/api.md runs, and prints what it says."""

import re

import pytest

from lairmake.stages.make.doit.commands.new import copy_layer
from tests.e2e.conftest import DODO, ROOT

BLOCKS = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SAYS = re.compile(r"^ *print\(.*?\)(?: +# (.*))?$", re.MULTILINE)


@pytest.mark.long
def test_every_sample_prints_what_it_says(space, monkeypatch):
    space.copy(ROOT / "projects/fc", "projects/fc")
    copy_layer(ROOT / "projects/fc", space.root / "projects/wrong", inputs=False)
    lair = space.read("projects/wrong/wrong.lair")
    space.write("projects/wrong/wrong.lair", lair.replace("* x[j]\n", "* x[j*j]\n"))
    space.write("dodo.py", DODO)
    monkeypatch.chdir(space.root)
    text = "".join(BLOCKS.findall((ROOT / "docs/api.md").read_text(encoding="utf-8")))
    printed = []
    exec(text, {"print": lambda *words: printed.append(" ".join(map(str, words)))})
    said = SAYS.findall(text)
    assert len(said) > 10
    assert [word or line for word, line in zip(said, printed, strict=True)] == printed
