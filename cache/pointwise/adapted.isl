# What the computing PEs see after borders are peeled off for adapters (Sec. 4.2).
# target: the computing PEs, { PE[x, y] } from PE[0, 0]; grid: these and the adapters.
# placement: { statement[iterators] -> PE[x, y] }, eq. (10).
# arrivals, departures: { tensor[element] -> [PE[x, y] -> index[i]] }, eqs. (5) (6).
# sources: how tensors reach the grid from outside, before adapters.

target := { PE[x, y] : 0 <= x <= 3 and 0 <= y <= 3 };

grid := { PE[x, y] : 0 <= x <= 3 and 0 <= y <= 3 };

placement := { C[k, h, w, c] -> PE[k//2 + 2*(w//4), c//2 + 2*(h//4)] : 0 <= k <= 3 and 0 <= h <= 7 and 0 <= w <= 7 and 0 <= c <= 3 };

sources := { x[h, w, c] -> [PE[-1, c//2 + 2*(h//4)] -> index[h mod 4, w, c mod 2]] : 0 <= h <= 7 and 0 <= w <= 7 and 0 <= c <= 3 };

arrivals := { x[h, w, c] -> [PE[-1, c//2 + 2*(h//4)] -> index[h mod 4, w, c mod 2]] : 0 <= h <= 7 and 0 <= w <= 7 and 0 <= c <= 3 };

departures := {
  y[h, w, k] -> [PE[k//2 + 2*(w//4), -1] -> index[h, w mod 4, k mod 2]] : 0 <= h <= 3 and 0 <= w <= 7 and 0 <= k <= 3;
  y[h, w, k] -> [PE[k//2 + 2*(w//4), 4] -> index[h - 4, w mod 4, k mod 2]] : 4 <= h <= 7 and 0 <= w <= 7 and 0 <= k <= 3
};
