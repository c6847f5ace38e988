# What one invocation of each task runs (Sec. 5.1).
# T: [PE_X, PE_Y, index...] -> { instance }, eq. (12).
# T_known: the symbolic constants with which T is invoked, eq. (15).
# T_access: { instance -> element }, where an instance of a stream is the index of its element.

context := [PE_X, PE_Y] -> { : PE_X = 0 and 0 <= PE_Y <= 1 };

init_y := [PE_Y] -> { y[i = PE_Y, j, k] : 0 <= j <= 13 and 0 <= k <= 13 };

init_y_known := { : } * context;

init_y_access := { y[i, j, k] -> y[i, j, k] };

on_x := [PE_Y, index0, index] -> { C[k = PE_Y, w, h, rw = index0 - w, rh = index - h] : 0 <= w <= 13 and index0 - 2 <= w <= index0 and 0 <= h <= 13 and index - 2 <= h <= index } * context;

on_x_known := [index0, index] -> { : 0 <= index0 <= 15 and 0 <= index <= 15 } * context;

on_x_access := {
  C[k, w, h, rw, rh] -> W[k, rw, rh];
  C[k, w, h, rw, rh] -> x[w + rw, h + rh];
  C[k, w, h, rw, rh] -> y[k, w, h]
};

send_y := { index[13, j] : 0 <= j <= 13 } * context;

send_y_known := { : } * context;

send_y_access := [PE_Y] -> { index[i, j] -> y[PE_Y, i, j] : 0 <= i <= 13 and 0 <= j <= 13 } * context;

early_send_y := [index0] -> { index[i = index0 - 2, j] : 2 <= index0 <= 14 and 0 <= j <= 13 } * context;

early_send_y_known := [index0] -> { : 0 <= index0 <= 15 } * context;

early_send_y_access := [PE_Y] -> { index[i, j] -> y[PE_Y, i, j] : 0 <= i <= 13 and 0 <= j <= 13 } * context;
