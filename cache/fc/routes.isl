# Routes (Sec. 4.2), per colour: { [PE[x, y] -> from side[]] -> to side[] }.
# N_taken: which PE takes which element of arrival N; N_adapters: PEs that spread it;
# N_ports: where it enters; N_filter: the index from and up to which a router hands it to its PE.
# N_chain: PEs that sum departure N on its way out; N_first: those where it starts.

x_source := {
  [PE[0, -1] -> N[]] -> E[];
  [PE[0, -1] -> N[]] -> ramp[];
  [PE[i0, -1] -> W[]] -> E[] : 0 < i0 <= 2;
  [PE[i0, -1] -> W[]] -> ramp[] : 0 < i0 <= 3
};

x_adapters := { PE[x, y = -1] : 0 <= x <= 3 };

x := {
  [PE[i0, -1] -> ramp[]] -> S[] : 0 <= i0 <= 3;
  [PE[i0, i1] -> N[]] -> S[] : 0 <= i0 <= 3 and 0 <= i1 <= 2;
  [PE[i0, i1] -> N[]] -> ramp[] : 0 <= i0 <= 3 and 0 <= i1 <= 3
};

x_taken := { x[i0] -> PE[o0, o1] : 0 <= i0 <= 15 and -3 + i0 <= 4o0 <= i0 and 0 <= o1 <= 3 };

x_source_filter := { PE[o0, -1] -> [4o0, 3 + 4o0] : 0 <= o0 <= 3 };

x_ports := { PE[0, -2] };

y_even := {
  [PE[2, i1] -> W[]] -> ramp[] : 0 <= i1 <= 3;
  [PE[i0, i1] -> ramp[]] -> E[] : (1 + i0) mod 2 = 0 and 0 < i0 <= 3 and 0 <= i1 <= 3
};

y_odd := {
  [PE[i0, i1] -> W[]] -> ramp[] : (1 + i0) mod 2 = 0 and 0 < i0 <= 3 and 0 <= i1 <= 3;
  [PE[i0, i1] -> ramp[]] -> E[] : (i0) mod 2 = 0 and 0 <= i0 <= 2 and 0 <= i1 <= 3
};

y_chain := { PE[x, y] : 0 <= x <= 3 and 0 <= y <= 3 };

y_first := { PE[x = 0, y] : 0 <= y <= 3 };
