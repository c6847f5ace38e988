# Routes (Sec. 4.2), per colour: { [PE[x, y] -> from side[]] -> to side[] }.
# N_taken: which PE takes which element of arrival N; N_adapters: PEs that spread it;
# N_ports: where it enters; N_filter: the index from and up to which a router hands it to its PE.
# N_chain: PEs that sum departure N on its way out; N_first: those where it starts.

x := {
  [PE[0, 0] -> N[]] -> S[];
  [PE[0, i1] -> N[]] -> ramp[] : 0 <= i1 <= 1
};

x_taken := { x[i0] -> PE[0, o1] : 0 <= i0 <= 15 and 0 <= o1 <= 1 };

x_ports := { PE[x = 0, y = -1] };

y_even := { [PE[0, i1] -> ramp[]] -> E[] : 0 <= i1 <= 1 };

y_odd := { [] -> [] : false };

y_chain := { PE[x = 0, y] : 0 <= y <= 1 };

y_first := { PE[x = 0, y] : 0 <= y <= 1 };
