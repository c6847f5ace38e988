# Variable compression of the instance set of each task T (Sec. 5.2).
# T_compression: { [i] -> instance }, eq. (18); T: { [i] }, eq. (19).
# T_access: { [i] -> element }, eq. (26).

context := [PE_X, PE_Y] -> { : 0 <= PE_X <= 3 and 0 <= PE_Y <= 3 };

init_y_compression := { [i] -> y[i] };

init_y := [PE_Y] -> { [i] : 8PE_Y <= i <= 7 + 8PE_Y } * context;

init_y_access := { [i] -> y[i] };

relay_x_compression := [PE_X, index] -> { [] -> index[index - 4PE_X] };

relay_x := [PE_X, PE_Y, index] -> { [] : 0 <= PE_X <= 3 and PE_Y = -1 and 4PE_X <= index <= 3 + 4PE_X };

on_x_compression := [PE_X, index] -> { [i] -> ff[i, 4PE_X + index] };

on_x := [PE_Y, index] -> { [i] : 0 <= index <= 3 and 8PE_Y <= i <= 7 + 8PE_Y } * context;

on_x_access := [PE_X, index] -> {
  [i] -> W[i, 4PE_X + index];
  [i] -> x[4PE_X + index];
  [i] -> y[i]
};

send_y_compression := { [i] -> index[i] };

send_y := { [i] : 0 <= i <= 7 } * context;

send_y_access := [PE_Y] -> { [i] -> y[8PE_Y + i] : 0 <= i <= 7 } * context;
