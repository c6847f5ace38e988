# What one invocation of each task runs (Sec. 5.1).
# T: [PE_X, PE_Y, index...] -> { instance }, eq. (12).
# T_known: the symbolic constants with which T is invoked, eq. (15).
# T_access: { instance -> element }, where an instance of a stream is the index of its element.

init_y := [PE_X, PE_Y] -> { y[i2, i3, i4] : 4*floor((1 + PE_X)/2) >= 4PE_X - i3 and -1 + 2PE_X + i4 <= 4*floor((1 + PE_X)/2) <= 2PE_X + i4 and 4*floor((1 + PE_X)/2) <= 3 + 4PE_X - i3 and -3 + i2 <= 4*floor((PE_Y)/2) <= i2 };

init_y_known := [PE_X, PE_Y] -> { : 0 <= PE_X <= 3 and 0 <= PE_Y <= 3 };

init_y_access := { y[i2, i3, i4] -> y[i2' = i2, i3' = i3, i4' = i4] };

on_x := [PE_X, PE_Y, index0, index1, index] -> { C[k, h, w = index1, c = 2PE_Y + index0 + index - h] : (index0 - h) mod 4 = 0 and 0 <= index0 <= 3 and 0 <= index1 <= 7 and 0 <= index <= 1 and h >= -3 + 2PE_Y + index0 + index and 0 <= h <= 7 and h <= 2PE_Y + index0 + index and 4*floor((PE_X)/2) >= 2PE_X - k and -3 + index1 <= 4*floor((PE_X)/2) <= index1 and 4*floor((PE_X)/2) <= 1 + 2PE_X - k };

on_x_known := [PE_X, PE_Y, index0, index1, index] -> { : 0 <= PE_X <= 3 and 0 <= PE_Y <= 3 and 0 <= index0 <= 3 and 0 <= index1 <= 7 and 0 <= index <= 1 };

on_x_access := {
  C[k, h, w, c] -> filter[c, k];
  C[k, h, w, c] -> x[h, w, c];
  C[k, h, w, c] -> y[h, w, k]
};

send_y_north := [PE_X, PE_Y] -> { index[3, o3, i2] : 0 <= PE_X <= 3 and 0 <= PE_Y <= 1 and 0 <= o3 <= 3 and 0 <= i2 <= 1 };

send_y_north_known := [PE_X, PE_Y] -> { : 0 <= PE_X <= 3 and 0 <= PE_Y <= 1 };

send_y_north_access := [PE_X, PE_Y] -> { index[i0, o3, i2] -> y[h = i0, w, k = 2PE_X + o3 + i2 - w] : (o3 - w) mod 4 = 0 and 0 <= PE_Y <= 1 and 0 <= i0 <= 3 and 0 <= o3 <= 3 and 0 <= i2 <= 1 and w >= -3 + 2PE_X + o3 + i2 and 0 <= w <= 7 and w <= 2PE_X + o3 + i2 };

send_y_south := [PE_X, PE_Y] -> { index[3, o3, i2] : 0 <= PE_X <= 3 and 2 <= PE_Y <= 3 and 0 <= o3 <= 3 and 0 <= i2 <= 1 };

send_y_south_known := [PE_X, PE_Y] -> { : 0 <= PE_X <= 3 and 2 <= PE_Y <= 3 };

send_y_south_access := [PE_X, PE_Y] -> { index[i0, o3, i2] -> y[h = 4 + i0, w, k = 2PE_X + o3 + i2 - w] : (o3 - w) mod 4 = 0 and 2 <= PE_Y <= 3 and 0 <= i0 <= 3 and 0 <= o3 <= 3 and 0 <= i2 <= 1 and w >= -3 + 2PE_X + o3 + i2 and 0 <= w <= 7 and w <= 2PE_X + o3 + i2 };

lead_y_north := [PE_X, PE_Y, index0, index1] -> { index[index0, o3, i2] : index1 = 7 and 0 <= PE_X <= 3 and 0 <= PE_Y <= 1 and 0 <= index0 <= 2 and 0 <= o3 <= 3 and 0 <= i2 <= 1 };

lead_y_north_known := [PE_X, PE_Y, index0, index1] -> { : 0 <= PE_X <= 3 and 0 <= PE_Y <= 1 and 0 <= index0 <= 3 and 0 <= index1 <= 7 };

lead_y_north_access := [PE_X, PE_Y] -> { index[i0, o3, i2] -> y[h = i0, w, k = 2PE_X + o3 + i2 - w] : (o3 - w) mod 4 = 0 and 0 <= PE_Y <= 1 and 0 <= i0 <= 3 and 0 <= o3 <= 3 and 0 <= i2 <= 1 and w >= -3 + 2PE_X + o3 + i2 and 0 <= w <= 7 and w <= 2PE_X + o3 + i2 };

lead_y_south := [PE_X, PE_Y, index0, index1] -> { index[index0, o3, i2] : index1 = 7 and 0 <= PE_X <= 3 and 2 <= PE_Y <= 3 and 0 <= index0 <= 2 and 0 <= o3 <= 3 and 0 <= i2 <= 1 };

lead_y_south_known := [PE_X, PE_Y, index0, index1] -> { : 0 <= PE_X <= 3 and 2 <= PE_Y <= 3 and 0 <= index0 <= 3 and 0 <= index1 <= 7 };

lead_y_south_access := [PE_X, PE_Y] -> { index[i0, o3, i2] -> y[h = 4 + i0, w, k = 2PE_X + o3 + i2 - w] : (o3 - w) mod 4 = 0 and 2 <= PE_Y <= 3 and 0 <= i0 <= 3 and 0 <= o3 <= 3 and 0 <= i2 <= 1 and w >= -3 + 2PE_X + o3 + i2 and 0 <= w <= 7 and w <= 2PE_X + o3 + i2 };
