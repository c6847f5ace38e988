# What one invocation of each task runs (Sec. 5.1).
# T: [PE_X, PE_Y, index...] -> { instance }, eq. (12).
# T_known: the symbolic constants with which T is invoked, eq. (15).
# T_access: { instance -> element }, where an instance of a stream is the index of its element.

init_y := [PE_Y] -> { y[i2 = PE_Y, i3, i4] : 0 <= i3 <= 13 and 0 <= i4 <= 13 };

init_y_known := [PE_X, PE_Y] -> { : PE_X = 0 and 0 <= PE_Y <= 1 };

init_y_access := { y[i2, i3, i4] -> y[i2' = i2, i3' = i3, i4' = i4] };

on_x := [PE_X, PE_Y, index0, index] -> { C[k = PE_Y, w, h, rw = index0 - w, rh = index - h] : PE_X = 0 and 0 <= PE_Y <= 1 and w >= -2 + index0 and 0 <= w <= 13 and w <= index0 and h >= -2 + index and 0 <= h <= 13 and h <= index };

on_x_known := [PE_X, PE_Y, index0, index] -> { : PE_X = 0 and 0 <= PE_Y <= 1 and 0 <= index0 <= 15 and 0 <= index <= 15 };

on_x_access := {
  C[k, w, h, rw, rh] -> W[k, rw, rh];
  C[k, w, h, rw, rh] -> x[w + rw, h + rh];
  C[k, w, h, rw, rh] -> y[k, w, h]
};

send_y := [PE_X, PE_Y] -> { index[13, i1] : PE_X = 0 and 0 <= PE_Y <= 1 and 0 <= i1 <= 13 };

send_y_known := [PE_X, PE_Y] -> { : PE_X = 0 and 0 <= PE_Y <= 1 };

send_y_access := [PE_X, PE_Y] -> { index[i0, i1] -> y[k = PE_Y, w = i0, h = i1] : PE_X = 0 and 0 <= PE_Y <= 1 and 0 <= i0 <= 13 and 0 <= i1 <= 13 };

lead_y := [PE_X, PE_Y, index0] -> { index[-2 + index0, i1] : PE_X = 0 and 0 <= PE_Y <= 1 and 2 <= index0 <= 14 and 0 <= i1 <= 13 };

lead_y_known := [PE_X, PE_Y, index0] -> { : PE_X = 0 and 0 <= PE_Y <= 1 and 0 <= index0 <= 15 };

lead_y_access := [PE_X, PE_Y] -> { index[i0, i1] -> y[k = PE_Y, w = i0, h = i1] : PE_X = 0 and 0 <= PE_Y <= 1 and 0 <= i0 <= 13 and 0 <= i1 <= 13 };
