# What one invocation of each task runs (Sec. 5.1).
# T: [PE_X, PE_Y, index...] -> { instance }, eq. (12).
# T_known: the symbolic constants with which T is invoked, eq. (15).
# T_access: { instance -> element }, where an instance of a stream is the index of its element.

context := [PE_X, PE_Y] -> { : 0 <= PE_X <= 3 and 0 <= PE_Y <= 3 };

init_y := [PE_Y] -> { y[i] : 8PE_Y <= i <= 7 + 8PE_Y };

init_y_known := { : } * context;

init_y_access := { y[i] -> y[i] };

relay_x := [PE_X, PE_Y, index] -> { index[i = index - 4PE_X] : 0 <= PE_X <= 3 and PE_Y = -1 and 4PE_X <= index <= 3 + 4PE_X };

relay_x_known := [PE_X, PE_Y, index] -> { : 0 <= PE_X <= 3 and PE_Y = -1 and 4PE_X <= index <= 3 + 4PE_X };

on_x := [PE_X, PE_Y, index] -> { ff[i, j = 4PE_X + index] : 0 <= index <= 3 and 8PE_Y <= i <= 7 + 8PE_Y } * context;

on_x_known := [index] -> { : 0 <= index <= 3 } * context;

on_x_access := {
  ff[i, j] -> W[i, j];
  ff[i, j] -> x[j];
  ff[i, j] -> y[i]
};

send_y := { index[i] : 0 <= i <= 7 } * context;

send_y_known := { : } * context;

send_y_access := [PE_Y] -> { index[i] -> y[8PE_Y + i] : 0 <= i <= 7 } * context;
