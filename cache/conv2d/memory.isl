# Local memory, with room for what extra instances access (Sec. 5.3, Example 5.9).
# local: { T_local[element] }, the shape of each local tensor on every PE.
# to_local: { [PE[x, y] -> T[element]] -> T_local[element] }, where elements of tensors lie.

local := {
  W_local[0, j, k] : 0 <= j <= 2 and 0 <= k <= 2;
  y_local[0, j, k] : 0 <= j <= 17 and 0 <= k <= 17
};

to_local := {
  [PE[x, y] -> W[i, j, k]] -> W_local[i - y, j, k];
  [PE[x, y] -> y[i, j, k]] -> y_local[i - y, 2 + j, 2 + k]
};
