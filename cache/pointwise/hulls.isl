# Boxes of fixed size (Sec. 5.3), per task T that runs a statement.
# T_offset, T_size, T_hull: offset, size and elements of the fixed-size box hull.
# T_extra: extra instances, eq. (36).
# T_reads, T_writes: the elements of local memory that these read and write, eqs. (38) (41).
# T_outside, T_conflict: those of them that do not exist, or that somebody else uses.
# T_minimum, T_maximum: exact bounds.

on_x_minimum := [PE_X, PE_Y, index0, index1, index] -> { [i0] : (2PE_X + i0) mod 4 = 0 and 0 <= PE_Y <= 3 and 0 <= index0 <= 3 and 0 <= index1 <= 7 and 0 <= index <= 1 and i0 >= 2PE_X - index1 and 0 <= i0 <= 2 and i0 <= 3 + 2PE_X - index1 };

on_x_maximum := [PE_X, PE_Y, index0, index1, index] -> { [i0] : (-1 + 2PE_X + i0) mod 4 = 0 and 0 <= PE_Y <= 3 and 0 <= index0 <= 3 and 0 <= index1 <= 7 and 0 <= index <= 1 and i0 > 2PE_X - index1 and 0 < i0 <= 3 and i0 <= 4 + 2PE_X - index1 };

on_x_offset := { [i0 = 0] };

on_x_size := { [i0 = 4] };

on_x_hull := [PE_X, PE_Y, index0, index1, index] -> { [i0] : 0 <= PE_Y <= 3 and 0 <= index0 <= 3 and 0 <= index1 <= 7 and 0 <= index <= 1 and 0 <= i0 <= 3 and -3 + index1 <= 4*floor((PE_X)/2) <= index1 };

on_x_extra := [PE_X, PE_Y, index0, index1, index] -> {
  [i0] : (PE_X) mod 2 = 0 and 0 <= PE_Y <= 3 and 0 <= index0 <= 3 and index1 >= 2PE_X and 0 <= index1 <= 7 and index1 <= 3 + 2PE_X and 0 <= index <= 1 and 2 <= i0 <= 3;
  [i0] : (PE_X) mod 2 = 1 and 0 <= PE_Y <= 3 and 0 <= index0 <= 3 and index1 >= -2 + 2PE_X and 0 <= index1 <= 7 and index1 <= 1 + 2PE_X and 0 <= index <= 1 and 0 <= i0 <= 1
};

on_x_reads := [PE_X, PE_Y] -> {
  filter_local[o0, o1] : (PE_X) mod 2 = 0 and 0 <= PE_X <= 2 and 0 <= PE_Y <= 3 and 0 <= o0 <= 1 and 2 <= o1 <= 3;
  filter_local[o0, o1] : (PE_X) mod 2 = 1 and 0 < PE_X <= 3 and 0 <= PE_Y <= 3 and 0 <= o0 <= 1 and -2 <= o1 < 0
};

on_x_writes := [PE_X, PE_Y] -> {
  y_local[o0, o1, i2] : (PE_X) mod 2 = 0 and 0 <= PE_Y <= 3 and 0 <= o0 <= 3 and o1 >= 0 and -2PE_X <= o1 <= 7 - 2PE_X and o1 <= 3 and 2 <= i2 <= 3;
  y_local[o0, o1, i2] : (PE_X) mod 2 = 1 and 0 <= PE_Y <= 3 and 0 <= o0 <= 3 and o1 >= 0 and 2 - 2PE_X <= o1 <= 9 - 2PE_X and o1 <= 3 and -2 <= i2 < 0
};

on_x_outside := [PE_X, PE_Y] -> {
  filter_local[o0, o1] : (PE_X) mod 2 = 0 and 0 <= PE_X <= 2 and 0 <= PE_Y <= 3 and 0 <= o0 <= 1 and 2 <= o1 <= 3;
  filter_local[o0, o1] : (PE_X) mod 2 = 1 and 0 < PE_X <= 3 and 0 <= PE_Y <= 3 and 0 <= o0 <= 1 and -2 <= o1 < 0
};

on_x_conflict := { };
