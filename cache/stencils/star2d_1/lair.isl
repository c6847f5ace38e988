# Instance sets and access relations of the statements (Sec. 4.1.1).
# instances: { statement[iterators] }, tensors: { tensor[element] },
# reads, writes: { statement[iterators] -> tensor[element] }, eq. (25), of any instance.
# idle: { statement[iterators] } that do not run, but have a place: an element to which nothing is
# reduced is there, and what it is at first.
# views: { view[element] -> tensor[element] }, further accesses of statements to a tensor: each has a
# name of its own, and the memory of the tensor.
# internal: { tensor[element] } of what only other statements read, if there is any.
# carried: { tensor[element] -> source[element] }: what it is in the next invocation, if not the same.

instances := { star[i, j] : 1 <= i <= 16 and 1 <= j <= 16 };

tensors := {
  u[i, j] : 0 <= i <= 17 and 0 <= j <= 17;
  un[i, j] : 0 <= i <= 17 and 0 <= j <= 17
};

reads := {
  star[i, j] -> u[i - 1, j];
  star[i, j] -> u_2[1 + i, j];
  star[i, j] -> u_3[i, j - 1];
  star[i, j] -> u_4[i, 1 + j]
};

writes := { star[i, j] -> un[i, j] };

views := {
  u_2[i, j] -> u[i, j];
  u_3[i, j] -> u[i, j];
  u_4[i, j] -> u[i, j]
};

idle := {
  star[i = 0, j] : 0 <= j <= 17;
  star[i = 17, j] : 0 <= j <= 17;
  star[i, j = 0] : 1 <= i <= 16;
  star[i, j = 17] : 1 <= i <= 16
};

carried := { u[i, j] -> un[i, j] : 0 <= i <= 17 and 0 <= j <= 17 };
