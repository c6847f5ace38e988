"""Sources damaged by chance: they are translated or refused, quickly, and nothing else happens."""

import ast
import random
import time
from pathlib import Path

import pytest

from lairmake.stages.diagnose import UserError, UserErrors, source_of
from lairmake.stages.program.source.translation import translate_source
from tests.program.test_refused import FOLDER
from tests.program.translated import HEAD, equals_tree
from tests.property.mutate_python import mutate

PROJECTS = Path(__file__).resolve().parents[2] / "projects"
PROGRAMS = [
    (PROJECTS / name / f"{name}.py").read_text("utf-8")
    for name in ("listing1", "heat", "cg", "cavity", "ising")
]
PIECES = [
    HEAD + part.partition("\n")[2].partition("---\n")[0]
    for path in sorted(FOLDER.glob("*.txt")) for part in path.read_text("utf-8").split("=== ")[1:]
]
SECONDS = 5.0


def translate_or_refuse(seed):
    """Return "" for a source that is refused; what is translated is the text of its tree."""
    rng = random.Random(seed)
    text = mutate(rng.choice(PROGRAMS if rng.random() < 0.5 else PIECES), rng)
    try:
        translation = translate_source(source_of("p.py", text.encode()))
    except (UserError, UserErrors) as error:
        assert str(error).startswith("p.py")
        return ""
    assert equals_tree(ast.parse(translation.text), ast.parse(ast.unparse(translation.tree)))
    return translation.text


@pytest.mark.wide
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_100_damaged_sources_are_translated_or_refused():
    begun = time.process_time()
    found = [translate_or_refuse(seed) for seed in range(100)]
    assert 10 <= sum(map(bool, found)) <= 60
    assert time.process_time() - begun < SECONDS


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_2000_damaged_sources_are_translated_or_refused():
    found = [translate_or_refuse(seed) for seed in range(100, 2100)]
    assert 200 <= sum(map(bool, found)) <= 1200
