# Instance sets and access relations of the statements (Sec. 4.1.1).
# instances: { statement[iterators] }, tensors: { tensor[element] },
# reads, writes: { statement[iterators] -> tensor[element] }, eq. (25), of any instance.

instances := { C[k, h, w, c] : 0 <= k <= 3 and 0 <= h <= 7 and 0 <= w <= 7 and 0 <= c <= 3 };

tensors := {
  filter[i, j] : 0 <= i <= 3 and 0 <= j <= 3;
  x[i, j, k] : 0 <= i <= 7 and 0 <= j <= 7 and 0 <= k <= 3;
  y[i, j, k] : 0 <= i <= 7 and 0 <= j <= 7 and 0 <= k <= 3
};

reads := {
  C[k, h, w, c] -> filter[c, k];
  C[k, h, w, c] -> x[h, w, c]
};

writes := { C[k, h, w, c] -> y[h, w, k] };
