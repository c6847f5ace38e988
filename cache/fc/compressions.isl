# Variable compression of the instance set of each task T (Sec. 5.2).
# T_compression: { [i] -> instance }, eq. (18); T: { [i] }, eq. (19).
# T_access: { [i] -> element }, eq. (26).

init_y_compression := { [i0] -> y[i2 = i0] };

init_y := [PE_X, PE_Y] -> { [i0] : 0 <= PE_X <= 3 and 0 <= PE_Y <= 3 and 8PE_Y <= i0 <= 7 + 8PE_Y };

init_y_access := { [i0] -> y[i2 = i0] };

relay_x_compression := [PE_X, index] -> { [] -> index[-4PE_X + index] };

relay_x := [PE_X, PE_Y, index] -> { [] : PE_Y = -1 and 0 <= PE_X <= 3 and 4PE_X <= index <= 3 + 4PE_X };

on_x_compression := [PE_X, index] -> { [i0] -> ff[i = i0, j = 4PE_X + index] };

on_x := [PE_X, PE_Y, index] -> { [i0] : 0 <= PE_X <= 3 and 0 <= PE_Y <= 3 and 0 <= index <= 3 and 8PE_Y <= i0 <= 7 + 8PE_Y };

on_x_access := [PE_X, index] -> {
  [i0] -> W[i0, 4PE_X + index];
  [i0] -> x[4PE_X + index];
  [i0] -> y[i0]
};

send_y_compression := { [i0] -> index[i0' = i0] };

send_y := [PE_X, PE_Y] -> { [i0] : 0 <= PE_X <= 3 and 0 <= PE_Y <= 3 and 0 <= i0 <= 7 };

send_y_access := [PE_X, PE_Y] -> { [i0] -> y[i = 8PE_Y + i0] : 0 <= PE_X <= 3 and 0 <= PE_Y <= 3 and 0 <= i0 <= 7 };
