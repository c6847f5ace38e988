# Variable compression of the instance set of each task T (Sec. 5.2).
# T_compression: { [i] -> instance }, eq. (18); T: { [i] }, eq. (19).
# T_access: { [i] -> element }, eq. (26).

context := [PE_X, PE_Y] -> { : 0 <= PE_X <= 3 and 0 <= PE_Y <= 1 };

context2 := [PE_X, PE_Y] -> { : 0 <= PE_X <= 3 and 2 <= PE_Y <= 3 };

init_y_compression := { [i, j, k] -> y[i, j, k] };

init_y := [PE_X, PE_Y] -> { [i, j, k] : 0 <= PE_X <= 3 and 0 <= PE_Y <= 3 and 4*(PE_Y//2) <= i <= 3 + 4*(PE_Y//2) and 4*(PE_X//2) <= j <= 3 + 4*(PE_X//2) and 2*(PE_X mod 2) <= k <= 1 + 2*(PE_X mod 2) };

init_y_access := { [i, j, k] -> y[i, j, k] };

on_x_compression := [PE_Y, index0, index1, index] -> { [i] -> C[i, index0 + 4*(PE_Y//2), index1, index + 2*(PE_Y mod 2)] };

on_x := [PE_X, PE_Y, index0, index1, index] -> { [i] : 0 <= PE_X <= 3 and 0 <= PE_Y <= 3 and 0 <= index0 <= 3 and 4*(PE_X//2) <= index1 <= 3 + 4*(PE_X//2) and 0 <= index <= 1 and 2*(PE_X mod 2) <= i <= 1 + 2*(PE_X mod 2) };

on_x_access := [PE_Y, index0, index1, index] -> {
  [i] -> filter[index + 2*(PE_Y mod 2), i];
  [i] -> x[index0 + 4*(PE_Y//2), index1, index + 2*(PE_Y mod 2)];
  [i] -> y[index0 + 4*(PE_Y//2), index1, i]
};

send_y_north_compression := { [i, j] -> index[3, i, j] };

send_y_north := { [i, j] : 0 <= i <= 3 and 0 <= j <= 1 } * context;

send_y_north_access := [PE_X] -> { [i, j] -> y[3, i + 4*(PE_X//2), j + 2*(PE_X mod 2)] : 0 <= i <= 3 and 0 <= j <= 1 } * context;

send_y_south_compression := { [i, j] -> index[3, i, j] };

send_y_south := { [i, j] : 0 <= i <= 3 and 0 <= j <= 1 } * context2;

send_y_south_access := [PE_X] -> { [i, j] -> y[7, i + 4*(PE_X//2), j + 2*(PE_X mod 2)] : 0 <= i <= 3 and 0 <= j <= 1 } * context2;

early_send_y_north_compression := [index0] -> { [i, j] -> index[index0, i, j] };

early_send_y_north := [index0, index1] -> { [i, j] : 0 <= index0 <= 2 and index1 = 7 and 0 <= i <= 3 and 0 <= j <= 1 } * context;

early_send_y_north_access := [PE_X, index0] -> { [i, j] -> y[index0, i + 4*(PE_X//2), j + 2*(PE_X mod 2)] : 0 <= index0 <= 3 and 0 <= i <= 3 and 0 <= j <= 1 } * context;

early_send_y_south_compression := [index0] -> { [i, j] -> index[index0, i, j] };

early_send_y_south := [index0, index1] -> { [i, j] : 0 <= index0 <= 2 and index1 = 7 and 0 <= i <= 3 and 0 <= j <= 1 } * context2;

early_send_y_south_access := [PE_X, index0] -> { [i, j] -> y[4 + index0, i + 4*(PE_X//2), j + 2*(PE_X mod 2)] : 0 <= index0 <= 3 and 0 <= i <= 3 and 0 <= j <= 1 } * context2;
