# Local memory, with room for what extra instances access (Sec. 5.3, Example 5.9).
# local: { T_local[element] }, the shape of each local tensor on every PE.
# to_local: { [PE[x, y] -> T[element]] -> T_local[element] }, where elements of tensors lie.
# lifetime: { array[] -> event[] }, the first and last events of an invocation between which local
# tensors, and what tasks keep besides, are needed; always if that is from one to the next.
# address: { array[element] -> role[byte] }, where they lie in the memory of the PEs of a role.

local := {
  W_local[i, j] : 0 <= i <= 7 and 0 <= j <= 4;
  y_local[i] : 0 <= i <= 7
};

to_local := {
  [PE[x, y] -> W[i, j]] -> W_local[i - 8y, j - 4x];
  [PE[x, y] -> y[i]] -> y_local[i - 8y]
};

lifetime := {
  W_local[] -> always[];
  y_local[] -> complete[];
  y_local[] -> restart[]
};

address := {
  W_local[i, j] -> compute[8 + 10i + 2j] : 0 <= i <= 7 and 0 <= j <= 4;
  y_local[i] -> compute[96 + 2i] : 0 <= i <= 7
};
