# Variable compression of the instance set of each task T (Sec. 5.2).
# T_compression: { [i] -> instance }, eq. (18); T: { [i] }, eq. (19).
# T_access: { [i] -> element }, eq. (26).

context := [PE_X, PE_Y] -> { : PE_X = 0 and 0 <= PE_Y <= 1 };

init_y_compression := [PE_Y] -> { [i] -> y[PE_Y, i] };

init_y := { [i] : 0 <= i <= 13 } * context;

init_y_access := [PE_Y] -> { [i] -> y[PE_Y, i] };

on_x_compression := [PE_Y, index] -> { [i] -> C[PE_Y, index - i, i] };

on_x := [index] -> { [i] : 0 <= i <= 2 and index - 13 <= i <= index } * context;

on_x_access := [PE_Y, index] -> {
  [i] -> W[PE_Y, i];
  [i] -> x[index];
  [i] -> y[PE_Y, index - i]
};

send_y_compression := { [i] -> index[i] };

send_y := { [i] : 0 <= i <= 13 } * context;

send_y_access := [PE_Y] -> { [i] -> y[PE_Y, i] : 0 <= i <= 13 } * context;
