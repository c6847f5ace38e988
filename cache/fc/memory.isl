# Local memory, with room for what extra instances access (Sec. 5.3, Example 5.9).
# local: { T_local[l] }, the shape of each local tensor on every PE.
# to_local: { [PE -> T[e]] -> T_local[l] }, where the elements of the tensors lie.

local := {
  W_local[i0, i1] : 0 <= i0 <= 7 and 0 <= i1 <= 3;
  y_local[i0] : 0 <= i0 <= 7
};

to_local := {
  [PE[PE_X, PE_Y] -> W[i2, i3]] -> W_local[-8PE_Y + i2, -4PE_X + i3];
  [PE[PE_X, PE_Y] -> y[i2]] -> y_local[-8PE_Y + i2]
};
