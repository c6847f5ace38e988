# Routes (Sec. 4.2), per colour: { [PE[x, y] -> from side[]] -> to side[] }.
# N_taken: which PE takes which element of arrival N; N_ports: where arrival N enters; N_chain: PEs
# that sum departure N, or collection N, on its way out; N_first: those where it starts; N_even: a
# colour from one PE of a chain, or a line, to the next; N_odd: the other one.

x := {
  [PE[x, y] -> W[]] -> E[] : 0 <= x <= 2 and 0 <= y <= 3;
  [PE[x, y] -> W[]] -> ramp[] : 0 <= x <= 3 and 0 <= y <= 3
};

x_taken := { x[i, j, k] -> PE[x, 2*(i//4) + k//2] : 0 <= i <= 7 and 0 <= j <= 7 and 0 <= k <= 3 and 2*(j//4) <= x <= 1 + 2*(j//4) };

x_ports := { PE[-1, y] : 0 <= y <= 3 };

y_north_even := { [PE[x, 0] -> ramp[]] -> N[] : 0 <= x <= 3 };

y_north_odd := {
  [PE[x, 0] -> S[]] -> ramp[] : 0 <= x <= 3;
  [PE[x, 1] -> ramp[]] -> N[] : 0 <= x <= 3
};

y_north_chain := { PE[x, y] : 0 <= x <= 3 and 0 <= y <= 1 };

y_north_first := { PE[x, 1] : 0 <= x <= 3 };

y_south_even := { [PE[x, 3] -> ramp[]] -> S[] : 0 <= x <= 3 };

y_south_odd := {
  [PE[x, 2] -> ramp[]] -> S[] : 0 <= x <= 3;
  [PE[x, 3] -> N[]] -> ramp[] : 0 <= x <= 3
};

y_south_chain := { PE[x, y] : 0 <= x <= 3 and 2 <= y <= 3 };

y_south_first := { PE[x, 2] : 0 <= x <= 3 };
