# What one invocation of each task runs (Sec. 5.1).
# T: [PE_X, PE_Y, index...] -> { instance }, eq. (12).
# T_known: the symbolic constants with which T is invoked, eq. (15).
# T_access: { instance -> element }, where an instance of a stream is the index of its element.

context := [PE_X, PE_Y] -> { : 0 <= PE_X <= 3 and 0 <= PE_Y <= 3 };

context2 := [PE_X, PE_Y] -> { : 0 <= PE_X <= 3 and 0 <= PE_Y <= 1 };

context3 := [PE_X, PE_Y] -> { : 0 <= PE_X <= 3 and 2 <= PE_Y <= 3 };

init_y := [PE_X, PE_Y] -> { y[i, j, k] : 4*(PE_Y//2) <= i <= 3 + 4*(PE_Y//2) and 4*(PE_X//2) <= j <= 3 + 4*(PE_X//2) and 2*(PE_X mod 2) <= k <= 1 + 2*(PE_X mod 2) };

init_y_known := { : } * context;

init_y_access := { y[i, j, k] -> y[i, j, k] };

on_x := [PE_X, PE_Y, index0, index1, index] -> { C[k, h = index0 + 4*(PE_Y//2), w = index1, c = index + 2*(PE_Y mod 2)] : 0 <= index0 <= 3 and 4*(PE_X//2) <= index1 <= 3 + 4*(PE_X//2) and 0 <= index <= 1 and 2*(PE_X mod 2) <= k <= 1 + 2*(PE_X mod 2) } * context;

on_x_known := [index0, index1, index] -> { : 0 <= index0 <= 3 and 0 <= index1 <= 7 and 0 <= index <= 1 } * context;

on_x_access := {
  C[k, h, w, c] -> filter[c, k];
  C[k, h, w, c] -> x[h, w, c];
  C[k, h, w, c] -> y[h, w, k]
};

send_y_north := { index[3, j, k] : 0 <= j <= 3 and 0 <= k <= 1 } * context2;

send_y_north_known := { : } * context2;

send_y_north_access := [PE_X] -> { index[i, j, k] -> y[i, j + 4*(PE_X//2), k + 2*(PE_X mod 2)] : 0 <= i <= 3 and 0 <= j <= 3 and 0 <= k <= 1 } * context2;

send_y_south := { index[3, j, k] : 0 <= j <= 3 and 0 <= k <= 1 } * context3;

send_y_south_known := { : } * context3;

send_y_south_access := [PE_X] -> { index[i, j, k] -> y[4 + i, j + 4*(PE_X//2), k + 2*(PE_X mod 2)] : 0 <= i <= 3 and 0 <= j <= 3 and 0 <= k <= 1 } * context3;

early_send_y_north := [index0, index1] -> { index[i = index0, j, k] : 0 <= index0 <= 2 and index1 = 7 and 0 <= j <= 3 and 0 <= k <= 1 } * context2;

early_send_y_north_known := [index0, index1] -> { : 0 <= index0 <= 3 and 0 <= index1 <= 7 } * context2;

early_send_y_north_access := [PE_X] -> { index[i, j, k] -> y[i, j + 4*(PE_X//2), k + 2*(PE_X mod 2)] : 0 <= i <= 3 and 0 <= j <= 3 and 0 <= k <= 1 } * context2;

early_send_y_south := [index0, index1] -> { index[i = index0, j, k] : 0 <= index0 <= 2 and index1 = 7 and 0 <= j <= 3 and 0 <= k <= 1 } * context3;

early_send_y_south_known := [index0, index1] -> { : 0 <= index0 <= 3 and 0 <= index1 <= 7 } * context3;

early_send_y_south_access := [PE_X] -> { index[i, j, k] -> y[4 + i, j + 4*(PE_X//2), k + 2*(PE_X mod 2)] : 0 <= i <= 3 and 0 <= j <= 3 and 0 <= k <= 1 } * context3;
