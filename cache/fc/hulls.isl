# Boxes of fixed size (Sec. 5.3), per task T that runs a statement.
# T_offset, T_hull: offset and elements of the fixed-size box hull.
# T_extra: extra instances, eq. (36).
# T_reads, T_writes: the elements of local memory that these read and write, eqs. (38) (41).
# T_outside, T_conflict: those of them that do not exist, or that somebody else uses.
# T_minimum, T_maximum: exact bounds. T_vector: the box chosen, hull[size] or exact[size], if any.
# local, to_local: the allocation with room for what extra instances write.

on_x_minimum := [PE_X, PE_Y, index] -> { [i0 = 8PE_Y] : 0 <= PE_X <= 3 and 0 <= PE_Y <= 3 and 0 <= index <= 3 };

on_x_maximum := [PE_X, PE_Y, index] -> { [i0 = 7 + 8PE_Y] : 0 <= PE_X <= 3 and 0 <= PE_Y <= 3 and 0 <= index <= 3 };

on_x_offset := [PE_Y] -> { [i0 = 8PE_Y] };

on_x_hull := [PE_X, PE_Y, index] -> { [i0] : 0 <= PE_X <= 3 and 0 <= PE_Y <= 3 and 0 <= index <= 3 and 8PE_Y <= i0 <= 7 + 8PE_Y };

on_x_extra := { };

on_x_reads := { };

on_x_writes := { };

on_x_outside := { };

on_x_conflict := { };

on_x_vector := { hull[8] };

local := {
  W_local[i0, i1] : 0 <= i0 <= 7 and 0 <= i1 <= 3;
  y_local[i0] : 0 <= i0 <= 7
};

to_local := {
  [PE[PE_X, PE_Y] -> W[i2, i3]] -> W_local[-8PE_Y + i2, -4PE_X + i3];
  [PE[PE_X, PE_Y] -> y[i2]] -> y_local[-8PE_Y + i2]
};
