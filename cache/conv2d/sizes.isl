# Size enumeration (Sec. 5.4), per task T that is a box, but not of fixed size.
# T_sizes: [PE_X, PE_Y] -> { [size] }, index projected out, eq. (42); T_offset: their offset.
# T_identifiers: { [size - offset] }, eq. (43), one SIMD configuration each; T_hull: their box.

on_x_sizes := [PE_X, PE_Y] -> { [i, j] : PE_X = 0 and 0 <= PE_Y <= 1 and 1 <= i <= 3 and 1 <= j <= 3 };

on_x_offset := { [1, 1] };

on_x_identifiers := { [i, j] : 0 <= i <= 2 and 0 <= j <= 2 };

on_x_hull := { [i, j] : 0 <= i <= 2 and 0 <= j <= 2 };
