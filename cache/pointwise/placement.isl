# The PE of each instance (Sec. 4.1.2): { statement[iterators] -> PE[x, y] }.
# x grows to the east, y to the south, both from 0 in the target rectangle.

target := { PE[x, y] : 0 <= x <= 3 and 0 <= y <= 3 };

placement := { C[k, h, w, c] -> PE[k//2 + 2*(w//4), c//2 + 2*(h//4)] : 0 <= k <= 3 and 0 <= h <= 7 and 0 <= w <= 7 and 0 <= c <= 3 };
