# Local memory (Sec. 4.3).
# accessed: { PE[x, y] -> tensor[element] }, eq. (7); local: the local tensors, from 0.
# to_local: { [PE[x, y] -> tensor[element]] -> tensor_local[element] }, eq. (8).

accessed := {
  PE[o0, o1] -> W[o0', o1'] : o0' >= 8o1 and 0 <= o0' <= 31 and o0' <= 7 + 8o1 and o1' >= 4o0 and 0 <= o1' <= 15 and o1' <= 3 + 4o0;
  PE[o0, o1] -> y[o0'] : 0 <= o0 <= 3 and o0' >= 8o1 and 0 <= o0' <= 31 and o0' <= 7 + 8o1
};

local := {
  W_local[i0, i1] : 0 <= i0 <= 7 and 0 <= i1 <= 3;
  y_local[i0] : 0 <= i0 <= 7
};

to_local := {
  [PE[PE_X, PE_Y] -> W[i2, i3]] -> W_local[-8PE_Y + i2, -4PE_X + i3];
  [PE[PE_X, PE_Y] -> y[i2]] -> y_local[-8PE_Y + i2]
};
