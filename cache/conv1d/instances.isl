# What one invocation of each task runs (Sec. 5.1).
# T: [PE_X, PE_Y, index...] -> { instance }, eq. (12).
# T_known: the symbolic constants with which T is invoked, eq. (15).
# T_access: { instance -> element }, where an instance of a stream is the index of its element.

init_y := [PE_Y] -> { y[i2 = PE_Y, i3] : 0 <= i3 <= 13 };

init_y_known := [PE_X, PE_Y] -> { : PE_X = 0 and 0 <= PE_Y <= 1 };

init_y_access := { y[i2, i3] -> y[i2' = i2, i3' = i3] };

on_x := [PE_X, PE_Y, index] -> { C[k = PE_Y, w, rw = index - w] : PE_X = 0 and 0 <= PE_Y <= 1 and w >= -2 + index and 0 <= w <= 13 and w <= index };

on_x_known := [PE_X, PE_Y, index] -> { : PE_X = 0 and 0 <= PE_Y <= 1 and 0 <= index <= 15 };

on_x_access := {
  C[k, w, rw] -> W[k, rw];
  C[k, w, rw] -> x[w + rw];
  C[k, w, rw] -> y[k, w]
};

send_y := [PE_X, PE_Y] -> { index[i0] : PE_X = 0 and 0 <= PE_Y <= 1 and 0 <= i0 <= 13 };

send_y_known := [PE_X, PE_Y] -> { : PE_X = 0 and 0 <= PE_Y <= 1 };

send_y_access := [PE_X, PE_Y] -> { index[i0] -> y[k = PE_Y, w = i0] : PE_X = 0 and 0 <= PE_Y <= 1 and 0 <= i0 <= 13 };
