# Which PEs of the field of workers compute, take from neighbours, or send to them.
# Each worker has a number for each filter: 1 where it is in the box, else 0.

filter_0 := { PE[x, y] : 1 <= x <= 4 and 1 <= y <= 4 };

filter_1 := { PE[x, y] : 2 <= x <= 5 and 1 <= y <= 4 };

filter_2 := { PE[x, y] : 0 <= x <= 5 and 0 <= y <= 5 };
