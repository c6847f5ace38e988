# The time of each instance, { statement[iterators] -> [t...] }, on the clock of all PEs.
# before: as by schedule.isl, all PEs start together;
# schedule: PEs lag behind each other, so that neighbours use data one after the other (Meister).

before := { C[k, w, rw] -> [t0 = w + rw, t1 = w] : 0 <= k <= 1 and 0 <= w <= 13 and 0 <= rw <= 2 };

schedule := { C[k, w, rw] -> [t0 = k + w + rw, t1 = w] : 0 <= k <= 1 and 0 <= w <= 13 and 0 <= rw <= 2 };
