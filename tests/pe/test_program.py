from tests.stages.built import build

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


def test_lines_of_a_program_with_many_counters_are_not_long():
    programs = build(SUM, ONE, "render").folder.glob("build/*/pe_*.c")
    lengths = [len(line) for each in programs for line in each.read_text().splitlines()]
    assert lengths and max(lengths) <= 100
