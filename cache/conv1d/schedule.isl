# The time of each instance on its PE: { statement[iterators] -> [time] }.
# Where layer.yaml gives none: order of arrival, then lexicographic.

schedule := { C[k, w, rw] -> [w + rw, k, w, rw] : 0 <= k <= 1 and 0 <= w <= 13 and 0 <= rw <= 2 };
