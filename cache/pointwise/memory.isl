# Local memory, with room for what extra instances access (Sec. 5.3, Example 5.9).
# local: { T_local[element] }, the shape of each local tensor on every PE.
# to_local: { [PE[x, y] -> T[element]] -> T_local[element] }, where elements of tensors lie.
# lifetime: { array[] -> event[] }, the first and last events of an invocation between which local
# tensors, and what tasks keep besides, are needed; always if that is from one to the next.
# address: { array[element] -> role[byte] }, where they lie in the memory of the PEs of a role.

local := {
  filter_local[i, j] : 0 <= i <= 1 and 0 <= j <= 1;
  y_local[i, j, k] : 0 <= i <= 3 and 0 <= j <= 3 and 0 <= k <= 1
};

to_local := {
  [PE[x, y] -> filter[i, j]] -> filter_local[i - 2*(y mod 2), j - 2*(x mod 2)];
  [PE[x, y] -> y[i, j, k]] -> y_local[i - 4*(y//2), j - 4*(x//2), k - 2*(x mod 2)]
};

lifetime := {
  filter_local[] -> always[];
  on_x_at0[] -> always[];
  y_local[] -> complete[];
  y_local[] -> restart[]
};

address := {
  filter_local[i, j] -> compute[4i + 2j] : 0 <= i <= 1 and 0 <= j <= 1;
  on_x_at0[i] -> compute[72 + 2i] : 0 <= i <= 7;
  y_local[i, j, k] -> compute[8 + 16i + 4j + 2k] : 0 <= i <= 3 and 0 <= j <= 3 and 0 <= k <= 1
};
