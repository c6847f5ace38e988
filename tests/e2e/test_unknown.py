"""Words that name nothing: what is said of them, and what may be meant."""

import pytest

from tests.e2e.conftest import DODO

NAMED = 'Must be a command, task, or a target.\nType "doit help" to see available commands.\n'


@pytest.mark.parametrize(("word", "meant"), [
    ("fcc", "did you mean fc?"),
    ("fc:rendr", "did you mean fc:render?"),
    ("fcc:render", "did you mean fc:render?"),
    ("matvek", "did you mean catalogue/matvec?"),
    ("shwo", "did you mean show?"),
    ("helllo", "did you mean hello?"),
])
def test_the_nearest_layer_stage_command_or_task_is_told(small, word, meant):
    small.layer("projects/fc")
    small.layer("projects/catalogue/matvec")
    small.write("dodo.py", DODO + "\n\ndef task_hello():\n    return {'actions': ['echo hello']}\n")
    run = small.plain(word)
    assert (run.code, run.out) == (3, "")
    assert run.err == (
        f'ERROR: Invalid parameter: "{word}". {NAMED}'
        f'Type "doit list" to see available tasks.\nhint: {meant}\n'
    )


def test_a_word_that_is_near_to_nothing_has_no_hint(small):
    run = small.plain("zzzzzz")
    assert (run.code, "hint" in run.err) == (3, False)


@pytest.mark.parametrize("command", ["list", "info"])
def test_commands_of_doit_tell_it_too(small, command):
    small.layer("projects/fc")
    run = small.plain(command, "fcc")
    assert (run.code, run.err) == (3, "ERROR: 'fcc' is not a task.\nhint: did you mean fc?\n")


@pytest.mark.parametrize("command", ["dry", "graph"])
def test_commands_of_ours_tell_it_too(small, command):
    small.layer("projects/fc")
    run = small.plain(command, "fcc")
    said = f"ERROR: {command}: fcc is no layer and no stage\nhint: did you mean fc?\n"
    assert (run.code, run.err) == (3, said)


@pytest.mark.wide
def test_a_tile_that_is_none_has_the_nearest_one(space):
    space.write("dodo.py", DODO)
    space.write("projects/k/k.mlir", KERNEL)
    space.write("projects/k/kernel.yaml", "facts: []\ntiles: {c: [2]}\n")
    run = space.plain("k/c_0_t3")
    assert (run.code, run.err.splitlines()[-1]) == (3, "hint: did you mean k/c_0_t1?")


def test_where_the_dodo_file_is_not_ours_doit_says_what_it_says(space):
    space.write("dodo.py", "def task_first():\n    return {'actions': ['true']}\n")
    run = space.plain("firts")
    assert (run.code, "hint" in run.err) == (3, False)


KERNEL = """\
func.func @k(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.addf %a, %b : tensor<4xf32>
  return %c : tensor<4xf32>
}
"""
