# Local memory, with room for what extra instances access (Sec. 5.3, Example 5.9).
# local: { T_local[l] }, the shape of each local tensor on every PE.
# to_local: { [PE -> T[e]] -> T_local[l] }, where the elements of the tensors lie.

local := {
  W_local[0, i1] : 0 <= i1 <= 2;
  y_local[0, i1] : 0 <= i1 <= 17
};

to_local := {
  [PE[PE_X, PE_Y] -> W[i2, i3]] -> W_local[-PE_Y + i2, i3];
  [PE[PE_X, PE_Y] -> y[i2, i3]] -> y_local[-PE_Y + i2, 2 + i3]
};
