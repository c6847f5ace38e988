# Routes (Sec. 4.2), per colour: { [PE[x, y] -> from side[]] -> to side[] }.
# N_taken: which PE takes which element of arrival N; N_adapters: PEs that spread it;
# N_ports: where it enters; N_filter: the index from and up to which a router hands it to its PE.
# N_chain: PEs that sum departure N on its way out; N_first: those where it starts.

x := {
  [PE[i0, i1] -> W[]] -> E[] : 0 <= i0 <= 2 and 0 <= i1 <= 3;
  [PE[i0, i1] -> W[]] -> ramp[] : 0 <= i0 <= 3 and 0 <= i1 <= 3
};

x_taken := { x[i0, i1, i2] -> PE[o0, o1] : i0 <= 7 and i1 <= 7 and 0 <= i2 <= 3 and o0 >= 0 and o1 >= 0 and -i2 + 2o1 <= 4*floor((i0)/4) <= 1 - i2 + 2o1 and -1 + o0 <= 2*floor((i1)/4) <= o0 };

x_ports := { PE[x = -1, y] : 0 <= y <= 3 };

y_north_even := { [PE[i0, 0] -> ramp[]] -> N[] : 0 <= i0 <= 3 };

y_north_odd := {
  [PE[i0, 0] -> S[]] -> ramp[] : 0 <= i0 <= 3;
  [PE[i0, 1] -> ramp[]] -> N[] : 0 <= i0 <= 3
};

y_north_chain := { PE[x, y] : 0 <= x <= 3 and 0 <= y <= 1 };

y_north_first := { PE[x, y = 1] : 0 <= x <= 3 };

y_south_even := { [PE[i0, 3] -> ramp[]] -> S[] : 0 <= i0 <= 3 };

y_south_odd := {
  [PE[i0, 2] -> ramp[]] -> S[] : 0 <= i0 <= 3;
  [PE[i0, 3] -> N[]] -> ramp[] : 0 <= i0 <= 3
};

y_south_chain := { PE[x, y] : 0 <= x <= 3 and 2 <= y <= 3 };

y_south_first := { PE[x, y = 2] : 0 <= x <= 3 };
