"""Faults to plant, one at a time, and the tests that must see each of them."""

from dataclasses import dataclass

SHIPPED = "tests/e2e/test_shipped.py::test_a_shipped_layer_is_right"
ONCE_WRONG = "tests/property/test_random_layers.py::test_a_layer_that_was_wrong_once_is_right"
GATHERS = "tests/stages/test_gathers.py"
SKEWING = "tests/spatial/test_skewing.py"
SYSTOLIC = "tests/stages/test_systolic.py"
VALUES = "tests/stages/test_graph_values.py"
WAYS = "tests/stages/test_ways.py"
AWKWARD = "tests/stages/test_awkward_layers.py::test_layer_is_right"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A text of a file, which it holds once, what to put there, and a test that then fails."""

    name: str
    file: str
    old: str
    new: str
    caught_by: str


FAULTS = (
    Fault(
        name="a box hull is one element too small",
        file="stages/poly/box_hull.py",
        old="return greatest.to_python() + 1 if",
        new="return greatest.to_python() if",
        caught_by=f"{SHIPPED}[fc]",
    ),
    Fault(
        name="extra instances may write what others use",
        file="stages/vector/hull.py",
        old='if situation.hull("conflict"):',
        new="if False:",
        caught_by=f"{AWKWARD}[triangles_on_two_pes]",
    ),
    Fault(
        name="extra instances may read beyond a local tensor",
        file="stages/vector/hull.py",
        old='if situation.hull("outside"):',
        new="if False:",
        caught_by=f"{WAYS}::test_a_way_is_taken_where_it_costs_least[relaxed]",
    ),
    Fault(
        name="memory has no room for what extra instances read",
        file="stages/vector/boxed.py",
        old="        found.append(touched)",
        new='        if tensor == situation.task["target"]:\n            found.append(touched)',
        caught_by=f"{WAYS}::test_memory_has_room_for_what_a_relaxed_hull_reads",
    ),
    Fault(
        name="extra instances of another box may write what others use",
        file="stages/vector/boxed.py",
        old="not touched.is_disjoint(situation.used(tensor))",
        new="False",
        caught_by=f"{WAYS}::test_no_way_writes_what_others_use",
    ),
    Fault(
        name="an adapter adds the offset of its lane to an index",
        file="stages/streams/adaptation.py",
        old="-> index[{outer}i - offset] }}",
        new="-> index[{outer}i + offset] }}",
        caught_by="tests/paper/test_pipeline.py::test_eq_5_x_arrives_through_adapters",
    ),
    Fault(
        name="an adapter sends elements on with the index negated",
        file="stages/pe/adapter.py",
        old="{variable}, {index.text});",
        new="{variable}, -({index.text}));",
        caught_by=f"{SHIPPED}[fc]",
    ),
    Fault(
        name="an adapter drops the ends of sequences",
        file="stages/pe/adapter.py",
        old='f"send_end(pe, ',
        new='f"(void)(pe, ',
        caught_by=f"{SHIPPED}[fc]",
    ),
    Fault(
        name="a task has no guard where its instance set is empty",
        file="stages/vector/situation.py",
        old="return None if self.known.is_subset(domain) else domain.gist(self.known)",
        new="return None",
        caught_by=f"{SHIPPED}[depthwise2d]",
    ),
    Fault(
        name="an allocation adds its offset",
        file="stages/poly/box_hull.py",
        old="identity.sub(hull.offset",
        new="identity.add(hull.offset",
        caught_by="tests/paper/test_fc.py::test_eq_08_global_to_local_y",
    ),
    Fault(
        name="an extended allocation is not shifted",
        file="stages/vector/memory.py",
        old="return shifted(to_local, self.shifts)",
        new="return to_local",
        caught_by="tests/paper/test_pipeline.py"
        "::test_example_5_9_local_memory_extended_by_the_stages",
    ),
    Fault(
        name="the outermost index of a sequence counts fastest",
        file="stages/pe/streams.py",
        old='in reversed(list(enumerate(stream["outer"]))):',
        new='in enumerate(stream["outer"]):',
        caught_by=f"{SHIPPED}[depthwise2d]",
    ),
    Fault(
        name="a PE passes on a stream on the colour on which it hears it",
        file="stages/pe/passing.py",
        old='{"colours": [odd, even]}',
        new='{"colours": [even, odd]}',
        caught_by=f"{SYSTOLIC}"
        "::test_adapters_pass_on_what_comes_from_several_ports[two that cross-]",
    ),
    Fault(
        name="a router that sends copies three ways does not turn back to the first one",
        file="stages/fabric/copies.py",
        old="(ways[port] == 3), 1] = TURN",
        new="(ways[port] == 3), 1] = NOTHING",
        caught_by=f"{SYSTOLIC}::test_adapters_get_and_send_a_copy_for_each_pe",
    ),
    Fault(
        name="neighbours in a chain of sums listen to the colour that they send on",
        file="stages/poly/flow.py",
        old="depth mod 2 = {1 - parity}",
        new="depth mod 2 = {parity}",
        caught_by=f"{SHIPPED}[west_adapters]",
    ),
    Fault(
        name="a maximum starts from 0",
        file="stages/route.py",
        old='"max=": "-inf"',
        new='"max=": "0"',
        caught_by=f"{SHIPPED}[maxpool]",
    ),
    Fault(
        name="a stored tensor is not zero where nothing arrives",
        file="stages/route.py",
        old='"tensor": tensor, "value": "0"}',
        new='"tensor": tensor, "value": "1"}',
        caught_by=f"{SHIPPED}[bias_relu]",
    ),
    Fault(
        name="a tile is rounded down where it does not divide",
        file="stages/mapping/tiling.py",
        old='{-(-size // extent)}"',
        new='{size // extent}"',
        caught_by=f"{AWKWARD}[tiles_of_directions_that_do_not_divide]",
    ),
    Fault(
        name="a filter ends one index early",
        file="stages/fabric/router.c",
        old="index > filter->greatest",
        new="index >= filter->greatest",
        caught_by=f"{SHIPPED}[dot]",
    ),
    Fault(
        name="a router copies, though the machine has no multicast",
        file="stages/fabric/build.c",
        old="sides & (sides - 1)",
        new="sides == 0",
        caught_by="tests/fabric/test_moving.py"
        "::test_without_multicast_no_route_goes_to_several_sides",
    ),
    Fault(
        name="what lies halfway between two float16 is rounded up",
        file="stages/fabric/pe.h",
        old="+ 0xfffu + ((bits >> 13) & 1u)",
        new="+ 0x1000u",
        caught_by="tests/fabric/test_float16.py::test_large_and_random_bits",
    ),
    Fault(
        name="a stream moves in the order of its box",
        file="stages/vector/exact.py",
        old="if ordered and not keeps_order(situation.compression, situation.elements):",
        new="if False:",
        caught_by="tests/stages/test_simd.py"
        "::test_a_stream_is_one_instruction_where_its_order_is_a_box",
    ),
    Fault(
        name="the strides of a vector instruction forget an extent",
        file="stages/vector/operands.py",
        old="prod(shape[k + 1 :])",
        new="prod(shape[k:-1])",
        caught_by=f"{SHIPPED}[fc]",
    ),
    Fault(
        name="an enumerated size is the least one",
        file="stages/pe/instruction.py",
        old="subscripts += f\"[size{k} - {held(start, '-')}]\"",
        new='subscripts += "[0]"',
        caught_by=f"{ONCE_WRONG}[enumerated]",
    ),
    Fault(
        name="a PE configures other sizes than those that it needs",
        file="stages/vector/enumeration.py",
        old="sizes.sum(offset.neg()",
        new="sizes.sum(offset",
        caught_by=f"{ONCE_WRONG}[enumerated]",
    ),
    Fault(
        name="a vector instruction in a loop has its addresses from the first iteration",
        file="stages/vector/nested.py",
        old='around.set_dim_name(SET, position, f"outer{position}")',
        new='around.fix_si(SET, position, 0)',
        caught_by=f"{WAYS}::test_values_are_right_in_every_way[nested]",
    ),
    Fault(
        name="a lattice has its remainders rounded to multiples of its strides",
        file="stages/poly/lattice.py",
        old="near.lower_bound_val(SET, position, 0).upper_bound_val(SET, position, height - 1)",
        new="near.fix_val(SET, position, 0)",
        caught_by=f"{WAYS}::test_values_are_right_in_every_way[lattice]",
    ),
    Fault(
        name="a compression solves for the wrong sign",
        file="stages/poly/compression.py",
        old="rest = rest.sub(value.scale_val(entry))",
        new="rest = rest.add(value.scale_val(entry))",
        caught_by=f"{ONCE_WRONG}[dilated_strided]",
    ),
    Fault(
        name="a statement waits for one stream of several",
        file="stages/pe/compute.py",
        old="= {streams};",
        new="= 1;",
        caught_by=f"{SHIPPED}[bias_relu]",
    ),
    Fault(
        name="the next invocation is taken before this one has left",
        file="stages/pe/compute.py",
        old="""body.block.add(f"block(pe, {self.program.listen(arrival['colour'])});")""",
        new="pass",
        caught_by=f"{SHIPPED}[two_outputs]",
    ),
    Fault(
        name="a sparse output ends none of its sequences",
        file="stages/pe/sequences.py",
        old='body.block.add("send_end(pe, out);")',
        new='body.block.add("(void)out;")',
        caught_by=f"{SHIPPED}[sparse_relu]",
    ),
    Fault(
        name="a statement runs before what it reads is there",
        file="stages/streams/sharing.py",
        old="if _reads(statement, other.target.tensor)",
        new="if False",
        caught_by="tests/stages/test_graph_values.py::test_a_statement_waits_for_what_it_reads",
    ),
    Fault(
        name="an update changes in place what others have yet to read",
        file="stages/streams/sharing.py",
        old="other is not statement and old is not None",
        new="False and old is not None",
        caught_by=f"{VALUES}::test_an_update_in_place_waits_for_those_who_read_what_was_before",
    ),
    Fault(
        name="statements wait for each other, as each writes where the other reads",
        file="stages/streams/sharing.py",
        old="if in_place and same and not _has_circle(layer, held | {new: old}):",
        new="if in_place and same:",
        caught_by=f"{VALUES}::test_tensors_that_swap_lie_in_one_place_but_for_one",
    ),
    Fault(
        name="the first sample comes in every invocation",
        file="stages/fabric/ports.py",
        old="[_values(array, points) for array in arrays]",
        new="[_values(arrays[0], points) for _ in arrays]",
        caught_by=f"{VALUES}::test_what_arrives_differs_from_sample_to_sample",
    ),
    Fault(
        name="what is carried is copied after the next invocation has begun",
        file="stages/pe/streams.py",
        old='inner.add(*then, "restart(pe);")',
        new='inner.add("restart(pe);", *then)',
        caught_by=f"{VALUES}::test_what_is_not_updated_in_place_is_copied_at_the_end[change1]",
    ),
    Fault(
        name="a chain of delays is carried from its beginning to its end",
        file="stages/lair/fix.py",
        old="for k in reversed(_to(n))",
        new="for k in _to(n)",
        caught_by=f"{VALUES}::test_a_delayed_internal_tensor_and_its_value_now",
    ),
    Fault(
        name="an invocation ends before all that it keeps for later has arrived",
        file="stages/pe/compute.py",
        old="return any(c.source == arrival[\"tensor\"] for c in self.model.layer.carries)",
        new="return False",
        caught_by=f"{VALUES}::test_a_delayed_arrival_that_comes_late",
    ),
    Fault(
        name="an adapter sends its own sums on, without those from farther along the border",
        file="stages/pe/collector.py",
        old='described, chain, first, self.then)',
        new='described, chain, chain, self.then)',
        caught_by="tests/stages/test_collection.py::test_sums_that_must_turn_are_right"
        "[a sum over rows and columns]",
    ),
    Fault(
        name="a PE sends its elements before those that come first",
        file="stages/poly/gather.py",
        old="before=known[0], own=known[1], after=known[2]",
        new="before=known[2], own=known[1], after=known[0]",
        caught_by=f"{SHIPPED}[transpose]",
    ),
    Fault(
        name="a row of a gather too few is sent ahead",
        file="stages/pe/gather.py",
        old="if (my->{self.left} >= {ahead})",
        new="if (my->{self.left} > {ahead})",
        caught_by=f"{GATHERS}::test_values_agree[rows_of_tiles-1]",
    ),
    Fault(
        name="every row of a gather is the first one",
        file="stages/pe/gather.py",
        old='at = f"my->{self.row}"',
        new='at = "0"',
        caught_by=f"{SHIPPED}[transpose]",
    ),
    Fault(
        name="sums start from those of the last invocation",
        file="stages/route.py",
        old='at_once = writer.op == "=" and not',
        new="at_once = not",
        caught_by=f"{GATHERS}::test_values_agree_in_every_invocation[sums]",
    ),
    Fault(
        name="the reference ignores dilations",
        file="stages/lair/strided.py",
        old="steps[name] += coefficient * stride",
        new="steps[name] += stride",
        caught_by=f"{SHIPPED}[dilated1d]",
    ),
    Fault(
        name="an edited file counts as the one that was read",
        file="stages/make/memo.py",
        old="known[0] == mark:",
        new="known[0][2] == mark[2]:",
        caught_by="tests/e2e/test_make.py::test_an_edit_that_keeps_the_time_is_seen",
    ),
    Fault(
        name="results that fill the queue of instructions return at once",
        file="stages/route.py",
        old='self.departures[name]["waits"] = before',
        new="pass",
        caught_by="tests/stages/test_returning.py::"
        "test_results_return_one_after_the_other_where_all_would_fill_the_queue",
    ),
    Fault(
        name="what returns around a corner leaves the border before it",
        file="stages/poly/around.py",
        old="comes == SIDES[leaves].right",
        new="comes == SIDES[leaves].left",
        caught_by="tests/stages/test_returning.py::"
        "test_sums_over_columns_come_back_along_rows_through_a_corner",
    ),
    Fault(
        name="the PE that sends a result back does not take it",
        file="stages/poly/flow.py",
        old='(takers.intersect(ends), "ramp", "ramp"),',
        new="",
        caught_by="tests/stages/test_returning.py::test_sums_over_rows_come_back_along_them",
    ),
    Fault(
        name="neighbours may lag so that a dependence is reversed",
        file="stages/spatial/skewing.py",
        old="            return keeps(group.dependences, times)",
        new="            return True",
        caught_by=f"{SKEWING}::test_eq_3_a_lag_that_reverses_a_dependence_is_not_taken",
    ),
    Fault(
        name="PEs do not start together",
        file="stages/spatial/clock.py",
        old="row if given and _divides(row) else row.sub(_least(row, within))",
        new="row",
        caught_by="tests/spatial/test_spaces.py::test_on_blocks_the_spaces_are_those_of_tiles",
    ),
    Fault(
        name="lags may leave fewer PEs at work",
        file="stages/spatial/timed.py",
        old="rank([*statement.domain, *_times(statement, factors)])",
        new="rank(_times(statement, factors))",
        caught_by=f"{SKEWING}::test_no_parallelism_is_lost",
    ),
    Fault(
        name="a table is filled from its second entry on",
        file="stages/pe/program.py",
        old='inner = block.nest(f"for (int {index} = {low};',
        new='inner = block.nest(f"for (int {index} = {low + 1};',
        caught_by="tests/stages/test_tables.py::"
        "test_each_dimension_is_looked_up_by_its_index[enumerate]",
    ),
    Fault(
        name="what is added up is rounded before",
        file="stages/lair/operation.py",
        old="[found.source(each, rounded=False) for each in (left, right)]",
        new="[found.source(each, rounded=True) for each in (left, right)]",
        caught_by="tests/stages/test_operation.py::"
        "test_what_is_only_selected_from_may_be_rounded",
    ),
)
