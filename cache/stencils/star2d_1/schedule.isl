# The time of each instance on its PE: { statement[iterators] -> [time] }.
# Where layer.yaml gives none: order of arrival, then lexicographic.

schedule := { star[i, j] -> [i, j] : 1 <= i <= 16 and 1 <= j <= 16 };
