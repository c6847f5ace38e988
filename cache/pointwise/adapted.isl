# What the computing PEs see after borders are peeled off for adapters (Sec. 4.2).
# target: the computing PEs, { PE[x, y] } from PE[0, 0]; grid: these and the adapters.
# placement: { statement[iterators] -> PE[x, y] }, eq. (10).
# arrivals, departures: { tensor[element] -> [PE[x, y] -> index[i]] }, eqs. (5) (6).
# sources: how tensors reach the grid from outside, before adapters.

target := { PE[i0, i1] : 0 <= i0 <= 3 and 0 <= i1 <= 3 };

grid := { PE[i0, i1] : 0 <= i0 <= 3 and 0 <= i1 <= 3 };

placement := { C[k, h, w, c] -> PE[o0, o1] : 0 <= k <= 3 and 0 <= h <= 7 and 0 <= w <= 7 and 0 <= c <= 3 and -k + 2o0 <= 4*floor((w)/4) <= 1 - k + 2o0 and -c + 2o1 <= 4*floor((h)/4) <= 1 - c + 2o1 };

sources := { x[h, w, c] -> [PE[-1, o1] -> index[o2, w, h + c - 2o1 - o2]] : (h - o2) mod 4 = 0 and 0 <= h <= 7 and 0 <= w <= 7 and 0 <= c <= 3 and o2 >= -1 + h + c - 2o1 and 0 <= o2 <= 3 and o2 <= h + c - 2o1 };

arrivals := { x[h, w, c] -> [PE[-1, o1] -> index[o2, w, h + c - 2o1 - o2]] : (h - o2) mod 4 = 0 and h <= 7 and 0 <= w <= 7 and 0 <= c <= 3 and o1 >= 0 and o2 >= -1 + h + c - 2o1 and 0 <= o2 <= 3 and o2 <= h + c - 2o1 };

departures := {
  y[h, w, k] -> [PE[o0, -1] -> index[h, o3, w + k - 2o0 - o3]] : (w - o3) mod 4 = 0 and 0 <= h <= 3 and 0 <= w <= 7 and 0 <= k <= 3 and o3 >= -1 + w + k - 2o0 and 0 <= o3 <= 3 and o3 <= w + k - 2o0;
  y[h, w, k] -> [PE[o0, 4] -> index[-4 + h, o3, w + k - 2o0 - o3]] : (w - o3) mod 4 = 0 and 4 <= h <= 7 and 0 <= w <= 7 and 0 <= k <= 3 and o3 >= -1 + w + k - 2o0 and 0 <= o3 <= 3 and o3 <= w + k - 2o0
};
