# Local memory (Sec. 4.3).
# accessed: { PE[x, y] -> tensor[element] }, eq. (7); local: the local tensors, from 0.
# to_local: { [PE[x, y] -> tensor[element]] -> tensor_local[element] }, eq. (8).

accessed := {
  PE[x, y] -> u[i, j] : 1 <= i <= 16 and 9y <= i <= 8 + 9y and 0 <= j <= 15 and 9x - 1 <= j <= 7 + 9x;
  PE[x, y] -> u[i, j] : x <= 1 and 1 <= i <= 16 and 9y <= i <= 8 + 9y and 2 <= j <= 17 and 9x - 1 <= j <= 9 + 9x;
  PE[x, y] -> u[i, j] : y <= 1 and 2 <= i <= 17 and 9y - 1 <= i <= 9 + 9y and 1 <= j <= 16 and 9x <= j <= 8 + 9x;
  PE[x, y] -> u[i, j] : y <= 1 and 9y - 1 <= i <= 7 + 9y and i >= 0 and 1 <= j <= 16 and 9x <= j <= 8 + 9x;
  PE[x, y] -> un[i, j] : 0 <= x <= 1 and 0 <= y <= 1 and 9y <= i <= 8 + 9y and 9x <= j <= 8 + 9x
};

local := { u_local[i, j, k] : 0 <= i <= 1 and 0 <= j <= 9 and 0 <= k <= 9 };

to_local := {
  [PE[x, y] -> u[i, j]] -> u_local[0, i - 8y, j - 8x] : 0 <= x <= 1;
  [PE[x, y] -> u_2[i, j]] -> u_local[0, i - 8y, j - 8x] : 0 <= x <= 1;
  [PE[x, y] -> u_3[i, j]] -> u_local[0, i - 8y, j - 8x] : 0 <= x <= 1;
  [PE[x, y] -> u_4[i, j]] -> u_local[0, i - 8y, j - 8x] : 0 <= x <= 1;
  [PE[x, y] -> un[i, j]] -> u_local[1, i - 8y, j - 8x] : 0 <= x <= 1
};
