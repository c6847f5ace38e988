# The PE of each instance (Sec. 4.1.2): { statement[iterators] -> PE[x, y] }.
# x grows to the east, y to the south, both from 0 in the target rectangle.

target := { PE[x, y] : 0 <= x <= 3 and 0 <= y <= 4 };

placement := { ff[i, j] -> PE[j//4, 1 + i//8] : 0 <= i <= 31 and 0 <= j <= 15 };
