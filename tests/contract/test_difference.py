"""What changed between two files of a stage: sets as sets, data by keys, arrays by elements."""

import io
import random

import islpy as isl
import numpy as np
import pytest

from stages.make.commands import difference
from stages.make.commands.difference import count_of, differences, flat
from stages.make.commands.objects import objects_of


def objects(old, new):
    return differences("a.isl", f"{old};\n".encode(), f"{new};\n".encode())


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def test_equal_files_do_not_differ():
    assert differences("a.isl", b"A := { A[0] };\n", b"A := { A[0] };\n") == {}


def test_of_a_set_what_was_added_and_removed_is_told():
    old = "A := [N] -> { A[i] : 0 <= i < N <= 3 }"
    assert objects(old, "A := [N] -> { A[i] : N = 4 <= i <= 5 }") == {
        "A": {
            "removed": {
                "set": "[N] -> { A[i] : N <= 3 and 0 <= i < N }", "points": 6,
                "sample": "[N = 1] -> { A[0] }",
            },
            "added": {
                "set": "[N] -> { A[i] : N = 4 and 4 <= i <= 5 }", "points": 2,
                "sample": "[N = 4] -> { A[4] }",
            },
        }
    }


def test_of_a_relation_the_pairs_are_counted():
    assert objects("A := { A[i] -> B[i] : 0 <= i < 4 }", "A := { A[i] -> B[i] : 1 <= i < 4 }") == {
        "A": {
            "removed": {
                "set": "{ A[i = 0] -> B[0] }", "points": 1, "sample": "{ A[0] -> B[0] }"
            }
        }
    }


def test_equal_sets_in_another_spelling_are_said_to_be_that():
    assert objects("A := { A[i] : 0 <= i < 4 }", "A := { A[i] : -1 < i <= 3 }") == {
        "": {"note": "only its spelling changed"}
    }


def test_infinite_sets_are_not_counted():
    found = objects("A := { A[i] : i > 0 }", "A := { A[i] : i >= 0 or i < -7 }")
    assert found["A"]["added"].keys() == {"set", "sample"}


def test_a_set_that_is_new_is_told_whole():
    found = objects("A := { A[0] }", "A := { A[0] };\nB := { B[i] : 0 <= i < 3 }")
    assert found == {
        "B": {"added": {"set": "{ B[i] : 0 <= i <= 2 }", "points": 3, "sample": "{ B[0] }"}}
    }


def test_a_set_that_became_a_relation_is_told_whole():
    found = objects("A := { A[0] }", "A := { A[0] -> B[1] }")
    assert (found["A"]["removed"]["set"], found["A"]["added"]["set"]) == (
        "{ A[0] }", "{ A[0] -> B[1] }"
    )


def test_what_is_hard_to_tell_is_not_told(monkeypatch):
    monkeypatch.setattr(difference, "MOST_OPERATIONS", 10)
    found = objects("A := { A[i, j] : 0 <= i < j < 9 }", "A := { A[i, j] : 0 <= i < 2j < 9 }")
    assert found == {"A": {"note": "changed; what is added or removed is hard to tell"}}


def test_many_points_are_not_counted():
    found = objects("A := { A[-1, 0, 0] }", "A := { A[i, j, k] : 0 <= i < 3000 and 0 <= j, k < i }")
    assert found["A"]["added"].keys() == {"set", "sample"}
    assert found["A"]["removed"]["points"] == 1


def test_what_is_added_and_removed_makes_the_new_set_of_the_old():
    rng = random.Random(7)
    for _ in range(20):
        old, new = (random_set(rng) for _ in range(2))
        change = objects(f"A := {old}", f"A := {new}").get("A", {})
        added, removed = (
            isl.UnionSet(change[way]["set"] if way in change else "{ }")
            for way in ("added", "removed")
        )
        assert isl.UnionSet(old).subtract(removed).union(added).is_equal(isl.UnionSet(new))
        assert added.intersect(isl.UnionSet(old)).is_empty()


def random_set(rng):
    a, b, c, d = (rng.randint(0, 9) for _ in range(4))
    box = f"{a} <= i <= {a + b} and N <= j < N + {c}"
    return f"[N] -> {{ A[i, j] : {box} and (i + j) mod 2 = {d % 2} }}"


def test_points_are_counted_over_all_symbolic_constants():
    assert count_of(isl.UnionSet("[N] -> { A[i] : 0 <= i < N < 4; B[] : N = 1 }")) == 7


def test_data_is_compared_by_keys():
    old, new = b"a: {b: 1, c: [1, 2], e: [{f: 1}]}\n", b"a: {b: 1.0, c: [1], d: '1', e: [{f: 2}]}\n"
    assert differences("a.yaml", old, new) == {
        "a.b": {"old": 1, "new": 1.0},
        "a.c": {"old": [1, 2], "new": [1]},
        "a.e[0].f": {"old": 1, "new": 2},
        "a.d": {"new": "1"},
    }


def test_sets_in_data_are_compared_as_sets():
    old, new = b"a: '{ [i] : 0 <= i < 3 }'\n", b"a: '{ [i] : 0 <= i < 2 }'\n"
    assert differences("a.yaml", old, new) == {
        "a": {"removed": {"set": "{ [i = 2] }", "points": 1, "sample": "{ [2] }"}}
    }
    same = b"a: '{ [i] : i >= 0 and i < 3 }'\n"
    assert differences("a.yaml", old, same) == {"": {"note": "only its spelling changed"}}


def test_arrays_are_compared_by_elements():
    assert differences("y.npy", npy(np.arange(4)), npy(np.array([0, 1, 5, 3]))) == {
        "": {"note": "1 of 4 elements differ"}
    }
    assert differences("y.npy", npy(np.zeros(4)), npy(np.zeros((2, 2), np.float16))) == {
        "": {"old": "float64[4]", "new": "float16[2, 2]"}
    }


def test_lines_are_counted():
    found = differences("pe_a.c", b"one\ntwo\nthree\n", b"one\nthree\nfour\nfive\n")[""]
    assert (found["lines_added"], found["lines_removed"]) == (2, 1)


def test_a_file_that_cannot_be_read_is_said_to_be_that():
    assert differences("a.isl", b"A := { A[0] };\n", b"A := nonsense\n") == {
        "": {"note": "cannot be read: line 1: expected `name := { ... };`"}
    }


def test_empty_data_has_no_keys():
    assert flat({"a": {}, "b": []}) == {"a": {}, "b": []}


@pytest.mark.parametrize(("name", "text", "found"), [
    ("a.isl", "# c\n\nA := { A[0] };\n\nB_1 := {\n  B[0];\n  B[1]\n};\n",
     {"A": "A := { A[0] };\n", "B_1": "B_1 := {\n  B[0];\n  B[1]\n};\n"}),
    ("a.yaml", "# c\n\na:\n  b: 1\n  c:\n  - 2\n  - 3\nd: [4]\n",
     {"a": "a:\n  b: 1\n  c:\n  - 2\n  - 3\n", "a.b": "  b: 1\n", "a.c": "  c:\n  - 2\n  - 3\n",
      "d": "d: [4]\n"}),
    ("build/simd/pe_a.c", "int main;\n", {"pe_a": "int main;\n"}),
])
def test_a_file_is_taken_apart(name, text, found):
    assert objects_of(name, text.encode()) == found
