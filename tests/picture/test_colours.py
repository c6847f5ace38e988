"""The colours of states: whoever looks tells them apart, on light and on dark."""

import itertools
import math
import re
from pathlib import Path

import pytest

STYLE = Path(__file__).resolve().parents[2] / "templates/report/page.css"
STATES = ("computing", "moving", "no-input", "no-space", "under-way", "blocked", "full-queue",
          "datapath")
LEAST_APART, LEAST_CONTRAST = 14, 3
"""In CIELAB, where 2 is just seen, and to the panel: WCAG 2.1, 1.4.11."""
SEEN = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
                   (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
                     (-0.01182, 0.04294, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602),
                   (0.004733, 0.691367, 0.3039)),
}
"""What is seen of linear red, green and blue: Machado, Oliveira, Fernandes, IEEE TVCG 2009."""
TO_XYZ = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
WHITE = (0.9505, 1, 1.0891)


def read_themes():
    light, dark = STYLE.read_text(encoding="utf-8").split("@media (prefers-color-scheme: dark)")[:2]
    found = [dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", part)) for part in (light, dark)]
    return dict(zip(("light", "dark"), found, strict=True))


THEMES = read_themes()


def times(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def linear(colour):
    values = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values]


def lab(colour, seen):
    rgb = [min(1, max(0, value)) for value in times(SEEN[seen], linear(colour))]
    scaled = [a / b for a, b in zip(times(TO_XYZ, rgb), WHITE, strict=True)]
    x, y, z = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in scaled)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def contrast(one, two):
    dark, light = sorted(times(TO_XYZ, linear(colour))[1] for colour in (one, two))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("seen", SEEN)
@pytest.mark.parametrize("theme", THEMES)
def test_no_two_states_look_alike(theme, seen):
    colours = {name: lab(THEMES[theme][name], seen) for name in STATES}
    apart = {pair: math.dist(*map(colours.get, pair)) for pair in itertools.combinations(STATES, 2)}
    assert min(apart.values()) >= LEAST_APART, min(apart, key=apart.get)


@pytest.mark.parametrize("theme", THEMES)
def test_states_stand_out_from_what_they_are_drawn_on(theme):
    colours = THEMES[theme]
    least = {n: contrast(colours[n], colours[on]) for n in STATES for on in ("panel", "paper")
             if contrast(colours[n], colours[on]) < LEAST_CONTRAST}
    assert least == {}


def test_both_themes_have_all_colours():
    assert set(THEMES["light"]) == set(THEMES["dark"])
