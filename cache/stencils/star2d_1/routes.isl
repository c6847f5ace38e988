# Routes (Sec. 4.2), per colour: { [PE[x, y] -> from side[]] -> to side[] }.
# N_even: a colour from one PE of a chain, or a line, to the next; N_odd: the other one; N_east:
# what moves to the neighbour in the east in halo N, { element -> [PE -> neighbour] }; N_west: in
# the west; N_south: in the south; N_north: in the north.

u_halo_x_even := {
  [PE[0, y] -> ramp[]] -> E[] : 0 <= y <= 1;
  [PE[1, y] -> W[]] -> ramp[] : 0 <= y <= 1
};

u_halo_x_odd := {
  [PE[0, y] -> E[]] -> ramp[] : 0 <= y <= 1;
  [PE[1, y] -> ramp[]] -> W[] : 0 <= y <= 1
};

u_halo_y_even := {
  [PE[x, 0] -> ramp[]] -> S[] : 0 <= x <= 1;
  [PE[x, 1] -> N[]] -> ramp[] : 0 <= x <= 1
};

u_halo_y_odd := {
  [PE[x, 0] -> S[]] -> ramp[] : 0 <= x <= 1;
  [PE[x, 1] -> ramp[]] -> N[] : 0 <= x <= 1
};

u_halo_east := { u[i, 8] -> [PE[0, i//9] -> PE[1, i//9]] : 1 <= i <= 16 };

u_halo_west := { u[i, 9] -> [PE[1, i//9] -> PE[0, i//9]] : 1 <= i <= 16 };

u_halo_south := { u[8, j] -> [PE[j//9, 0] -> PE[j//9, 1]] : 1 <= j <= 16 };

u_halo_north := { u[9, j] -> [PE[j//9, 1] -> PE[j//9, 0]] : 1 <= j <= 16 };
