# Local memory, with room for what extra instances access (Sec. 5.3, Example 5.9).
# local: { T_local[element] }, the shape of each local tensor on every PE.
# to_local: { [PE[x, y] -> T[element]] -> T_local[element] }, where elements of tensors lie.
# lifetime: { array[] -> event[] }, the first and last events of an invocation between which local
# tensors, and what tasks keep besides, are needed; always if that is from one to the next.
# address: { array[element] -> role[byte] }, where they lie in the memory of the PEs of a role.

local := {
  W_local[0, j, k] : 0 <= j <= 2 and 0 <= k <= 2;
  y_local[0, j, k] : 0 <= j <= 17 and 0 <= k <= 17
};

to_local := {
  [PE[x, y] -> W[i, j, k]] -> W_local[i - y, j, k];
  [PE[x, y] -> y[i, j, k]] -> y_local[i - y, 2 + j, 2 + k]
};

lifetime := {
  W_local[] -> always[];
  y_local[] -> complete[];
  y_local[] -> restart[]
};

address := {
  W_local[0, j, k] -> compute[6j + 2k] : 0 <= j <= 2 and 0 <= k <= 2;
  y_local[0, j, k] -> compute[18 + 36j + 2k] : 0 <= j <= 17 and 0 <= k <= 17
};
