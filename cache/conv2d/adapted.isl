# What the computing PEs see after borders are peeled off for adapters (Sec. 4.2).
# target: the computing PEs, { PE[x, y] } from PE[0, 0]; grid: these and the adapters.
# placement: { statement[iterators] -> PE[x, y] }, eq. (10).
# arrivals, departures: { tensor[element] -> [PE[x, y] -> index[i]] }, eqs. (5) (6).
# sources: how tensors reach the grid from outside, before adapters.

target := { PE[0, y] : 0 <= y <= 1 };

grid := { PE[0, y] : 0 <= y <= 1 };

placement := { C[k, w, h, rw, rh] -> PE[0, k] : 0 <= k <= 1 and 0 <= w <= 13 and 0 <= h <= 13 and 0 <= rw <= 2 and 0 <= rh <= 2 };

sources := { x[w, h] -> [PE[0, -1] -> index[w, h]] : 0 <= w <= 15 and 0 <= h <= 15 };

arrivals := { x[w, h] -> [PE[0, -1] -> index[w, h]] : 0 <= w <= 15 and 0 <= h <= 15 };

departures := { y[k, w, h] -> [PE[1, k] -> index[w, h]] : 0 <= k <= 1 and 0 <= w <= 13 and 0 <= h <= 13 };
