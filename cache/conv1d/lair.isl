# Instance sets and access relations of the statements (Sec. 4.1.1).
# instances: { statement[iterators] }, tensors: { tensor[element] },
# reads, writes: { statement[iterators] -> tensor[element] }, eq. (25), of any instance.

instances := { C[k, w, rw] : 0 <= k <= 1 and 0 <= w <= 13 and 0 <= rw <= 2 };

tensors := {
  W[i0, i1] : 0 <= i0 <= 1 and 0 <= i1 <= 2;
  x[i0] : 0 <= i0 <= 15;
  y[i0, i1] : 0 <= i0 <= 1 and 0 <= i1 <= 13
};

reads := {
  C[k, w, rw] -> W[k, rw];
  C[k, w, rw] -> x[w + rw]
};

writes := { C[k, w, rw] -> y[k, w] };
