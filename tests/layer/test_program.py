import pytest

from tests.layer.built import build

SUM = (
    "lair n(): float16 first[4], float16 second[4], float16 third[4] -> float16 result[4]\n"
    "{ all (i) in (4) result[i] += max(first[i], second[i]) * third[i] }\n"
)
SPARSE = "  {0}: {{arrives: \"{{ {0}[i] -> [PE[{1}, {2}] -> index[i]] }}\", sparse: true}}\n"
ONE = (
    'target: "{ PE[1, 1] }"\ntensors:\n'
    '  result: {leaves: "{ result[i] -> [PE[1, 0] -> index[i]] }", sparse: true}\n'
    + SPARSE.format("first", 0, -1) + SPARSE.format("second", 0, 1) + SPARSE.format("third", -1, 0)
)
NAMES = [f"in_{k}" for k in range(12)]
PRODUCT = (
    f"lair n(): {', '.join(f'float16 {name}[4]' for name in NAMES)} -> float16 r[4]\n"
    f"{{ all (i) in (4) r[i] = {' + '.join(f'{name}[i]' for name in NAMES)} }}\n"
)
MANY = 'machine: paper\ntarget: "{ PE[1, 1] }"\ntensors:\n' + "".join(
    f'  {name}: {{arrives: "{{ {name}[i] -> [PE[0, -1] -> index[i]] }}"}}\n' for name in NAMES
)


@pytest.mark.wide
@pytest.mark.parametrize(("lair", "mapping"), [(SUM, ONE), (PRODUCT, MANY)])
def test_lines_of_a_program_with_many_counters_or_colours_are_not_long(lair, mapping):
    programs = build(lair, mapping, "render").folder.glob("build/*/pe_*.c")
    lengths = [len(line) for each in programs for line in each.read_text().splitlines()]
    assert lengths and max(lengths) <= 100
