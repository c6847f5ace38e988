# Instance sets and access relations of the statements (Sec. 4.1.1).
# instances: { statement[iterators] }, tensors: { tensor[element] },
# reads, writes: { statement[iterators] -> tensor[element] }, eq. (25), of any instance.

instances := { ff[i, j] : 0 <= i <= 31 and 0 <= j <= 15 };

tensors := {
  W[i, j] : 0 <= i <= 31 and 0 <= j <= 15;
  x[i] : 0 <= i <= 15;
  y[i] : 0 <= i <= 31
};

reads := {
  ff[i, j] -> W[i, j];
  ff[i, j] -> x[j]
};

writes := { ff[i, j] -> y[i] };
