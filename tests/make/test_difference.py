"""What changed between two files of a stage: sets as sets, data by keys, arrays by elements."""

import io
import random

import islpy as isl
import numpy as np
import pytest

from lairmake.stages.make.report import difference
from lairmake.stages.make.report.difference import (
    ChangedPart,
    FileChange,
    count_elements,
    count_of_lines,
    find_differences,
    find_objects,
)


def objects(old, new, known=None):
    return find_differences("a.isl", f"{old};\n".encode(), f"{new};\n".encode(), known)


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def test_equal_files_do_not_differ():
    assert find_differences("a.isl", b"A := { A[0] };\n", b"A := { A[0] };\n") == {}


def test_of_a_set_what_was_added_and_removed_is_told_within_what_both_state():
    old = "A := [N] -> { A[i] : 0 <= i < N <= 3 }"
    assert objects(old, "A := [N] -> { A[i] : N = 4 and 4 <= i <= 5 }") == {
        "A": FileChange(
            removed=ChangedPart(set="[N] -> { A[i] : N <= 3 and 0 <= i < N }", points=6,
                         sample="[N = 1] -> { A[0] }"),
            added=ChangedPart(set="[N] -> { A[i] : N = 4 and 4 <= i <= 5 }", points=2,
                       sample="[N = 4] -> { A[4] }"),
        )
    }
    old, new = "A := { A[i, j] : 0 <= i, j < 4 }", "A := { A[i, j] : 0 <= i < 4 and 0 <= j < 6 }"
    found = objects(old, new)
    assert found == {
        "A": FileChange(
            known="{ A[i, j] : 0 <= i <= 3 and j >= 0 }",
            added=ChangedPart(set="{ A[i, j] : 4 <= j <= 5 }", points=8, sample="{ A[0, 4] }"),
        )
    }


def test_of_a_relation_the_pairs_are_counted():
    found = objects("A := { A[i] -> B[i] : 0 <= i < 4 }", "A := { A[i] -> B[i] : 1 <= i < 4 }")
    assert found["A"].removed == ChangedPart(
        set="{ A[0] -> B[0] }", points=1, sample="{ A[0] -> B[0] }"
    )
    assert found["A"].added is None


def test_a_function_that_is_another_one_is_told_from_what_to_what():
    old = "A := { A[i] -> B[i] : 0 <= i < 4; A[i] -> C[i] : 0 <= i < 4 }"
    new = "A := { A[i] -> B[i + 1] : 0 <= i < 4; A[i] -> C[i] : 0 <= i < 4 }"
    assert objects(old, new) == {
        "A": FileChange(functions=(("{ A[i] -> B[i] }", "{ A[i] -> B[1 + i] }"),))
    }


def test_a_point_for_each_symbolic_constant_is_a_function():
    found = objects("A := [N] -> { [2N] : 0 <= N < 3 }", "A := [N] -> { [3N] : 0 <= N < 3 }")
    assert found["A"].functions == (("[N] -> { [2N] }", "[N] -> { [3N] }"),)


def test_a_function_that_is_defined_on_more_is_told_as_a_relation():
    found = objects("A := { A[i] -> B[i] : 0 <= i < 4 }", "A := { A[i] -> B[i] : 0 <= i < 6 }")
    assert found == {
        "A": FileChange(
            known="{ A[i] -> B[i'] : i >= 0 }",
            added=ChangedPart(
                set="{ A[i] -> B[i] : 4 <= i <= 5 }", points=2, sample="{ A[4] -> B[4] }"
            ),
        )
    }


def test_only_the_symbolic_constants_that_both_know_count():
    known = {"on_x": isl.Set("[N] -> { : 0 <= N < 3 }")}
    old, new = "[N] -> { A[i] : i <= N }", "[N] -> { A[i] : i <= N or (i <= N + 1 and N > 7) }"
    assert objects(f"on_x := {old}", f"on_x := {new}", known) == {
        "on_x": FileChange(note="the same for the symbolic constants that both have")
    }
    assert objects(f"on_x_known := {old}", f"on_x_known := {new}", known)["on_x_known"].added
    assert objects(f"on_xy := {old}", f"on_xy := {new}", known)["on_xy"].added


def test_equal_sets_in_another_spelling_are_said_to_be_that():
    assert objects("A := { A[i] : 0 <= i < 4 }", "A := { A[i] : -1 < i <= 3 }") == {
        "": FileChange(note="only its spelling changed")
    }


def test_infinite_sets_are_not_counted():
    found = objects("A := { A[i] : i > 0 }", "A := { A[i] : i >= 0 or i < -7 }")
    assert found["A"].added.sample
    assert found["A"].added.points is None


def test_a_set_that_is_new_is_told_whole():
    found = objects("A := { A[0] }", "A := { A[0] };\nB := { B[i] : 0 <= i < 3 }")
    part = ChangedPart(set="{ B[i] : 0 <= i <= 2 }", points=3, sample="{ B[0] }")
    assert found == {"B": FileChange(added=part)}


