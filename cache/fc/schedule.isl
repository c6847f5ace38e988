# The time of each instance on its PE: { statement[iterators] -> [time] }.
# Where layer.yaml gives none: order of arrival, then lexicographic.

schedule := { ff[i, j] -> [j, i, j] : 0 <= i <= 31 and 0 <= j <= 15 };
