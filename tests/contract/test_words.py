"""docs/words.md: one name for each thing, one thing for each name, and where the others are."""

import re
from pathlib import Path
from typing import get_args

import pytest

from lairmake.stages import WINGS, module_of
from lairmake.stages.fabric.outcome import DEEDS, OF_TASKS, TASK
from lairmake.stages.fabric.usage import CYCLES
from lairmake.stages.machine.profile import KNOWN
from lairmake.stages.make.core.declaration import declaration
from lairmake.stages.mapping.layer_yaml import Way

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/words.md").read_text(encoding="utf-8")
CODE = re.compile(r"`([^`]+)`")
OF_PATH = {*DEEDS, *OF_TASKS} - {DEEDS[TASK], "started", "none", "busy"}


def rows_of(head):
    """The rows of the table with this first column, each as its cells."""
    lines = PAGE.partition(f"\n| {head} |")[2].partition("\n\n")[0].splitlines()[2:]
    rows = [[cell.strip() for cell in re.split(r" \| ", line.strip("| "))] for line in lines]
    assert len(rows) > 3, head
    return rows


TERMS = rows_of("term")
NAMES = [re.match(r"(.*?)(?: \((\d)\))?$", name).groups() for row in TERMS
         for name in row[0].split(", ")]


def test_a_word_with_several_meanings_has_a_number_for_each():
    for name in {name for name, _ in NAMES}:
        numbers = [number for each, number in NAMES if each == name]
        wanted = [str(k + 1) for k in range(len(numbers))] if len(numbers) > 1 else [None]
        assert numbers == wanted, name


def test_no_row_has_two_meanings():
    assert [row[0] for row in TERMS if re.search(r"\balso\b", row[2])] == []


def test_a_synonym_is_no_term_with_another_meaning():
    names = {name for name, _ in NAMES}
    synonyms = {row[0]: re.split(", ", row[2].rpartition("; ")[2]) for row in TERMS
                if "; " in row[2]}
    assert {at: set(each) & names for at, each in synonyms.items() if set(each) & names} == {}


def test_terms_are_in_the_order_of_the_alphabet():
    terms = [row[0].lower() for row in TERMS]
    assert terms == sorted(terms)


def test_what_the_code_calls_a_term_is_in_the_code():
    texts = "".join(
        path.read_text(encoding="utf-8") for folder in ("stages", "templates", "docs")
        for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".j2", ".c", ".h", ".md")
        and path.name != "words.md"
    )
    parts = {part for row in TERMS for code in CODE.findall(row[1])
             for part in re.findall(r"[\w.]+", code)}
    assert len(parts) > 90 and [part for part in parts if part not in texts] == []


def test_the_letters_of_papers_are_those_of_the_page_of_papers():
    papers = " ".join((ROOT / "docs/paper.md").read_text(encoding="utf-8").split())
    known = dict(re.findall(r"- \*\*(\w)\*\*: [^*]*\*([^*]*)\*", papers))
    found = re.findall(r"- \*\*(\w)\*\*: [^*]*?, \*([^*]*)\*|- \*\*(\w)\*\*: ", papers)
    assert len(found) == len(known) == 4
    assert {row[0]: row[1].strip("*") for row in rows_of("letter")} == known
    cited = {each for row in TERMS for each in re.findall(r"\b([A-Z]) (?:\(|Sec|Ex|Def)", row[3])}
    assert cited and cited <= set(known)


def test_each_stage_is_there_with_its_wing_and_what_its_docstring_says():
    stages = [stage for wing in WINGS for stage in wing.STAGES]
    assert rows_of("stage | in") == [
        [stage, module_of(stage).split(".")[2], declaration(stage).title]
        for stage in sorted(stages)
    ]


def test_what_the_readme_and_its_commands_call_folders_are_terms():
    bold = re.findall(r"\*\*([^*]+)\*\*", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(bold) == 4 and set(bold) <= {name for name, _ in NAMES}


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("machines", KNOWN),
        ("vector_instructions", get_args(Way)),
        ("results", (*CYCLES, *OF_PATH)),
    ],
)
def test_the_pages_that_it_leads_to_say_what_names_mean(page, names):
    assert f"({page}.md)" in PAGE
    said = (ROOT / f"docs/{page}.md").read_text(encoding="utf-8")
    assert [name for name in names if not re.search(f"`{name}[`:]", said)] == []


def test_what_may_bind_a_bound_is_said_where_results_are():
    said = (ROOT / "docs/results.md").read_text(encoding="utf-8")
    (binds,) = re.findall(r"^- the bound: (.*?)^- ", said, re.MULTILINE | re.DOTALL)
    source = (ROOT / "stages/layer/cycles/bound.py").read_text(encoding="utf-8")
    names = re.findall(r'^        "(\w+)": ', source.partition("candidates = {")[2]
                       .partition("}")[0], re.MULTILINE)
    assert len(names) == 5
    assert [name for name in names if name.removesuffix("s") not in binds] == []


def source_of_summary(what):
    """The section of summaries that has the lines of something that is built."""
    text = (ROOT / "stages/make/report/summary.py").read_text(encoding="utf-8")
    (found,) = [each for each in text.split("\n# --- ")
                if each.startswith(f"The lines that a person reads when a {what} is built")]
    return found


def bullets(page):
    """The points of a page, each as a text."""
    prose = re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"^- (.*?)(?=^- |^\S|\Z)", prose, re.MULTILINE | re.DOTALL)


def test_each_line_of_a_summary_is_explained_where_results_are():
    page = (ROOT / "docs/results.md").read_text(encoding="utf-8")
    of_layers, of_programs = map(bullets, page.split("\n## Programs\n"))
    of_layer = re.findall(r'(?:^ +\(|yield )"(\w+)", ', source_of_summary("layer"), re.MULTILINE)
    of_program = re.findall(r'^ +\("(\w+)", ', source_of_summary("program"), re.MULTILINE)
    assert {"rests", "bound", "fabric"} <= set(of_layer) and {"cycles", "ran"} <= set(of_program)
    said = " ".join(of_layers)
    assert [key for key in of_layer if not re.search(rf"\b{key}\b", said)] == []
    assert [key for key in of_program if not any(f"`{key}`" in b for b in of_programs)] == []
