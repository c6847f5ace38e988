# Boxes of fixed size (Sec. 5.3), per task T that runs a statement.
# T_offset, T_hull: offset and elements of the fixed-size box hull.
# T_extra: extra instances, eq. (36).
# T_reads, T_writes: the elements of local memory that these read and write, eqs. (38) (41).
# T_outside, T_conflict: those of them that do not exist, or that somebody else uses.
# T_minimum, T_maximum: exact bounds. T_vector: the box chosen, hull[size] or exact[size], if any.
# local, to_local: the allocation with room for what extra instances write.

on_x_minimum := [PE_X, PE_Y, index0, index1, index] -> { [i0, i1] : (2PE_X + i0) mod 4 = 0 and 0 <= PE_Y <= 3 and 0 <= index0 <= 3 and 0 <= index1 <= 7 and 0 <= index <= 1 and i0 >= 2PE_X - index1 and 0 <= i0 <= 2 and i0 <= 3 + 2PE_X - index1 and -PE_Y <= 2i1 <= 1 - PE_Y };

on_x_maximum := [PE_X, PE_Y, index0, index1, index] -> { [i0, i1] : (-1 + 2PE_X + i0) mod 4 = 0 and 0 <= PE_Y <= 3 and 0 <= index0 <= 3 and 0 <= index1 <= 7 and 0 <= index <= 1 and i0 > 2PE_X - index1 and 0 < i0 <= 3 and i0 <= 4 + 2PE_X - index1 and -PE_Y <= 2i1 <= 1 - PE_Y };

on_x_offset := { [i0 = 0, i1 = -1] };

on_x_hull := [PE_X, PE_Y, index0, index1, index] -> { [i0, i1] : 0 <= PE_Y <= 3 and 0 <= index0 <= 3 and 0 <= index1 <= 7 and 0 <= index <= 1 and 0 <= i0 <= 3 and -1 <= i1 <= 0 and -3 + index1 <= 4*floor((PE_X)/2) <= index1 };

on_x_extra := [PE_X, PE_Y, index0, index1, index] -> {
  [i0, i1 = -1] : 0 <= PE_Y <= 1 and 0 <= index0 <= 3 and 0 <= index1 <= 7 and 0 <= index <= 1 and 0 <= i0 <= 3 and -3 + index1 <= 4*floor((PE_X)/2) <= index1;
  [i0, i1 = 0] : 2 <= PE_Y <= 3 and 0 <= index0 <= 3 and 0 <= index1 <= 7 and 0 <= index <= 1 and 0 <= i0 <= 3 and -3 + index1 <= 4*floor((PE_X)/2) <= index1;
  [i0, i1] : (PE_X) mod 2 = 0 and 0 <= PE_Y <= 3 and 0 <= index0 <= 3 and index1 >= 2PE_X and 0 <= index1 <= 7 and index1 <= 3 + 2PE_X and 0 <= index <= 1 and 2 <= i0 <= 3 and -PE_Y <= 2i1 <= 1 - PE_Y;
  [i0, i1] : (PE_X) mod 2 = 1 and 0 <= PE_Y <= 3 and 0 <= index0 <= 3 and index1 >= -2 + 2PE_X and 0 <= index1 <= 7 and index1 <= 1 + 2PE_X and 0 <= index <= 1 and 0 <= i0 <= 1 and -PE_Y <= 2i1 <= 1 - PE_Y
};

on_x_reads := [PE_X, PE_Y] -> {
  filter_local[o0, o1] : (PE_X) mod 2 = 0 and 0 <= PE_X <= 2 and 0 <= PE_Y <= 3 and 0 <= o0 <= 1 and 2 <= o1 <= 3;
  filter_local[o0, o1] : (PE_X) mod 2 = 1 and 0 < PE_X <= 3 and 0 <= PE_Y <= 3 and 0 <= o0 <= 1 and -2 <= o1 < 0;
  filter_local[o0, o1] : 0 <= PE_X <= 3 and 0 <= PE_Y <= 1 and -4 <= o0 <= -3 and -3 + 2PE_X + o1 <= 4*floor((PE_X)/2) <= 2PE_X + o1;
  filter_local[o0, o1] : 0 <= PE_X <= 3 and 2 <= PE_Y <= 3 and 4 <= o0 <= 5 and -3 + 2PE_X + o1 <= 4*floor((PE_X)/2) <= 2PE_X + o1
};

on_x_writes := [PE_X, PE_Y] -> {
  y_local[o0, o1, i2] : (PE_X) mod 2 = 0 and 0 <= PE_Y <= 3 and 0 <= o0 <= 3 and o1 >= 0 and -2PE_X <= o1 <= 7 - 2PE_X and o1 <= 3 and 2 <= i2 <= 3;
  y_local[o0, o1, i2] : (PE_X) mod 2 = 1 and 0 <= PE_Y <= 3 and 0 <= o0 <= 3 and o1 >= 0 and 2 - 2PE_X <= o1 <= 9 - 2PE_X and o1 <= 3 and -2 <= i2 < 0;
  y_local[o0, o1, i2] : 0 <= PE_X <= 3 and 0 <= PE_Y <= 1 and 4 <= o0 <= 7 and 0 <= o1 <= 3 and -3 + 2PE_X + i2 <= 4*floor((PE_X)/2) <= 2PE_X + i2;
  y_local[o0, o1, i2] : 0 <= PE_X <= 3 and 2 <= PE_Y <= 3 and -4 <= o0 < 0 and 0 <= o1 <= 3 and -3 + 2PE_X + i2 <= 4*floor((PE_X)/2) <= 2PE_X + i2
};

on_x_outside := [PE_X, PE_Y] -> {
  filter_local[o0, o1] : (PE_X) mod 2 = 0 and 0 <= PE_X <= 2 and 0 <= PE_Y <= 3 and 0 <= o0 <= 1 and 2 <= o1 <= 3;
  filter_local[o0, o1] : (PE_X) mod 2 = 1 and 0 < PE_X <= 3 and 0 <= PE_Y <= 3 and 0 <= o0 <= 1 and -2 <= o1 < 0;
  filter_local[o0, o1] : 0 <= PE_X <= 3 and 0 <= PE_Y <= 1 and -4 <= o0 <= -3 and -3 + 2PE_X + o1 <= 4*floor((PE_X)/2) <= 2PE_X + o1;
  filter_local[o0, o1] : 0 <= PE_X <= 3 and 2 <= PE_Y <= 3 and 4 <= o0 <= 5 and -3 + 2PE_X + o1 <= 4*floor((PE_X)/2) <= 2PE_X + o1
};

on_x_conflict := { };

on_x_vector := { exact[2, 1] };

local := {
  filter_local[i0, i1] : 0 <= i0 <= 1 and 0 <= i1 <= 1;
  y_local[i0, i1, i2] : 0 <= i0 <= 3 and 0 <= i1 <= 3 and 0 <= i2 <= 1
};

to_local := {
  [PE[PE_X, PE_Y] -> filter[i2, i3]] -> filter_local[o0, o1] : (2PE_Y - i2 + o0) mod 4 = 0 and (2PE_X - i3 + o1) mod 4 = 0 and -2 + i2 <= o0 <= i2 and -2 + i3 <= o1 <= i3;
  [PE[PE_X, PE_Y] -> y[i2, i3, i4]] -> y_local[o0, o1, -2PE_X + i3 + i4 - o1] : (-i2 + o0) mod 4 = 0 and (i3 - o1) mod 4 = 0 and -2PE_Y + i2 <= o0 <= 2 - 2PE_Y + i2 and -2PE_X + i3 <= o1 <= 2 - 2PE_X + i3
};
