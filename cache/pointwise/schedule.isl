# The time of each instance on its PE: { statement[iterators] -> [time] }.
# Where layer.yaml gives none: order of arrival, then lexicographic.

schedule := { C[k, h, w, c] -> [o0, w, o2, k' = k, h' = h, w' = w, c' = c] : (h - o0) mod 4 = 0 and (c + o2) mod 2 = 0 and 0 <= k <= 3 and 0 <= h <= 7 and 0 <= w <= 7 and 0 <= c <= 3 and 0 <= o0 <= 3 and 0 <= o2 <= 1 };
