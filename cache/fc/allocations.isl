# Local memory (Sec. 4.3).
# accessed: { PE[x, y] -> tensor[element] }, eq. (7); local: the local tensors, from 0.
# to_local: { [PE[x, y] -> tensor[element]] -> tensor_local[element] }, eq. (8).

accessed := {
  PE[x, y] -> W[i, j] : 0 <= x <= 3 and 0 <= y <= 3 and 8y <= i <= 7 + 8y and 4x <= j <= 3 + 4x;
  PE[x, y] -> y[i] : 0 <= x <= 3 and 0 <= y <= 3 and 8y <= i <= 7 + 8y
};

local := {
  W_local[i, j] : 0 <= i <= 7 and 0 <= j <= 3;
  y_local[i] : 0 <= i <= 7
};

to_local := {
  [PE[x, y] -> W[i, j]] -> W_local[i - 8y, j - 4x];
  [PE[x, y] -> y[i]] -> y_local[i - 8y]
};
