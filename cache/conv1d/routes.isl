# Routes (Sec. 4.2), per colour: { [PE[x, y] -> from side[]] -> to side[] }.
# N_taken: which PE takes which element of arrival N; N_ports: where arrival N enters; N_chain: PEs
# that sum departure N, or collection N, on its way out; N_first: those where it starts; N_even: a
# colour from one PE of a chain, or a line, to the next; N_odd: the other one.

x := {
  [PE[0, 0] -> N[]] -> S[];
  [PE[0, y] -> N[]] -> ramp[] : 0 <= y <= 1
};

x_taken := { x[i] -> PE[0, y] : 0 <= i <= 15 and 0 <= y <= 1 };

x_ports := { PE[0, -1] };

y_even := { [PE[0, y] -> ramp[]] -> E[] : 0 <= y <= 1 };

y_odd := { [] -> [] : false };

y_chain := { PE[0, y] : 0 <= y <= 1 };

y_first := { PE[0, y] : 0 <= y <= 1 };
