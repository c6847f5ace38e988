# The time of each instance, { statement[iterators] -> [t...] }, on the clock of all PEs.
# before: as by schedule.isl, all PEs start together;
# schedule: PEs lag behind each other, so that neighbours use data one after the other (Meister).

before := { ff[i, j] -> [t0, t1] : (-j + t0) mod 4 = 0 and (-i + t1) mod 8 = 0 and 0 <= i <= 31 and 0 <= j <= 15 and 0 <= t0 <= 3 and 0 <= t1 <= 7 };

schedule := { ff[i, j] -> [t0, t1] : (-8 - i - 8j + 8t0 + t1) mod 31 = 0 and 0 <= i <= 31 and 0 <= j <= 15 and 32 + 4i + j - 32t0 <= 4t1 <= 125 + 4i + j - 32t0 and 8 + i + 8j - 8t0 <= 32t1 <= 225 + i + 8j - 8t0 };
