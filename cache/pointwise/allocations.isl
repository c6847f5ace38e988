# Local memory (Sec. 4.3).
# accessed: { PE[x, y] -> tensor[element] }, eq. (7); local: the local tensors, from 0.
# to_local: { [PE[x, y] -> tensor[element]] -> tensor_local[element] }, eq. (8).

accessed := {
  PE[o0, o1] -> filter[o0', o1'] : 0 <= o0 <= 3 and 0 <= o1 <= 3 and 2o1 - o0' <= 4*floor((o1)/2) <= 1 + 2o1 - o0' and 2o0 - o1' <= 4*floor((o0)/2) <= 1 + 2o0 - o1';
  PE[o0, o1] -> y[o0', o1', o2] : 0 <= o0' <= 7 and 0 <= o1' <= 7 and 4*floor((o0)/2) >= 2o0 - o2 and -3 + o1' <= 4*floor((o0)/2) <= o1' and 4*floor((o0)/2) <= 1 + 2o0 - o2 and -3 + o0' <= 4*floor((o1)/2) <= o0'
};

local := {
  filter_local[i0, i1] : 0 <= i0 <= 1 and 0 <= i1 <= 1;
  y_local[i0, i1, i2] : 0 <= i0 <= 3 and 0 <= i1 <= 3 and 0 <= i2 <= 1
};

to_local := {
  [PE[PE_X, PE_Y] -> filter[i2, i3]] -> filter_local[o0, o1] : (2PE_Y - i2 + o0) mod 4 = 0 and (2PE_X - i3 + o1) mod 4 = 0 and -2 + i2 <= o0 <= i2 and -2 + i3 <= o1 <= i3;
  [PE[PE_X, PE_Y] -> y[i2, i3, i4]] -> y_local[o0, o1, -2PE_X + i3 + i4 - o1] : (-i2 + o0) mod 4 = 0 and (i3 - o1) mod 4 = 0 and -2PE_Y + i2 <= o0 <= 2 - 2PE_Y + i2 and -2PE_X + i3 <= o1 <= 2 - 2PE_X + i3
};
