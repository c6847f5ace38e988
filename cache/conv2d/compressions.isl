# Variable compression of the instance set of each task T (Sec. 5.2).
# T_compression: { [i] -> instance }, eq. (18); T: { [i] }, eq. (19).
# T_access: { [i] -> element }, eq. (26).

context := [PE_X, PE_Y] -> { : PE_X = 0 and 0 <= PE_Y <= 1 };

init_y_compression := [PE_Y] -> { [i, j] -> y[PE_Y, i, j] };

init_y := { [i, j] : 0 <= i <= 13 and 0 <= j <= 13 } * context;

init_y_access := [PE_Y] -> { [i, j] -> y[PE_Y, i, j] };

on_x_compression := [PE_Y, index0, index] -> { [i, j] -> C[PE_Y, index0 - i, index - j, i, j] };

on_x := [index0, index] -> { [i, j] : 0 <= i <= 2 and index0 - 13 <= i <= index0 and 0 <= j <= 2 and index - 13 <= j <= index } * context;

on_x_access := [PE_Y, index0, index] -> {
  [i, j] -> W[PE_Y, i, j];
  [i, j] -> x[index0, index];
  [i, j] -> y[PE_Y, index0 - i, index - j]
};

send_y_compression := { [i] -> index[13, i] };

send_y := { [i] : 0 <= i <= 13 } * context;

send_y_access := [PE_Y] -> { [i] -> y[PE_Y, 13, i] : 0 <= i <= 13 } * context;

early_send_y_compression := [index0] -> { [i] -> index[index0 - 2, i] };

early_send_y := [index0] -> { [i] : 2 <= index0 <= 14 and 0 <= i <= 13 } * context;

early_send_y_access := [PE_Y, index0] -> { [i] -> y[PE_Y, index0 - 2, i] : 2 <= index0 <= 15 and 0 <= i <= 13 } * context;
