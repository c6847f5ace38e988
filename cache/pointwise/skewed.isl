# The time of each instance, { statement[iterators] -> [t...] }, on the clock of all PEs.
# before: as by schedule.isl, all PEs start together;
# schedule: PEs lag behind each other, so that neighbours use data one after the other (Meister).

before := { C[k, h, w, c] -> [t0, t1, t2, t3] : (-h + t0) mod 4 = 0 and (-w + t1) mod 4 = 0 and (c + t2) mod 2 = 0 and (k + t3) mod 2 = 0 and 0 <= k <= 3 and 0 <= h <= 7 and 0 <= w <= 7 and 0 <= c <= 3 and 0 <= t0 <= 3 and 0 <= t1 <= 3 and 0 <= t2 <= 1 and 0 <= t3 <= 1 };

schedule := { C[k, h, w, c] -> [t0, t1, t2, t3] : (-h + t0) mod 4 = 0 and (-w + t1) mod 4 = 0 and (-4k + 2h + w - 8c - 2t0 - t1 + 8t2 + 4t3) mod 20 = 0 and 0 <= k <= 3 and 0 <= h <= 7 and 0 <= w <= 7 and 0 <= c <= 3 and 0 <= t0 <= 3 and 0 <= t1 <= 3 and 2k - h + 2w - c + t0 - 2t1 - 4t2 <= 2t3 <= 5 + 2k - h + 2w - c + t0 - 2t1 - 4t2 and -k - 2h - w - 2c + 2t0 + t1 + 2t2 <= 4t3 <= 5 - k - 2h - w - 2c + 2t0 + t1 + 2t2 };
