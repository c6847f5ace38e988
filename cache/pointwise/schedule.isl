# The time of each instance on its PE: { statement[iterators] -> [time] }.
# Where layer.yaml gives none: order of arrival, then lexicographic.

schedule := { C[k, h, w, c] -> [h mod 4, w, c mod 2, k, h, w, c] : 0 <= k <= 3 and 0 <= h <= 7 and 0 <= w <= 7 and 0 <= c <= 3 };
