# Instance sets and access relations of the statements (Sec. 4.1.1).
# instances: { statement[iterators] }, tensors: { tensor[element] },
# reads, writes: { statement[iterators] -> tensor[element] }, eq. (25), of any instance.

instances := { C[k, w, rw] : 0 <= k <= 1 and 0 <= w <= 13 and 0 <= rw <= 2 };

tensors := {
  W[i, j] : 0 <= i <= 1 and 0 <= j <= 2;
  x[i] : 0 <= i <= 15;
  y[i, j] : 0 <= i <= 1 and 0 <= j <= 13
};

reads := {
  C[k, w, rw] -> W[k, rw];
  C[k, w, rw] -> x[w + rw]
};

writes := { C[k, w, rw] -> y[k, w] };
