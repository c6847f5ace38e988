# What the computing PEs see after borders are peeled off for adapters (Sec. 4.2).
# target: the computing PEs, { PE[x, y] } from PE[0, 0]; grid: these and the adapters.
# placement: { statement[iterators] -> PE[x, y] }, eq. (10).
# arrivals, departures: { tensor[element] -> [PE[x, y] -> index[i]] }, eqs. (5) (6).
# sources: how tensors reach the grid from outside, before adapters.

target := { PE[i0, i1] : 0 <= i0 <= 3 and 0 <= i1 <= 3 };

grid := { PE[i0, i1] : 0 <= i0 <= 3 and -1 <= i1 <= 3 };

placement := { ff[i, j] -> PE[o0, o1] : 0 <= i <= 31 and 0 <= j <= 15 and -3 + j <= 4o0 <= j and -7 + i <= 8o1 <= i };

sources := { x[i] -> [PE[0, -2] -> index[i]] : 0 <= i <= 15 };

arrivals := { x[i] -> [PE[o0, -1] -> index[i - 4o0]] : 0 <= i <= 15 and -3 + i <= 4o0 <= i };

departures := { y[i] -> [PE[4, o1] -> index[i - 8o1]] : 0 <= i <= 31 and -7 + i <= 8o1 <= i };
