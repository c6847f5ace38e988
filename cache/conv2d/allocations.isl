# Local memory (Sec. 4.3).
# accessed: { PE[x, y] -> tensor[element] }, eq. (7); local: the local tensors, from 0.
# to_local: { [PE[x, y] -> tensor[element]] -> tensor_local[element] }, eq. (8).

accessed := {
  PE[0, y] -> W[y, j, k] : 0 <= y <= 1 and 0 <= j <= 2 and 0 <= k <= 2;
  PE[0, y] -> y[y, j, k] : 0 <= y <= 1 and 0 <= j <= 13 and 0 <= k <= 13
};

local := {
  W_local[0, j, k] : 0 <= j <= 2 and 0 <= k <= 2;
  y_local[0, j, k] : 0 <= j <= 13 and 0 <= k <= 13
};

to_local := {
  [PE[x, y] -> W[i, j, k]] -> W_local[i - y, j, k];
  [PE[x, y] -> y[i, j, k]] -> y_local[i - y, j, k]
};
