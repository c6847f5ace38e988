# Local memory, with room for what extra instances access (Sec. 5.3, Example 5.9).
# local: { T_local[l] }, the shape of each local tensor on every PE.
# to_local: { [PE -> T[e]] -> T_local[l] }, where the elements of the tensors lie.

local := {
  filter_local[i0, i1] : 0 <= i0 <= 1 and 0 <= i1 <= 1;
  y_local[i0, i1, i2] : 0 <= i0 <= 3 and 0 <= i1 <= 3 and 0 <= i2 <= 1
};

to_local := {
  [PE[PE_X, PE_Y] -> filter[i2, i3]] -> filter_local[o0, o1] : (2PE_Y - i2 + o0) mod 4 = 0 and (2PE_X - i3 + o1) mod 4 = 0 and -2 + i2 <= o0 <= i2 and -2 + i3 <= o1 <= i3;
  [PE[PE_X, PE_Y] -> y[i2, i3, i4]] -> y_local[o0, o1, -2PE_X + i3 + i4 - o1] : (-i2 + o0) mod 4 = 0 and (i3 - o1) mod 4 = 0 and -2PE_Y + i2 <= o0 <= 2 - 2PE_Y + i2 and -2PE_X + i3 <= o1 <= 2 - 2PE_X + i3
};
