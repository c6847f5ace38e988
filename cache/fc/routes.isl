# Routes (Sec. 4.2), per colour: { [PE[x, y] -> from side[]] -> to side[] }.
# N_taken: which PE takes which element of arrival N; N_adapters: PEs that spread arrival N, or
# collect departure N; N_ports: where arrival N enters; N_filter: the index from and up to which a
# router hands it to its PE; N_chain: PEs that sum departure N, or collection N, on its way out;
# N_first: those where it starts; N_even: a colour from one PE of a chain, or a line, to the next;
# N_odd: the other one.

x_source := {
  [PE[0, -1] -> N[]] -> E[];
  [PE[0, -1] -> N[]] -> ramp[];
  [PE[x, -1] -> W[]] -> E[] : 1 <= x <= 2;
  [PE[x, -1] -> W[]] -> ramp[] : 1 <= x <= 3
};

x_adapters := { PE[x, -1] : 0 <= x <= 3 };

x := {
  [PE[x, -1] -> ramp[]] -> S[] : 0 <= x <= 3;
  [PE[x, y] -> N[]] -> S[] : 0 <= x <= 3 and 0 <= y <= 2;
  [PE[x, y] -> N[]] -> ramp[] : 0 <= x <= 3 and 0 <= y <= 3
};

x_taken := { x[i] -> PE[i//4, y] : 0 <= i <= 15 and 0 <= y <= 3 };

x_source_filter := { PE[x, -1] -> [4x, 3 + 4x] : 0 <= x <= 3 };

x_ports := { PE[0, -2] };

y_even := {
  [PE[2, y] -> W[]] -> ramp[] : 0 <= y <= 3;
  [PE[x, y] -> ramp[]] -> E[] : x mod 2 = 1 and 1 <= x <= 3 and 0 <= y <= 3
};

y_odd := {
  [PE[x, y] -> W[]] -> ramp[] : x mod 2 = 1 and 1 <= x <= 3 and 0 <= y <= 3;
  [PE[x, y] -> ramp[]] -> E[] : x mod 2 = 0 and 0 <= x <= 2 and 0 <= y <= 3
};

y_chain := { PE[x, y] : 0 <= x <= 3 and 0 <= y <= 3 };

y_first := { PE[0, y] : 0 <= y <= 3 };
