# What one invocation of each task runs (Sec. 5.1).
# T: [PE_X, PE_Y, index...] -> { instance }, eq. (12).
# T_known: the symbolic constants with which T is invoked, eq. (15).
# T_access: { instance -> element }, where an instance of a stream is the index of its element.

init_y := [PE_Y] -> { y[i2] : 8PE_Y <= i2 <= 7 + 8PE_Y };

init_y_known := [PE_X, PE_Y] -> { : 0 <= PE_X <= 3 and 0 <= PE_Y <= 3 };

init_y_access := { y[i2] -> y[i2' = i2] };

relay_x := [PE_X, PE_Y, index] -> { index[-4PE_X + index] : PE_Y = -1 and 0 <= PE_X <= 3 and 4PE_X <= index <= 3 + 4PE_X };

relay_x_known := [PE_X, PE_Y, index] -> { : PE_Y = -1 and 0 <= PE_X <= 3 and 4PE_X <= index <= 3 + 4PE_X };

on_x := [PE_X, PE_Y, index] -> { ff[i, j = 4PE_X + index] : 0 <= PE_X <= 3 and 0 <= PE_Y <= 3 and 0 <= index <= 3 and 8PE_Y <= i <= 7 + 8PE_Y };

on_x_known := [PE_X, PE_Y, index] -> { : 0 <= PE_X <= 3 and 0 <= PE_Y <= 3 and 0 <= index <= 3 };

on_x_access := {
  ff[i, j] -> W[i, j];
  ff[i, j] -> x[j];
  ff[i, j] -> y[i]
};

send_y := [PE_X, PE_Y] -> { index[i0] : 0 <= PE_X <= 3 and 0 <= PE_Y <= 3 and 0 <= i0 <= 7 };

send_y_known := [PE_X, PE_Y] -> { : 0 <= PE_X <= 3 and 0 <= PE_Y <= 3 };

send_y_access := [PE_X, PE_Y] -> { index[i0] -> y[i = 8PE_Y + i0] : 0 <= PE_X <= 3 and 0 <= PE_Y <= 3 and 0 <= i0 <= 7 };
