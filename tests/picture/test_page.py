"""What holds for every page: its data, its policy, its scripts, and the library that is shipped."""

import base64
import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from lairmake.stages.picture.page import LIBRARY, SCRIPTS, STYLE, write_data, write_page

ROOT = Path(__file__).resolve().parents[2]
FILES = ROOT / "templates/report"


@dataclass(frozen=True)
class Said:
    text: str


def test_no_text_can_end_the_element_that_holds_it():
    given = "</script><!-- <script> & ]]> \u2028 \\ \" é"
    written = write_data(Said(text=given))
    assert not set("<>&") & set(written)
    assert json.loads(written) == {"text": given}


def test_a_title_is_text():
    assert "<title>&lt;b&gt; &amp;</title>" in write_page("<b> &", Said(text=""))


def test_only_the_scripts_and_the_style_of_a_page_are_allowed():
    html = write_page("a", Said(text=""))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1]
    parts = dict(part.split(" ", 1) for part in policy.split("; "))
    texts = {"script-src": re.findall(r"<script>(.*?)</script>", html, re.DOTALL),
             "style-src": re.findall(r"<style>(.*?)</style>", html, re.DOTALL)}
    for key, inside in texts.items():
        digests = (hashlib.sha256(text.encode()).digest() for text in inside)
        assert parts.pop(key).split() == [
            f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]
    assert parts == {"default-src": "'none'", "img-src": "data:", "base-uri": "'none'",
                     "form-action": "'none'"}


def test_all_files_are_on_the_page_or_its_licence():
    assert {path.name for path in FILES.iterdir()} == {*SCRIPTS, LIBRARY, STYLE, "d3.LICENSE"}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_short(name):
    lines = (FILES / name).read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 300 and max(map(len, lines)) <= 100


def test_the_library_is_the_one_that_the_document_names():
    digest = hashlib.sha256((FILES / LIBRARY).read_bytes()).hexdigest()
    document = (ROOT / "docs/report.md").read_text(encoding="utf-8")
    version = re.match(rb"// https://d3js.org v([\d.]+) ", (FILES / LIBRARY).read_bytes())[1]
    assert f"{version.decode()}, as it is released" in document and digest in document
