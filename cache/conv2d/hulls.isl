# Boxes of fixed size (Sec. 5.3), per task T that runs a statement.
# T_offset, T_size, T_hull: offset, size and elements of the fixed-size box hull.
# T_extra: extra instances, eq. (36).
# T_reads, T_writes: the elements of local memory that these read and write, eqs. (38) (41).
# T_outside, T_conflict: those of them that do not exist, or that somebody else uses.
# T_minimum, T_maximum: exact bounds.

on_x_context := [PE_X, PE_Y, index0, index] -> { : PE_X = 0 and 0 <= PE_Y <= 1 and 0 <= index0 <= 15 and 0 <= index <= 15 };

on_x_context2 := [PE_X, PE_Y] -> { : PE_X = 0 and 0 <= PE_Y <= 1 };

on_x_minimum := [index0, index] -> {
  [0, 0] : index0 <= 12 and index <= 12;
  [0, index - 13] : index0 <= 12 and index >= 13;
  [index0 - 13, 0] : index0 >= 13 and index <= 12;
  [index0 - 13, index - 13] : index0 >= 13 and index >= 13
} * on_x_context;

on_x_maximum := [index0, index] -> {
  [2, 2] : index0 >= 2 and index >= 2;
  [2, index] : index0 >= 2 and index <= 1;
  [index0, 2] : index0 <= 1 and index >= 2;
  [index0, index] : index0 <= 1 and index <= 1
} * on_x_context;

on_x_offset := { [0, 0] };

on_x_size := { [3, 3] };

on_x_hull := { [i, j] : 0 <= i <= 2 and 0 <= j <= 2 } * on_x_context;

on_x_extra := [index0, index] -> {
  [i, j] : index <= 15 and 0 <= i <= 2 and index0 - 13 <= i <= index0 and 0 <= j <= index - 14;
  [i, j] : index >= 0 and 0 <= i <= 2 and index0 - 13 <= i <= index0 and index < j <= 2;
  [i, j] : index0 <= 15 and 0 <= index <= 15 and 0 <= i <= index0 - 14 and 0 <= j <= 2;
  [i, j] : index0 >= 0 and 0 <= index <= 15 and index0 < i <= 2 and 0 <= j <= 2
} * on_x_context2;

on_x_reads := { W_local[0, j, k] : 0 <= j <= 2 and 0 <= k <= 2 } * on_x_context2;

on_x_writes := {
  y_local[0, j, k] : -2 <= j <= -1 and -2 <= k <= 15;
  y_local[0, j, k] : 0 <= j <= 13 and -2 <= k <= -1;
  y_local[0, j, k] : 0 <= j <= 13 and 14 <= k <= 15;
  y_local[0, j, k] : 14 <= j <= 15 and -2 <= k <= 15
} * on_x_context2;

on_x_outside := { };

on_x_conflict := { };
