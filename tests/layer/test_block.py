from lairmake.stages.layer.codegen.instruction import hoist_divisions
from lairmake.stages.pe.block import Block, count_kinds, total, write_nest
from lairmake.stages.pe.names import new_naming
from lairmake.stages.pe.nodes import Address, Assign, Element, Field, RunVector, Scope
from lairmake.stages.pe.speller import spell
from lairmake.stages.poly.expression import Branch, Instance, Loop, Name, Number, Operation, Series

AT, K = Name("i"), Name("k")
AFTER = Operation("+", (Name("n"), Number(1)))
RUN = Instance(arguments=(AT,))
STORED = Assign(Element(Field("x"), (AT, K)), Number(0))


FIRST, LAST = Number(0), Operation("<=", (AT, Number(3)))


def loop(iterator, body, start=FIRST, condition=LAST):
    return Loop(iterator=iterator, start=start, condition=condition, step=Number(1), body=body)


def lines(block):
    inside = spell(Scope(None, block.finished())).splitlines()[1:-1]
    return [line.removeprefix("    ") for line in inside]


def written(nest):
    block = Block()

    def instance(inner, at):
        inner.charge(scalar=1, address=2)
        inner.declare({"k": at.arguments[0]}, Block(statements=[STORED]))
        inner.add(STORED)

    write_nest(block, nest, instance)
    return lines(block)


def test_every_block_is_charged_for_what_it_does():
    assert written(loop("i", RUN, start=AFTER)) == [
        "CHARGE(pe, .scalar = 1);",
        "for (int i = n + 1; i <= 3; i += 1) {",
        "    CHARGE(pe, .loop = 1, .scalar = 1, .address = 2);",
        "    const int k = i;",
        "    my->x[i][k] = 0;",
        "}",
    ]


def test_a_loop_that_runs_once_is_a_constant():
    assert written(loop("i", RUN, start=AFTER, condition=None)) == [
        "CHARGE(pe, .scalar = 2, .address = 2);",
        "const int i = n + 1;",
        "const int k = i;",
        "my->x[i][k] = 0;",
    ]


def test_a_condition_is_charged_outside_its_block_and_may_have_an_else():
    condition = Operation(">=", (Name("n"), Number(1)))
    nest = Branch(condition=condition, then=RUN, otherwise=loop("i", RUN))
    assert written(nest) == [
        "CHARGE(pe, .scalar = 1, .branch = 1);",
        "if (n >= 1) {",
        "    CHARGE(pe, .scalar = 1, .address = 2);",
        "    const int k = i;",
        "    my->x[i][k] = 0;",
        "} else {",
        "    for (int i = 0; i <= 3; i += 1) {",
        "        CHARGE(pe, .loop = 1, .scalar = 1, .address = 2);",
        "        const int k = i;",
        "        my->x[i][k] = 0;",
        "    }",
        "}",
    ]


def test_instances_one_after_the_other_have_names_of_their_own():
    assert written(Series(children=(RUN, RUN))) == [
        *["{", "    CHARGE(pe, .scalar = 1, .address = 2);", "    const int k = i;",
          "    my->x[i][k] = 0;", "}"] * 2
    ]


def test_only_constants_that_are_used_are_declared():
    block = Block()
    values = {"i": Operation("+", (Name("t0"), Number(1))), "j": Number(2), "k": K}
    block.declare(values, Block(statements=[STORED]))
    assert lines(block) == ["CHARGE(pe, .scalar = 1);", "const int i = t0 + 1;"]


def test_a_block_without_a_condition_is_the_block_itself():
    block = Block()
    assert block.when(None) is block


def test_what_runs_under_one_condition_is_charged_once():
    block, condition = Block(), Operation(">=", (Name("n"), Number(1)))
    for _ in range(2):
        block.when(condition).add(STORED)
    assert lines(block) == [
        "CHARGE(pe, .scalar = 1, .branch = 1);", "if (n >= 1) {", "    my->x[i][k] = 0;",
        "    {", "        my->x[i][k] = 0;", "    }", "}",
    ]


def test_equal_parts_of_a_total_are_counted():
    parts = [AT, Number(1), K, AT, Number(0), Number(1)]
    assert spell(total(parts)) == "2 * i + k + 2"
    assert spell(total([Number(0)])) == "0"


def test_powers_of_two_shift_and_other_constants_divide_by_products():
    i, j = Name("i"), Name("j")
    assert count_kinds(Operation("*", (Number(4), i, j))) == {"scalar": 1, "integer_product": 1}
    assert count_kinds(Operation("*", (Number(3), i))) == {"integer_product": 1}
    assert count_kinds(Operation("floord", (i, Number(8)))) == {"scalar": 1}
    assert count_kinds(Operation("%", (Number(8), i))) == {"division": 1}
    assert count_kinds(Operation("+", (i, Operation("/", (j, Number(3)))))) == {
        "scalar": 1, "constant_division": 1}


def test_divisions_that_no_iteration_changes_go_before_a_loop():
    i, j = Name("i"), Name("j")
    by_j, by_i = (Operation("%", (name, Number(3))) for name in (j, i))
    run, before = Block(), Block()
    places = (Operation("+", (by_j, i)), by_i, Operation("*", (by_j, Number(2))))
    run.add(RunVector(Field("v"), tuple(Address(Element(Field("x"), (p,))) for p in places)))
    run.charge(constant_division=3, scalar=2)
    hoist_divisions(before, run, {"i"}, new_naming())
    assert [(each.name, each.value) for each in before.statements] == [
        ("fixed0", by_j), ("fixed1", places[2])]
    assert before.operations == {"constant_division": 2, "scalar": 1}
    assert run.operations == {"constant_division": 1, "scalar": 1}
    places = (Operation("+", (Name("fixed0"), i)), by_i, Name("fixed1"))
    (vector,) = run.statements
    assert [address.of.indices for address in vector.operands] == [(p,) for p in places]
