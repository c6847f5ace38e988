# Instance sets and access relations of the statements (Sec. 4.1.1).
# instances: { statement[iterators] }, tensors: { tensor[element] },
# reads, writes: { statement[iterators] -> tensor[element] }, eq. (25), of any instance.

instances := { C[k, w, h, rw, rh] : 0 <= k <= 1 and 0 <= w <= 13 and 0 <= h <= 13 and 0 <= rw <= 2 and 0 <= rh <= 2 };

tensors := {
  W[i0, i1, i2] : 0 <= i0 <= 1 and 0 <= i1 <= 2 and 0 <= i2 <= 2;
  x[i0, i1] : 0 <= i0 <= 15 and 0 <= i1 <= 15;
  y[i0, i1, i2] : 0 <= i0 <= 1 and 0 <= i1 <= 13 and 0 <= i2 <= 13
};

reads := {
  C[k, w, h, rw, rh] -> W[k, rw, rh];
  C[k, w, h, rw, rh] -> x[w + rw, h + rh]
};

writes := { C[k, w, h, rw, rh] -> y[k, w, h] };
