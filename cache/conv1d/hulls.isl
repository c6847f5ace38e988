# Boxes of fixed size (Sec. 5.3), per task T that runs a statement.
# T_offset, T_size, T_hull: offset, size and elements of the fixed-size box hull.
# T_extra: extra instances, eq. (36).
# T_reads, T_writes: the elements of local memory that these read and write, eqs. (38) (41).
# T_outside, T_conflict: those of them that do not exist, or that somebody else uses.
# T_minimum, T_maximum: exact bounds.

on_x_context := [PE_X, PE_Y, index] -> { : PE_X = 0 and 0 <= PE_Y <= 1 and 0 <= index <= 15 };

on_x_context2 := [PE_X, PE_Y] -> { : PE_X = 0 and 0 <= PE_Y <= 1 };

on_x_minimum := [index] -> {
  [0] : index <= 12;
  [index - 13] : index >= 13
} * on_x_context;

on_x_maximum := [index] -> {
  [2] : index >= 2;
  [index] : index <= 1
} * on_x_context;

on_x_offset := { [0] };

on_x_size := { [3] };

on_x_hull := { [i] : 0 <= i <= 2 } * on_x_context;

on_x_extra := [index] -> {
  [i] : index <= 15 and 0 <= i <= index - 14;
  [i] : index >= 0 and index < i <= 2
} * on_x_context2;

on_x_reads := { W_local[0, j] : 0 <= j <= 2 } * on_x_context2;

on_x_writes := {
  y_local[0, j] : -2 <= j <= -1;
  y_local[0, j] : 14 <= j <= 15
} * on_x_context2;

on_x_outside := { };

on_x_conflict := { };
