# Variable compression of the instance set of each task T (Sec. 5.2).
# T_compression: { [i] -> instance }, eq. (18); T: { [i] }, eq. (19).
# T_access: { [i] -> element }, eq. (26).

init_un_compression := { [i, j] -> un[i, j] };

init_un := [PE_X, PE_Y] -> { [i, j] : 0 <= PE_X <= 1 and 0 <= PE_Y <= 1 and 9PE_Y <= i <= 8 + 9PE_Y and 9PE_X <= j <= 8 + 9PE_X };

init_un_access := { [i, j] -> un[i, j] };

compute_star_compression := { [i, j] -> star[i, j] };

compute_star := [PE_X, PE_Y] -> { [i, j] : 1 <= i <= 16 and 9PE_Y <= i <= 8 + 9PE_Y and 1 <= j <= 16 and 9PE_X <= j <= 8 + 9PE_X };

compute_star_access := {
  [i, j] -> u[i - 1, j];
  [i, j] -> u_2[1 + i, j];
  [i, j] -> u_3[i, j - 1];
  [i, j] -> u_4[i, 1 + j];
  [i, j] -> un[i, j]
};

send_u_halo_east_compression := { [i] -> index[i, 8] };

send_u_halo_east := [PE_X, PE_Y] -> { [i] : PE_X = 0 and 1 <= i <= 16 and 9PE_Y <= i <= 8 + 9PE_Y };

send_u_halo_east_access := { [i] -> u[i, 8] };

receive_u_halo_east_compression := { [i] -> index[i, 8] };

receive_u_halo_east := [PE_X, PE_Y] -> { [i] : PE_X = 1 and 1 <= i <= 16 and 9PE_Y <= i <= 8 + 9PE_Y };

receive_u_halo_east_access := { [i] -> u[i, 8] };

send_u_halo_west_compression := { [i] -> index[i, 9] };

send_u_halo_west := [PE_X, PE_Y] -> { [i] : PE_X = 1 and 1 <= i <= 16 and 9PE_Y <= i <= 8 + 9PE_Y };

send_u_halo_west_access := { [i] -> u[i, 9] };

receive_u_halo_west_compression := { [i] -> index[i, 9] };

receive_u_halo_west := [PE_X, PE_Y] -> { [i] : PE_X = 0 and 1 <= i <= 16 and 9PE_Y <= i <= 8 + 9PE_Y };

receive_u_halo_west_access := { [i] -> u[i, 9] };

send_u_halo_south_compression := { [i] -> index[8, i] };

send_u_halo_south := [PE_X, PE_Y] -> { [i] : PE_Y = 0 and 1 <= i <= 16 and 9PE_X <= i <= 8 + 9PE_X };

send_u_halo_south_access := { [i] -> u[8, i] };

receive_u_halo_south_compression := { [i] -> index[8, i] };

receive_u_halo_south := [PE_X, PE_Y] -> { [i] : PE_Y = 1 and 1 <= i <= 16 and 9PE_X <= i <= 8 + 9PE_X };

receive_u_halo_south_access := { [i] -> u[8, i] };

send_u_halo_north_compression := { [i] -> index[9, i] };

send_u_halo_north := [PE_X, PE_Y] -> { [i] : PE_Y = 1 and 1 <= i <= 16 and 9PE_X <= i <= 8 + 9PE_X };

send_u_halo_north_access := { [i] -> u[9, i] };

receive_u_halo_north_compression := { [i] -> index[9, i] };

receive_u_halo_north := [PE_X, PE_Y] -> { [i] : PE_Y = 0 and 1 <= i <= 16 and 9PE_X <= i <= 8 + 9PE_X };

receive_u_halo_north_access := { [i] -> u[9, i] };
