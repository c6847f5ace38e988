# Local memory, with room for what extra instances access (Sec. 5.3, Example 5.9).
# local: { T_local[element] }, the shape of each local tensor on every PE.
# to_local: { [PE[x, y] -> T[element]] -> T_local[element] }, where elements of tensors lie.
# lifetime: { array[] -> event[] }, the first and last events of an invocation between which local
# tensors, and what tasks keep besides, are needed; always if that is from one to the next.
# address: { array[element] -> role[byte] }, where they lie in the memory of the PEs of a role.

local := { u_local[i, j, k] : 0 <= i <= 1 and 0 <= j <= 9 and 0 <= k <= 11 };

to_local := {
  [PE[x, y] -> u[i, j]] -> u_local[0, i - 8y, j - 8x] : 0 <= x <= 1;
  [PE[x, y] -> u_2[i, j]] -> u_local[0, i - 8y, j - 8x] : 0 <= x <= 1;
  [PE[x, y] -> u_3[i, j]] -> u_local[0, i - 8y, j - 8x] : 0 <= x <= 1;
  [PE[x, y] -> u_4[i, j]] -> u_local[0, i - 8y, j - 8x] : 0 <= x <= 1;
  [PE[x, y] -> un[i, j]] -> u_local[1, i - 8y, j - 8x] : 0 <= x <= 1
};

lifetime := {
  compute_star_part0[] -> finish_star[];
  u_local[] -> always[]
};

address := {
  compute_star_part0[i] -> compute[976 + 4i] : 0 <= i <= 63;
  u_local[i, j, k] -> compute[12 + 480i + 48j + 4k] : 0 <= i <= 1 and 0 <= j <= 9 and 0 <= k <= 11
};
