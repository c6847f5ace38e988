# Boxes of fixed size (Sec. 5.3), per task T that runs a statement.
# T_offset, T_size, T_hull: offset, size and elements of the fixed-size box hull.
# T_extra: extra instances, eq. (36).
# T_reads, T_writes: the elements of local memory that these read and write, eqs. (38) (41).
# T_outside, T_conflict: those of them that do not exist, or that somebody else uses.
# T_minimum, T_maximum: exact bounds.

on_x_minimum := [PE_X, PE_Y, index] -> {
  [i0 = -13 + index] : PE_X = 0 and 0 <= PE_Y <= 1 and 13 <= index <= 15;
  [i0 = 0] : PE_X = 0 and 0 <= PE_Y <= 1 and 0 <= index <= 12
};

on_x_maximum := [PE_X, PE_Y, index] -> {
  [i0 = 2] : PE_X = 0 and 0 <= PE_Y <= 1 and 2 <= index <= 15;
  [i0 = index] : PE_X = 0 and 0 <= PE_Y <= 1 and 0 <= index <= 1
};

on_x_offset := { [i0 = 0] };

on_x_size := { [i0 = 3] };

on_x_hull := [PE_X, PE_Y, index] -> { [i0] : PE_X = 0 and 0 <= PE_Y <= 1 and 0 <= index <= 15 and 0 <= i0 <= 2 };

on_x_extra := [PE_X, PE_Y, index] -> {
  [i0] : PE_X = 0 and 0 <= PE_Y <= 1 and index <= 15 and 0 <= i0 <= -14 + index;
  [i0] : PE_X = 0 and 0 <= PE_Y <= 1 and index >= 0 and index < i0 <= 2
};

on_x_reads := [PE_X, PE_Y] -> { W_local[0, i1] : PE_X = 0 and 0 <= PE_Y <= 1 and 0 <= i1 <= 2 };

on_x_writes := [PE_X, PE_Y] -> {
  y_local[0, i1] : PE_X = 0 and 0 <= PE_Y <= 1 and -2 <= i1 < 0;
  y_local[0, i1] : PE_X = 0 and 0 <= PE_Y <= 1 and 14 <= i1 <= 15
};

on_x_outside := { };

on_x_conflict := { };
