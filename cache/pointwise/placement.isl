# The PE of each instance (Sec. 4.1.2): { statement[iterators] -> PE[x, y] }.
# x grows to the east, y to the south, both from 0 in the target rectangle.

target := { PE[x, y] : 0 <= x <= 3 and 0 <= y <= 3 };

placement := { C[k, h, w, c] -> PE[o0, o1] : 0 <= k <= 3 and 0 <= h <= 7 and 0 <= w <= 7 and 0 <= c <= 3 and -k + 2o0 <= 4*floor((w)/4) <= 1 - k + 2o0 and -c + 2o1 <= 4*floor((h)/4) <= 1 - c + 2o1 };
