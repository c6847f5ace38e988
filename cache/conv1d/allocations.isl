# Local memory (Sec. 4.3).
# accessed: { PE[x, y] -> tensor[element] }, eq. (7); local: the local tensors, from 0.
# to_local: { [PE[x, y] -> tensor[element]] -> tensor_local[element] }, eq. (8).

accessed := {
  PE[0, y] -> W[y, j] : 0 <= y <= 1 and 0 <= j <= 2;
  PE[0, y] -> y[y, j] : 0 <= y <= 1 and 0 <= j <= 13
};

local := {
  W_local[0, j] : 0 <= j <= 2;
  y_local[0, j] : 0 <= j <= 13
};

to_local := {
  [PE[x, y] -> W[i, j]] -> W_local[i - y, j];
  [PE[x, y] -> y[i, j]] -> y_local[i - y, j]
};
