"""Which test holds what users hit: each is there, wherever it fits best."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
INDEX = {
    "a template that is edited": "found/test_stale_spelling.py::test_what_is_declared_is_followed",
    "a function that docs name and that is gone":
        "contract/test_docs_names.py::test_every_name_of_the_code_is_there",
    "a right product in bfloat16": "found/test_graphs.py::test_a_product_in_bfloat16_is_right",
    "wavelets that nobody takes": "fabric/test_left.py::test_an_element_that_nobody_takes_is_left",
    "25 colours": "fabric/test_capacities.py::test_more_colours_than_the_machine_has_are_refused",
    "a task that is NULL, a division by zero":
        "fabric/test_faults.py::test_what_no_pe_can_is_an_error_with_its_pe_and_task",
    "a loop in a task without an end":
        "fabric/test_faults.py::test_a_task_without_an_end_comes_to_the_limit_of_the_processors_time",
    "a task that activates itself":
        "fabric/test_faults.py::test_a_task_that_is_activated_for_ever_comes_to_the_limit_of_cycles",
    "routes that are no isl":
        "fabric/test_capacities.py::test_a_text_that_is_no_isl_is_said_with_its_keys_and_place",
    "a colour that is restarted": "fabric/test_order.py::test_no_order_of_visits_matters",
    "damaged MLIR": "found/test_damaged_mlir.py::test_damaged_texts_are_refused_at_their_places",
    "what attention waits for":
        "contract/test_readme.py::test_when_attention_runs_no_task_its_streams_move_elements",
    "the picture of attention": "contract/test_readme.py::"
        "test_the_picture_of_attention_has_the_pes_and_the_sides_that_its_text_names",
    "limits that are chosen":
        "layer/test_limits.py::test_what_a_limit_costs_is_what_a_machine_with_enough_saves",
    "words that are missing":
        "contract/test_words.py::test_each_stage_is_there_with_its_wing_and_what_its_docstring_says",
    "a store of a team":
        "make/test_access.py::test_all_of_a_group_write_to_a_store_and_take_from_it",
    "a disk without locks":
        "found/test_no_locks.py::test_without_locks_a_build_warns_once_and_remembers_as_usual",
    "a folder whose name no task can have": "e2e/test_folder_names.py::"
        "test_a_folder_whose_name_is_at_fault_is_one_line_and_the_others_go_on",
    "a network like another": "found/test_new_like.py::test_a_folder_of_any_kind_is_copied",
    "a part of what was never built":
        "found/test_new_like.py::test_where_there_is_none_a_hint_says_what_to_type",
    "an option that there is not": "e2e/test_option_faults.py::"
        "test_what_is_wrong_with_an_option_is_one_line_and_says_what_may_be_meant",
    "a first run without network":
        "e2e/test_do.py::test_without_network_one_line_says_so_and_how_to_do_without",
    "a sample that any Python runs":
        "found/test_program_samples.py::test_a_python_without_lairmake_shows_which_one_has_it",
    "a script of plain NumPy": "found/test_refused.py::test_a_folder_is_refused_with_its_remedy",
    "coordinates behind adapters":
        "layer/test_coordinates.py::test_results_speak_of_the_pes_of_layer_yaml",
    "a PE that a trace is asked for":
        "e2e/test_trace.py::test_a_trace_has_the_tasks_of_a_pe_with_their_cycles",
    "a transposed convolution with gaps":
        "found/test_transposed_gap.py::test_the_statement_of_the_hint_builds_and_is_right",
    "a trace of a kernel":
        "found/test_kind_hints.py::test_what_runs_on_no_fabric_may_run_in_parts_or_as_a_whole",
    "edits that were to be kept": "make/test_how_to_keep.py::test_what_was_given_is_not_advised",
    "all unknown operators": "network/onnx/test_open_sizes.py::"
        "test_all_unknown_operators_are_said_at_once_and_how_many_nodes_have_them",
    "a part that is not there":
        "found/test_graphs.py::test_a_part_that_is_not_there_is_named_before_places_are_searched",
    "sizes that are all called `?`": "network/onnx/test_open_sizes.py::"
        "test_sizes_that_share_a_mark_are_told_apart_by_their_places",
    "layers that we made, and refused": "found/test_reshapes.py::"
        "test_what_is_put_together_and_collapsed_has_the_values_of_numpy",
    "types of a hint that are refused later":
        "kernel/test_hinted_types.py::test_a_type_that_is_listed_gets_through",
    "a limit of the clock": "program/test_child_limits.py::test_limits_are_those_of_program_yaml",
    "a comment in layer.yaml":
        "e2e/test_values.py::test_a_comment_and_the_order_of_keys_run_nothing",
    "a profile that no layer has":
        "make/test_profiles.py::test_a_profile_is_an_input_of_who_reads_it_by_its_figures",
    "a figure that no profile has":
        "make/test_profiles.py::test_a_new_figure_needs_no_edit_of_profiles",
    "colours of a legend": "picture/test_fabrics.py::"
        "test_the_legend_has_each_stream_as_it_is_drawn_and_no_two_alike",
    "isl in a page": "picture/test_spelled.py::test_a_number_of_an_index_is_no_isl_set",
    "a page on a phone": "picture/test_fabrics.py::test_it_fits_on_a_phone",
}


@pytest.mark.parametrize("case", INDEX)
def test_a_case_has_its_test(case):
    file, _, name = INDEX[case].partition("::")
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    assert name in {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}
