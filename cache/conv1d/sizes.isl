# Size enumeration (Sec. 5.4), per task T that is a box, but not of fixed size.
# T_sizes: [PE_X, PE_Y] -> { [size] }, index projected out, eq. (42); T_offset: their offset.
# T_identifiers: { [size - offset] }, eq. (43), one SIMD configuration each; T_hull: their box.

on_x_sizes := [PE_X, PE_Y] -> { [i] : PE_X = 0 and 0 <= PE_Y <= 1 and 1 <= i <= 3 };

on_x_offset := { [1] };

on_x_identifiers := { [i] : 0 <= i <= 2 };

on_x_hull := { [i] : 0 <= i <= 2 };
