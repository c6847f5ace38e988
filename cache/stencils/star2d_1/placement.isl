# The PE of each instance (Sec. 4.1.2): { statement[iterators] -> PE[x, y] }.
# x grows to the east, y to the south, both from 0 in the target rectangle.

target := { PE[x, y] : 0 <= x <= 1 and 0 <= y <= 1 };

placement := { star[i, j] -> PE[j//9, i//9] : 0 <= i <= 17 and 0 <= j <= 17 };
