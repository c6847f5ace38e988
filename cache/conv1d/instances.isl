# What one invocation of each task runs (Sec. 5.1).
# T: [PE_X, PE_Y, index...] -> { instance }, eq. (12).
# T_known: the symbolic constants with which T is invoked, eq. (15).
# T_access: { instance -> element }, where an instance of a stream is the index of its element.

context := [PE_X, PE_Y] -> { : PE_X = 0 and 0 <= PE_Y <= 1 };

init_y := [PE_Y] -> { y[i = PE_Y, j] : 0 <= j <= 13 };

init_y_known := { : } * context;

init_y_access := { y[i, j] -> y[i, j] };

on_x := [PE_Y, index] -> { C[k = PE_Y, w, rw = index - w] : 0 <= w <= 13 and index - 2 <= w <= index } * context;

on_x_known := [index] -> { : 0 <= index <= 15 } * context;

on_x_access := {
  C[k, w, rw] -> W[k, rw];
  C[k, w, rw] -> x[w + rw];
  C[k, w, rw] -> y[k, w]
};

send_y := { index[i] : 0 <= i <= 13 } * context;

send_y_known := { : } * context;

send_y_access := [PE_Y] -> { index[i] -> y[PE_Y, i] : 0 <= i <= 13 } * context;
