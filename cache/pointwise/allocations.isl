# Local memory (Sec. 4.3).
# accessed: { PE[x, y] -> tensor[element] }, eq. (7); local: the local tensors, from 0.
# to_local: { [PE[x, y] -> tensor[element]] -> tensor_local[element] }, eq. (8).

accessed := {
  PE[x, y] -> filter[i, j] : 0 <= x <= 3 and 0 <= y <= 3 and 2*(y mod 2) <= i <= 1 + 2*(y mod 2) and 2*(x mod 2) <= j <= 1 + 2*(x mod 2);
  PE[x, y] -> y[i, j, k] : 0 <= x <= 3 and 0 <= y <= 3 and 4*(y//2) <= i <= 3 + 4*(y//2) and 4*(x//2) <= j <= 3 + 4*(x//2) and 2*(x mod 2) <= k <= 1 + 2*(x mod 2)
};

local := {
  filter_local[i, j] : 0 <= i <= 1 and 0 <= j <= 1;
  y_local[i, j, k] : 0 <= i <= 3 and 0 <= j <= 3 and 0 <= k <= 1
};

to_local := {
  [PE[x, y] -> filter[i, j]] -> filter_local[i - 2*(y mod 2), j - 2*(x mod 2)];
  [PE[x, y] -> y[i, j, k]] -> y_local[i - 4*(y//2), j - 4*(x//2), k - 2*(x mod 2)]
};
