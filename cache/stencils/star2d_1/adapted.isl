# What the computing PEs see after borders are peeled off for adapters (Sec. 4.2).
# target: the computing PEs, { PE[x, y] } from PE[0, 0]; grid: these and the adapters.
# placement: { statement[iterators] -> PE[x, y] }, eq. (10).
# arrivals, departures: { tensor[element] -> [PE[x, y] -> index[i]] }, eqs. (5) (6).
# sources: how tensors reach the grid from outside, before adapters.
# moves: { T[element] -> [PE[x, y] -> PE[x', y']] }: PE[x, y] computes what the element of T is in the
# next invocation, and PE[x', y'], which is near, needs it.

target := { PE[x, y] : 0 <= x <= 1 and 0 <= y <= 1 };

grid := { PE[x, y] : 0 <= x <= 1 and 0 <= y <= 1 };

placement := { star[i, j] -> PE[j//9, i//9] : 0 <= i <= 17 and 0 <= j <= 17 };

sources := { [] -> [] : false };

arrivals := { [] -> [] : false };

departures := { [] -> [] : false };

moves := {
  u[8, j] -> [PE[j//9, 0] -> PE[j//9, 1]] : 1 <= j <= 16;
  u[9, j] -> [PE[j//9, 1] -> PE[j//9, 0]] : 1 <= j <= 16;
  u[i, 8] -> [PE[0, i//9] -> PE[1, i//9]] : 1 <= i <= 16;
  u[i, 9] -> [PE[1, i//9] -> PE[0, i//9]] : 1 <= i <= 16
};