def test_a_set_that_became_a_relation_is_told_whole():
    found = objects("A := { A[0] }", "A := { A[0] -> B[1] }")["A"]
    assert (found.removed.set, found.added.set) == ("{ A[0] }", "{ A[0] -> B[1] }")


def test_what_is_hard_to_tell_is_not_told(monkeypatch):
    monkeypatch.setattr(difference, "MOST_OPERATIONS", 10)
    found = objects("A := { A[i, j] : 0 <= i < j < 9 }", "A := { A[i, j] : 0 <= i < 2j < 9 }")
    assert found == {"A": FileChange(note="changed; what is added or removed is hard to tell")}


def test_many_points_are_not_counted():
    found = objects("A := { A[-1, 0, 0] }", "A := { A[i, j, k] : 0 <= i < 3000 and 0 <= j, k < i }")
    assert found["A"].added.points is None
    assert found["A"].removed.points == 1


def test_what_is_added_and_removed_makes_the_new_set_of_the_old():
    """Within what both state, new = old - removed + added, where none of added was in old."""
    rng = random.Random(7)
    for _ in range(20):
        old, new = (random_set(rng) for _ in range(2))
        change = objects(f"A := {old}", f"A := {new}").get("A", FileChange())
        within = isl.UnionSet(change.known or "{ A[i, j] }")
        added, removed = (
            isl.UnionSet("{ }") if part is None else isl.UnionSet(part.set).intersect(within)
            for part in (change.added, change.removed)
        )
        assert isl.UnionSet(old).subtract(removed).union(added).is_equal(isl.UnionSet(new))
        assert added.intersect(isl.UnionSet(old)).is_empty()


def random_set(rng):
    a, b, c, d = (rng.randint(0, 9) for _ in range(4))
    box = f"{a} <= i <= {a + b} and N <= j < N + {c}"
    return f"[N] -> {{ A[i, j] : {box} and (i + j) mod 2 = {d % 2} }}"


def test_points_are_counted_over_all_symbolic_constants():
    assert count_elements(isl.UnionSet("[N] -> { A[i] : 0 <= i < N < 4; B[] : N = 1 }")) == 7


def test_data_is_compared_by_keys():
    old = b"a: {b: 1, c: [1, 2], e: [{f: 1}]}\ng: {h: 1}\n"
    new = b"a: {b: 1.0, c: [1], d: '1', e: [{f: 2}]}\n"
    assert find_differences("a.yaml", old, new) == {
        "a.b": FileChange(values={"old": 1, "new": 1.0}),
        "a.c": FileChange(values={"old": [1, 2], "new": [1]}),
        "a.e[0].f": FileChange(values={"old": 1, "new": 2}),
        "a.d": FileChange(values={"new": "1"}),
        "g": FileChange(note="is gone", values={"old": {"h": 1}}),
    }


def test_sets_in_data_are_compared_as_sets():
    old, new = b"a: '{ [i] : 0 <= i < 3 }'\n", b"a: '{ [i] : 0 <= i < 2 }'\n"
    (found,) = find_differences("a.yaml", old, new).values()
    assert found.removed == ChangedPart(set="{ [2] }", points=1, sample="{ [2] }")
    same = b"a: '{ [i] : i >= 0 and i < 3 }'\n"
    assert find_differences("a.yaml", old, same) == {
        "": FileChange(note="only its spelling changed")
    }


def test_arrays_are_compared_by_elements():
    assert find_differences("y.npy", npy(np.arange(4)), npy(np.array([0, 1, 5, 3]))) == {
        "": FileChange(note="1 of 4 elements differ")
    }
    assert find_differences("y.npy", npy(np.zeros(4)), npy(np.zeros((2, 2), np.float16))) == {
        "": FileChange(values={"old": "float64[4]", "new": "float16[2, 2]"})
    }


def test_lines_are_counted():
    found = find_differences("pe_a.c", b"one\ntwo\nthree\n", b"one\nthree\nfour\nfive\n")[""]
    assert count_of_lines(found) == {"lines_added": 2, "lines_removed": 1}


def test_a_file_that_cannot_be_read_is_said_to_be_that():
    assert find_differences("a.isl", b"A := { A[0] };\n", b"A := nonsense\n") == {
        "": FileChange(note="cannot be read: line 1: expected `name := { ... };`")
    }


@pytest.mark.parametrize(("name", "text", "found"), [
    ("a.isl", "# c\n\nA := { A[0] };\n\nB_1 := {\n  B[0];\n  B[1]\n};\n",
     {"A": "A := { A[0] };\n", "B_1": "B_1 := {\n  B[0];\n  B[1]\n};\n"}),
    ("a.yaml", "# c\n\na:\n  b: 1\n  c:\n  - 2\n  - 3\nd: [4]\n",
     {"a": "a:\n  b: 1\n  c:\n  - 2\n  - 3\n", "a.b": "  b: 1\n", "a.c": "  c:\n  - 2\n  - 3\n",
      "d": "d: [4]\n"}),
    ("build/simd/pe_a.c", "int main;\n", {"pe_a": "int main;\n"}),
])
def test_a_file_is_taken_apart(name, text, found):
    assert find_objects(name, text.encode()) == found
