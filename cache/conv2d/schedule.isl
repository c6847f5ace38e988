# The time of each instance on its PE: { statement[iterators] -> [time] }.
# Where layer.yaml gives none: order of arrival, then lexicographic.

schedule := { C[k, w, h, rw, rh] -> [w + rw, h + rh, k, w, h, rw, rh] : 0 <= k <= 1 and 0 <= w <= 13 and 0 <= h <= 13 and 0 <= rw <= 2 and 0 <= rh <= 2 };
