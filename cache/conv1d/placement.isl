# The PE of each instance (Sec. 4.1.2): { statement[iterators] -> PE[x, y] }.
# x grows to the east, y to the south, both from 0 in the target rectangle.

target := { PE[0, y] : 0 <= y <= 1 };

placement := { C[k, w, rw] -> PE[0, k] : 0 <= k <= 1 and 0 <= w <= 13 and 0 <= rw <= 2 };
