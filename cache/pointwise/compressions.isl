# Variable compression of the instance set of each task T (Sec. 5.2).
# T_compression: { [i] -> instance }, eq. (18); T: { [i] }, eq. (19).
# T_access: { [i] -> element }, eq. (26).

init_y_compression := { [i0, i1, i2] -> y[i2' = i0, i3 = i1, i4 = i2] };

init_y := [PE_X, PE_Y] -> { [i0, i1, i2] : 0 <= PE_X <= 3 and 0 <= PE_Y <= 3 and 4*floor((1 + PE_X)/2) >= 4PE_X - i1 and -1 + 2PE_X + i2 <= 4*floor((1 + PE_X)/2) <= 2PE_X + i2 and 4*floor((1 + PE_X)/2) <= 3 + 4PE_X - i1 and -3 + i0 <= 4*floor((PE_Y)/2) <= i0 };

init_y_access := { [i0, i1, i2] -> y[i2' = i0, i3 = i1, i4 = i2] };

on_x_compression := [PE_Y, index0, index1, index] -> { [i0] -> C[k = i0, h, w = index1, c = 2PE_Y + index0 + index - h] : (index0 - h) mod 4 = 0 and -2 + 2PE_Y + index0 <= h <= 2PE_Y + index0 };

on_x := [PE_X, PE_Y, index0, index1, index] -> { [i0] : 0 <= PE_Y <= 3 and 0 <= index0 <= 3 and 0 <= index1 <= 7 and 0 <= index <= 1 and 4*floor((PE_X)/2) >= 2PE_X - i0 and -3 + index1 <= 4*floor((PE_X)/2) <= index1 and 4*floor((PE_X)/2) <= 1 + 2PE_X - i0 };

on_x_access := [PE_Y, index0, index1, index] -> {
  [i0] -> filter[o0, i0] : (2PE_Y - index + o0) mod 4 = 0 and index <= o0 <= 2 + index;
  [i0] -> x[o0, index1, 2PE_Y + index0 + index - o0] : (index0 - o0) mod 4 = 0 and -2 + 2PE_Y + index0 <= o0 <= 2PE_Y + index0;
  [i0] -> y[o0, index1, i0] : (-index0 + o0) mod 4 = 0 and -2 + 2PE_Y + index0 <= o0 <= 2PE_Y + index0
};

send_y_north_compression := { [i0, i1] -> index[3, o3 = i0, i2 = i1] };

send_y_north := [PE_X, PE_Y] -> { [i0, i1] : 0 <= PE_X <= 3 and 0 <= PE_Y <= 1 and 0 <= i0 <= 3 and 0 <= i1 <= 1 };

send_y_north_access := [PE_X, PE_Y] -> { [i0, i1] -> y[h = 3, w, k = 2PE_X + i0 + i1 - w] : (i0 - w) mod 4 = 0 and 0 <= PE_Y <= 1 and 0 <= i0 <= 3 and 0 <= i1 <= 1 and w >= -3 + 2PE_X + i0 + i1 and 0 <= w <= 7 and w <= 2PE_X + i0 + i1 };

send_y_south_compression := { [i0, i1] -> index[3, o3 = i0, i2 = i1] };

send_y_south := [PE_X, PE_Y] -> { [i0, i1] : 0 <= PE_X <= 3 and 2 <= PE_Y <= 3 and 0 <= i0 <= 3 and 0 <= i1 <= 1 };

send_y_south_access := [PE_X, PE_Y] -> { [i0, i1] -> y[h = 7, w, k = 2PE_X + i0 + i1 - w] : (i0 - w) mod 4 = 0 and 2 <= PE_Y <= 3 and 0 <= i0 <= 3 and 0 <= i1 <= 1 and w >= -3 + 2PE_X + i0 + i1 and 0 <= w <= 7 and w <= 2PE_X + i0 + i1 };

lead_y_north_compression := [index0] -> { [i0, i1] -> index[index0, o3 = i0, i2 = i1] };

lead_y_north := [PE_X, PE_Y, index0, index1] -> { [i0, i1] : index1 = 7 and 0 <= PE_X <= 3 and 0 <= PE_Y <= 1 and 0 <= index0 <= 2 and 0 <= i0 <= 3 and 0 <= i1 <= 1 };

lead_y_north_access := [PE_X, PE_Y, index0] -> { [i0, i1] -> y[h = index0, w, k = 2PE_X + i0 + i1 - w] : (i0 - w) mod 4 = 0 and 0 <= PE_Y <= 1 and 0 <= index0 <= 3 and 0 <= i0 <= 3 and 0 <= i1 <= 1 and w >= -3 + 2PE_X + i0 + i1 and 0 <= w <= 7 and w <= 2PE_X + i0 + i1 };

lead_y_south_compression := [index0] -> { [i0, i1] -> index[index0, o3 = i0, i2 = i1] };

lead_y_south := [PE_X, PE_Y, index0, index1] -> { [i0, i1] : index1 = 7 and 0 <= PE_X <= 3 and 2 <= PE_Y <= 3 and 0 <= index0 <= 2 and 0 <= i0 <= 3 and 0 <= i1 <= 1 };

lead_y_south_access := [PE_X, PE_Y, index0] -> { [i0, i1] -> y[h = 4 + index0, w, k = 2PE_X + i0 + i1 - w] : (i0 - w) mod 4 = 0 and 2 <= PE_Y <= 3 and 0 <= index0 <= 3 and 0 <= i0 <= 3 and 0 <= i1 <= 1 and w >= -3 + 2PE_X + i0 + i1 and 0 <= w <= 7 and w <= 2PE_X + i0 + i1 };
