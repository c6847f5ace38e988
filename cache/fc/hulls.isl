# Boxes of fixed size (Sec. 5.3), per task T that runs a statement.
# T_offset, T_size, T_hull: offset, size and elements of the fixed-size box hull.
# T_extra: extra instances, eq. (36).
# T_reads, T_writes: the elements of local memory that these read and write, eqs. (38) (41).
# T_outside, T_conflict: those of them that do not exist, or that somebody else uses.
# T_minimum, T_maximum: exact bounds.

on_x_context := [PE_X, PE_Y, index] -> { : 0 <= PE_X <= 3 and 0 <= PE_Y <= 3 and 0 <= index <= 3 };

on_x_minimum := [PE_Y] -> { [8PE_Y] } * on_x_context;

on_x_maximum := [PE_Y] -> { [7 + 8PE_Y] } * on_x_context;

on_x_offset := [PE_Y] -> { [8PE_Y] };

on_x_size := { [8] };

on_x_hull := [PE_Y] -> { [i] : 8PE_Y <= i <= 7 + 8PE_Y } * on_x_context;

on_x_extra := { };

on_x_reads := { };

on_x_writes := { };

on_x_outside := { };

on_x_conflict := { };
