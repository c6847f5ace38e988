# What the computing PEs see after borders are peeled off for adapters (Sec. 4.2).
# target: the computing PEs, { PE[x, y] } from PE[0, 0]; grid: these and the adapters.
# placement: { statement[iterators] -> PE[x, y] }, eq. (10).
# arrivals, departures: { tensor[element] -> [PE[x, y] -> index[i]] }, eqs. (5) (6).
# sources: how tensors reach the grid from outside, before adapters.
# PE[0, 0] here, and in all texts that follow, is PE[0, 1] of layer.yaml.

target := { PE[x, y] : 0 <= x <= 3 and 0 <= y <= 3 };

grid := { PE[x, y] : 0 <= x <= 3 and -1 <= y <= 3 };

placement := { ff[i, j] -> PE[j//4, i//8] : 0 <= i <= 31 and 0 <= j <= 15 };

sources := { x[i] -> [PE[0, -2] -> index[i]] : 0 <= i <= 15 };

arrivals := { x[i] -> [PE[i//4, -1] -> index[i mod 4]] : 0 <= i <= 15 };

departures := { y[i] -> [PE[4, i//8] -> index[i mod 8]] : 0 <= i <= 31 };
