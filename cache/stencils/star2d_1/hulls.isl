# Boxes of fixed size (Sec. 5.3), per task T that runs a statement.
# T_offset, T_size, T_hull: offset, size and elements of the fixed-size box hull.
# T_extra: extra instances, eq. (36).
# T_reads, T_writes: the elements of local memory that these read and write, eqs. (38) (41).
# T_outside, T_conflict: those of them that do not exist, or that somebody else uses.
# T_minimum, T_maximum: exact bounds.

compute_star_context := [PE_X, PE_Y] -> { : 0 <= PE_X <= 1 and 0 <= PE_Y <= 1 };

compute_star_minimum := [PE_X, PE_Y] -> { [1 + 8PE_Y, 1 + 8PE_X] } * compute_star_context;

compute_star_maximum := [PE_X, PE_Y] -> { [8 + 8PE_Y, 8 + 8PE_X] } * compute_star_context;

compute_star_offset := [PE_X, PE_Y] -> { [9PE_Y, 9PE_X] };

compute_star_size := { [9, 9] };

compute_star_hull := [PE_X, PE_Y] -> { [i, j] : 9PE_Y <= i <= 8 + 9PE_Y and 9PE_X <= j <= 8 + 9PE_X } * compute_star_context;

compute_star_extra := [PE_X, PE_Y] -> {
  [17PE_Y, j] : 9PE_X <= j <= 8 + 9PE_X;
  [i, 17PE_X] : 9PE_Y <= i <= 8 + 9PE_Y
} * compute_star_context;

compute_star_reads := [PE_X, PE_Y] -> {
  u_local[0, j, k] : PE_X = 0 and j <= 8 and -1 <= k <= 0 and k >= PE_Y - 1 - j;
  u_local[0, j, k] : PE_X = 0 and j >= 1 and 0 <= k <= 1 and k <= 9 + PE_Y - j;
  u_local[0, j, k] : PE_X = 1 and j <= 8 and 8 <= k <= 9 and k >= 8 + PE_Y - j;
  u_local[0, j, k] : PE_X = 1 and j >= 1 and 9 <= k <= 10 and k <= 18 + PE_Y - j;
  u_local[0, j, k] : PE_Y = 0 and -1 <= j <= 1 and PE_X - 1 + j <= k <= 9 + PE_X + j and PE_X - 1 - j <= k <= 9 + PE_X - j;
  u_local[0, j, k] : PE_Y = 1 and 8 <= j <= 10 and 8 + PE_X - j <= k <= 18 + PE_X - j and PE_X - 10 + j <= k <= PE_X + j
} * compute_star_context;

compute_star_writes := [PE_X, PE_Y] -> {
  u_local[1, j = 9PE_Y, k] : PE_X <= k <= 8 + PE_X;
  u_local[1, j, k = 9PE_X] : PE_Y <= j <= 8
} * compute_star_context;

compute_star_outside := [PE_X, PE_Y] -> {
  u_local[0, j = 11PE_Y - 1, k] : PE_X <= k <= 8 + PE_X;
  u_local[0, j, k = 11PE_X - 1] : PE_Y <= j <= 8 + PE_Y
} * compute_star_context;

compute_star_conflict := [PE_X, PE_Y] -> {
  u_local[1, j = 9PE_Y, k] : PE_X <= k <= 8 + PE_X;
  u_local[1, j, k = 9PE_X] : PE_Y <= j <= 8
} * compute_star_context;
