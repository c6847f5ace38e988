# Instance sets and access relations of the statements (Sec. 4.1.1).
# instances: { statement[iterators] }, tensors: { tensor[element] },
# reads, writes: { statement[iterators] -> tensor[element] }, eq. (25), of any instance.

instances := { C[k, w, h, rw, rh] : 0 <= k <= 1 and 0 <= w <= 13 and 0 <= h <= 13 and 0 <= rw <= 2 and 0 <= rh <= 2 };

tensors := {
  W[i, j, k] : 0 <= i <= 1 and 0 <= j <= 2 and 0 <= k <= 2;
  x[i, j] : 0 <= i <= 15 and 0 <= j <= 15;
  y[i, j, k] : 0 <= i <= 1 and 0 <= j <= 13 and 0 <= k <= 13
};

reads := {
  C[k, w, h, rw, rh] -> W[k, rw, rh];
  C[k, w, h, rw, rh] -> x[w + rw, h + rh]
};

writes := { C[k, w, h, rw, rh] -> y[k, w, h] };
