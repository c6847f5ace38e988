# Instance sets and access relations of the statements (Sec. 4.1.1).
# instances: { statement[iterators] }, tensors: { tensor[element] },
# reads, writes: { statement[iterators] -> tensor[element] }, eq. (25), of any instance.

instances := { C[k, h, w, c] : 0 <= k <= 3 and 0 <= h <= 7 and 0 <= w <= 7 and 0 <= c <= 3 };

tensors := {
  filter[i0, i1] : 0 <= i0 <= 3 and 0 <= i1 <= 3;
  x[i0, i1, i2] : 0 <= i0 <= 7 and 0 <= i1 <= 7 and 0 <= i2 <= 3;
  y[i0, i1, i2] : 0 <= i0 <= 7 and 0 <= i1 <= 7 and 0 <= i2 <= 3
};

reads := {
  C[k, h, w, c] -> filter[c, k];
  C[k, h, w, c] -> x[h, w, c]
};

writes := { C[k, h, w, c] -> y[h, w, k] };
