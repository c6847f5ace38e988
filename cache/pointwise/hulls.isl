# Boxes of fixed size (Sec. 5.3), per task T that runs a statement.
# T_offset, T_size, T_hull: offset, size and elements of the fixed-size box hull.
# T_extra: extra instances, eq. (36).
# T_reads, T_writes: the elements of local memory that these read and write, eqs. (38) (41).
# T_outside, T_conflict: those of them that do not exist, or that somebody else uses.
# T_minimum, T_maximum: exact bounds.

on_x_context := [PE_X, PE_Y, index0, index1, index] -> { : 0 <= PE_X <= 3 and 0 <= PE_Y <= 3 and 0 <= index0 <= 3 and 4*(PE_X//2) <= index1 <= 3 + 4*(PE_X//2) and 0 <= index <= 1 };

on_x_context2 := [PE_X, PE_Y] -> { : 0 <= PE_X <= 3 and 0 <= PE_Y <= 3 };

on_x_minimum := [PE_X] -> { [2*(PE_X mod 2)] } * on_x_context;

on_x_maximum := [PE_X] -> { [1 + 2*(PE_X mod 2)] } * on_x_context;

on_x_offset := { [0] };

on_x_size := { [4] };

on_x_hull := { [i] : 0 <= i <= 3 } * on_x_context;

on_x_extra := [PE_X] -> {
  [i] : PE_X mod 2 = 0 and 2 <= i <= 3;
  [i] : PE_X mod 2 = 1 and 0 <= i <= 1
} * on_x_context;

on_x_reads := [PE_X] -> {
  filter_local[i, j] : PE_X mod 2 = 0 and 0 <= i <= 1 and 2 <= j <= 3;
  filter_local[i, j] : PE_X mod 2 = 1 and 0 <= i <= 1 and -2 <= j <= -1
} * on_x_context2;

on_x_writes := [PE_X] -> {
  y_local[i, j, k] : PE_X mod 2 = 0 and 0 <= i <= 3 and 0 <= j <= 3 and 2 <= k <= 3;
  y_local[i, j, k] : PE_X mod 2 = 1 and 0 <= i <= 3 and 0 <= j <= 3 and -2 <= k <= -1
} * on_x_context2;

on_x_outside := [PE_X] -> {
  filter_local[i, j] : PE_X mod 2 = 0 and 0 <= i <= 1 and 2 <= j <= 3;
  filter_local[i, j] : PE_X mod 2 = 1 and 0 <= i <= 1 and -2 <= j <= -1
} * on_x_context2;

on_x_conflict := { };
