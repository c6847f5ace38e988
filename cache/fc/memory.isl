# Local memory, with room for what extra instances access (Sec. 5.3, Example 5.9).
# local: { T_local[element] }, the shape of each local tensor on every PE.
# to_local: { [PE[x, y] -> T[element]] -> T_local[element] }, where elements of tensors lie.

local := {
  W_local[i, j] : 0 <= i <= 7 and 0 <= j <= 4;
  y_local[i] : 0 <= i <= 7
};

to_local := {
  [PE[x, y] -> W[i, j]] -> W_local[i - 8y, j - 4x];
  [PE[x, y] -> y[i]] -> y_local[i - 8y]
};
