# Local memory (Sec. 4.3).
# accessed: { PE[x, y] -> tensor[element] }, eq. (7); local: the local tensors, from 0.
# to_local: { [PE[x, y] -> tensor[element]] -> tensor_local[element] }, eq. (8).

accessed := {
  PE[0, i1] -> W[i1, o1, o2] : 0 <= i1 <= 1 and 0 <= o1 <= 2 and 0 <= o2 <= 2;
  PE[0, i1] -> y[i1, o1, o2] : 0 <= i1 <= 1 and 0 <= o1 <= 13 and 0 <= o2 <= 13
};

local := {
  W_local[0, i1, i2] : 0 <= i1 <= 2 and 0 <= i2 <= 2;
  y_local[0, i1, i2] : 0 <= i1 <= 13 and 0 <= i2 <= 13
};

to_local := {
  [PE[PE_X, PE_Y] -> W[i2, i3, i4]] -> W_local[-PE_Y + i2, i3, i4];
  [PE[PE_X, PE_Y] -> y[i2, i3, i4]] -> y_local[-PE_Y + i2, i3, i4]
};
