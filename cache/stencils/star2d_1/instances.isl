# What one invocation of each task runs (Sec. 5.1).
# T: [PE_X, PE_Y, index...] -> { instance }, eq. (12).
# T_known: the symbolic constants with which T is invoked, eq. (15).
# T_access: { instance -> element }, where an instance of a stream is the index of its element.

context := [PE_X, PE_Y] -> { : 0 <= PE_X <= 1 and 0 <= PE_Y <= 1 };

context2 := [PE_X, PE_Y] -> { : PE_X = 0 and 0 <= PE_Y <= 1 };

context3 := [PE_X, PE_Y] -> { : PE_X = 1 and 0 <= PE_Y <= 1 };

context4 := [PE_X, PE_Y] -> { : 0 <= PE_X <= 1 and PE_Y = 0 };

context5 := [PE_X, PE_Y] -> { : 0 <= PE_X <= 1 and PE_Y = 1 };

init_un := [PE_X, PE_Y] -> { un[i, j] : 0 <= PE_X <= 1 and 8PE_Y <= i <= 9 + 8PE_Y and 9PE_Y <= i <= 8 + 9PE_Y and 9PE_X <= j <= 8 + 9PE_X };

init_un_known := { : } * context;

init_un_access := { un[i, j] -> un[i, j] };

compute_star := [PE_X, PE_Y] -> { star[i, j] : 1 <= i <= 16 and 9PE_Y <= i <= 8 + 9PE_Y and 1 <= j <= 16 and 9PE_X <= j <= 8 + 9PE_X } * context;

compute_star_known := { : } * context;

compute_star_access := {
  star[i, j] -> u[i - 1, j];
  star[i, j] -> u_2[1 + i, j];
  star[i, j] -> u_3[i, j - 1];
  star[i, j] -> u_4[i, 1 + j];
  star[i, j] -> un[i, j]
};

send_u_halo_east := [PE_Y] -> { index[i, 8] : 1 <= i <= 16 and 9PE_Y <= i <= 8 + 9PE_Y } * context2;

send_u_halo_east_known := { : } * context2;

send_u_halo_east_access := { index[i, j] -> u[i, j] };

receive_u_halo_east := [PE_Y] -> { index[i, 8] : 1 <= i <= 16 and 9PE_Y <= i <= 8 + 9PE_Y } * context3;

receive_u_halo_east_known := { : } * context3;

receive_u_halo_east_access := { index[i, j] -> u[i, j] };

send_u_halo_west := [PE_Y] -> { index[i, 9] : 1 <= i <= 16 and 9PE_Y <= i <= 8 + 9PE_Y } * context3;

send_u_halo_west_known := { : } * context3;

send_u_halo_west_access := { index[i, j] -> u[i, j] };

receive_u_halo_west := [PE_Y] -> { index[i, 9] : 1 <= i <= 16 and 9PE_Y <= i <= 8 + 9PE_Y } * context2;

receive_u_halo_west_known := { : } * context2;

receive_u_halo_west_access := { index[i, j] -> u[i, j] };

send_u_halo_south := [PE_X] -> { index[8, j] : 1 <= j <= 16 and 9PE_X <= j <= 8 + 9PE_X } * context4;

send_u_halo_south_known := { : } * context4;

send_u_halo_south_access := { index[i, j] -> u[i, j] };

receive_u_halo_south := [PE_X] -> { index[8, j] : 1 <= j <= 16 and 9PE_X <= j <= 8 + 9PE_X } * context5;

receive_u_halo_south_known := { : } * context5;

receive_u_halo_south_access := { index[i, j] -> u[i, j] };

send_u_halo_north := [PE_X] -> { index[9, j] : 1 <= j <= 16 and 9PE_X <= j <= 8 + 9PE_X } * context5;

send_u_halo_north_known := { : } * context5;

send_u_halo_north_access := { index[i, j] -> u[i, j] };

receive_u_halo_north := [PE_X] -> { index[9, j] : 1 <= j <= 16 and 9PE_X <= j <= 8 + 9PE_X } * context4;

receive_u_halo_north_known := { : } * context4;

receive_u_halo_north_access := { index[i, j] -> u[i, j] };
