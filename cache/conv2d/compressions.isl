# Variable compression of the instance set of each task T (Sec. 5.2).
# T_compression: { [i] -> instance }, eq. (18); T: { [i] }, eq. (19).
# T_access: { [i] -> element }, eq. (26).

init_y_compression := [PE_Y] -> { [i0, i1] -> y[i2 = PE_Y, i3 = i0, i4 = i1] };

init_y := [PE_X, PE_Y] -> { [i0, i1] : PE_X = 0 and 0 <= PE_Y <= 1 and 0 <= i0 <= 13 and 0 <= i1 <= 13 };

init_y_access := [PE_Y] -> { [i0, i1] -> y[i2 = PE_Y, i3 = i0, i4 = i1] };

on_x_compression := [PE_Y, index0, index] -> { [i0, i1] -> C[k = PE_Y, w = index0 - i0, h = index - i1, rw = i0, rh = i1] };

on_x := [PE_X, PE_Y, index0, index] -> { [i0, i1] : PE_X = 0 and 0 <= PE_Y <= 1 and i0 >= -13 + index0 and 0 <= i0 <= 2 and i0 <= index0 and i1 >= -13 + index and 0 <= i1 <= 2 and i1 <= index };

on_x_access := [PE_Y, index0, index] -> {
  [i0, i1] -> W[PE_Y, i0, i1];
  [i0, i1] -> x[index0, index];
  [i0, i1] -> y[PE_Y, index0 - i0, index - i1]
};

send_y_compression := { [i0] -> index[13, i1 = i0] };

send_y := [PE_X, PE_Y] -> { [i0] : PE_X = 0 and 0 <= PE_Y <= 1 and 0 <= i0 <= 13 };

send_y_access := [PE_X, PE_Y] -> { [i0] -> y[k = PE_Y, w = 13, h = i0] : PE_X = 0 and 0 <= PE_Y <= 1 and 0 <= i0 <= 13 };

lead_y_compression := [index0] -> { [i0] -> index[-2 + index0, i1 = i0] };

lead_y := [PE_X, PE_Y, index0] -> { [i0] : PE_X = 0 and 0 <= PE_Y <= 1 and 2 <= index0 <= 14 and 0 <= i0 <= 13 };

lead_y_access := [PE_X, PE_Y, index0] -> { [i0] -> y[k = PE_Y, w = -2 + index0, h = i0] : PE_X = 0 and 0 <= PE_Y <= 1 and 2 <= index0 <= 15 and 0 <= i0 <= 13 };
