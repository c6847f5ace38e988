# The time of each instance, { statement[iterators] -> [t...] }, on the clock of all PEs.
# before: as by schedule.isl, all PEs start together;
# schedule: PEs lag behind each other, so that neighbours use data one after the other (Meister).

before := { C[k, w, h, rw, rh] -> [t0 = w + rw, t1 = h + rh, t2 = w, t3 = h] : 0 <= k <= 1 and 0 <= w <= 13 and 0 <= h <= 13 and 0 <= rw <= 2 and 0 <= rh <= 2 };

schedule := { C[k, w, h, rw, rh] -> [t0 = w + rw, t1 = k + h + rh, t2 = w, t3 = h] : 0 <= k <= 1 and 0 <= w <= 13 and 0 <= h <= 13 and 0 <= rw <= 2 and 0 <= rh <= 2 };
