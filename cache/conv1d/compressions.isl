# Variable compression of the instance set of each task T (Sec. 5.2).
# T_compression: { [i] -> instance }, eq. (18); T: { [i] }, eq. (19).
# T_access: { [i] -> element }, eq. (26).

init_y_compression := [PE_Y] -> { [i0] -> y[i2 = PE_Y, i3 = i0] };

init_y := [PE_X, PE_Y] -> { [i0] : PE_X = 0 and 0 <= PE_Y <= 1 and 0 <= i0 <= 13 };

init_y_access := [PE_Y] -> { [i0] -> y[i2 = PE_Y, i3 = i0] };

on_x_compression := [PE_Y, index] -> { [i0] -> C[k = PE_Y, w = index - i0, rw = i0] };

on_x := [PE_X, PE_Y, index] -> { [i0] : PE_X = 0 and 0 <= PE_Y <= 1 and i0 >= -13 + index and 0 <= i0 <= 2 and i0 <= index };

on_x_access := [PE_Y, index] -> {
  [i0] -> W[PE_Y, i0];
  [i0] -> x[index];
  [i0] -> y[PE_Y, index - i0]
};

send_y_compression := { [i0] -> index[i0' = i0] };

send_y := [PE_X, PE_Y] -> { [i0] : PE_X = 0 and 0 <= PE_Y <= 1 and 0 <= i0 <= 13 };

send_y_access := [PE_X, PE_Y] -> { [i0] -> y[k = PE_Y, w = i0] : PE_X = 0 and 0 <= PE_Y <= 1 and 0 <= i0 <= 13 };
