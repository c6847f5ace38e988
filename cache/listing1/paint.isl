# The virtual machine: which PE runs which program, and where routers send what they hear.
# x grows to the east, y to the south. A colour has a statement for each position of its switches,
# all of which a PE has, in a ring, but where it says: counts, how many of them a PE has; ring, 0 if
# the first one does not follow the last; pop, 1 if a router pops the command that it obeys.

# Roles

role_worker := {
  PE[x, y] : 0 <= x <= 5 and 0 <= y <= 2;
  PE[x, y] : 0 <= x <= 5 and 6 <= y <= 8
};

role_reduction := {
  PE[x, 3] : 0 <= x <= 5;
  PE[x, 5] : 0 <= x <= 5
};

role_response := {
  PE[1, 4];
  PE[4, 4]
};

role_executive := { PE[3, 4] };

role_merge := { PE[2, 4] };

# ctrl_coord: the number of a section, from the executive to the response PEs

ctrl_coord_0 := {
  [PE[2, 4] -> E[]] -> W[];
  [PE[1, 4] -> E[]] -> ramp[];
  [PE[4, 4] -> W[]] -> ramp[];
  [PE[3, 4] -> ramp[]] -> E[];
  [PE[3, 4] -> ramp[]] -> W[]
};

# args_dist: arguments, from the response PEs to the merge PE

args_dist_0 := {
  [PE[3, 4] -> E[]] -> W[];
  [PE[2, 4] -> E[]] -> ramp[];
  [PE[1, 4] -> ramp[]] -> E[];
  [PE[4, 4] -> ramp[]] -> W[]
};

args_dist_1 := { [PE[2, 4] -> W[]] -> ramp[] };

args_dist_counts := {
  PE[1, 4] -> [1];
  PE[x, 4] -> [1] : 3 <= x <= 4
};

args_dist_ring := {
  PE[1, 4] -> [0];
  PE[4, 4] -> [0]
};

args_dist_pop := {
  PE[1, 4] -> [1];
  PE[4, 4] -> [1]
};

# ctrl_dist: procedures, from the response PEs to the merge PE

ctrl_dist_0 := {
  [PE[3, 4] -> E[]] -> W[];
  [PE[2, 4] -> E[]] -> ramp[];
  [PE[1, 4] -> ramp[]] -> E[];
  [PE[4, 4] -> ramp[]] -> W[]
};

ctrl_dist_1 := { [PE[2, 4] -> W[]] -> ramp[] };

ctrl_dist_counts := {
  PE[1, 4] -> [1];
  PE[x, 4] -> [1] : 3 <= x <= 4
};

ctrl_dist_ring := {
  PE[1, 4] -> [0];
  PE[4, 4] -> [0]
};

ctrl_dist_pop := {
  PE[1, 4] -> [1];
  PE[4, 4] -> [1]
};

# args: arguments, from the merge PE to all workers and reduction PEs

args_0 := {
  [PE[x, 4] -> E[]] -> N[] : 0 <= x <= 1;
  [PE[x, 4] -> E[]] -> S[] : 0 <= x <= 1;
  [PE[1, 4] -> E[]] -> W[];
  [PE[x, y] -> N[]] -> S[] : 0 <= x <= 5 and 5 <= y <= 7;
  [PE[x, y] -> N[]] -> ramp[] : 0 <= x <= 5 and 5 <= y <= 8;
  [PE[x, y] -> S[]] -> N[] : 0 <= x <= 5 and 1 <= y <= 3;
  [PE[x, y] -> S[]] -> ramp[] : 0 <= x <= 5 and 0 <= y <= 3;
  [PE[x, 4] -> W[]] -> E[] : 3 <= x <= 4;
  [PE[x, 4] -> W[]] -> N[] : 3 <= x <= 5;
  [PE[x, 4] -> W[]] -> S[] : 3 <= x <= 5;
  [PE[2, 4] -> ramp[]] -> E[];
  [PE[2, 4] -> ramp[]] -> N[];
  [PE[2, 4] -> ramp[]] -> S[];
  [PE[2, 4] -> ramp[]] -> W[]
};

# ctrl: procedures, from the merge PE to all workers and reduction PEs

ctrl_0 := {
  [PE[x, 4] -> E[]] -> N[] : 0 <= x <= 1;
  [PE[x, 4] -> E[]] -> S[] : 0 <= x <= 1;
  [PE[1, 4] -> E[]] -> W[];
  [PE[x, y] -> N[]] -> S[] : 0 <= x <= 5 and 5 <= y <= 7;
  [PE[x, y] -> N[]] -> ramp[] : 0 <= x <= 5 and 5 <= y <= 8;
  [PE[x, y] -> S[]] -> N[] : 0 <= x <= 5 and 1 <= y <= 3;
  [PE[x, y] -> S[]] -> ramp[] : 0 <= x <= 5 and 0 <= y <= 3;
  [PE[x, 4] -> W[]] -> E[] : 3 <= x <= 4;
  [PE[x, 4] -> W[]] -> N[] : 3 <= x <= 5;
  [PE[x, 4] -> W[]] -> S[] : 3 <= x <= 5;
  [PE[2, 4] -> ramp[]] -> E[];
  [PE[2, 4] -> ramp[]] -> N[];
  [PE[2, 4] -> ramp[]] -> S[];
  [PE[2, 4] -> ramp[]] -> W[]
};

# C0: between neighbours, from odd workers to even ones

C0_0 := {
  [PE[0, 0] -> E[]] -> ramp[];
  [PE[0, 2] -> E[]] -> ramp[];
  [PE[0, 7] -> E[]] -> ramp[];
  [PE[x, y] -> N[]] -> S[] : x mod 2 = 1 and 1 <= x <= 5 and 3 <= y <= 5;
  [PE[x, y] -> S[]] -> N[] : x mod 2 = 0 and 0 <= x <= 4 and 3 <= y <= 5;
  [PE[x, y] -> W[]] -> ramp[] : (x + y) mod 2 = 0 and 1 <= x <= 5 and 0 <= y <= 2;
  [PE[x, y] -> W[]] -> ramp[] : (x + y) mod 2 = 1 and 1 <= x <= 5 and 6 <= y <= 8;
  [PE[x, y] -> ramp[]] -> E[] : (x + y) mod 2 = 1 and 0 <= x <= 4 and 0 <= y <= 2;
  [PE[x, y] -> ramp[]] -> E[] : (x + y) mod 2 = 0 and 0 <= x <= 4 and 6 <= y <= 8;
  [PE[5, 0] -> ramp[]] -> W[];
  [PE[5, 2] -> ramp[]] -> W[];
  [PE[5, 7] -> ramp[]] -> W[]
};

C0_1 := {
  [PE[x, y] -> E[]] -> ramp[] : (x + y) mod 2 = 0 and 1 <= x <= 4 and 0 <= y <= 2;
  [PE[x, y] -> E[]] -> ramp[] : (x + y) mod 2 = 1 and 1 <= x <= 4 and 6 <= y <= 8;
  [PE[5, 1] -> N[]] -> ramp[];
  [PE[0, 2] -> N[]] -> ramp[];
  [PE[5, 6] -> N[]] -> ramp[];
  [PE[0, 7] -> N[]] -> ramp[];
  [PE[5, 8] -> N[]] -> ramp[];
  [PE[0, 0] -> S[]] -> ramp[];
  [PE[0, 8] -> ramp[]] -> N[];
  [PE[5, 0] -> ramp[]] -> S[];
  [PE[0, 1] -> ramp[]] -> S[];
  [PE[5, 2] -> ramp[]] -> S[];
  [PE[0, 6] -> ramp[]] -> S[];
  [PE[5, 7] -> ramp[]] -> S[];
  [PE[x, y] -> ramp[]] -> W[] : (x + y) mod 2 = 1 and 1 <= x <= 4 and 0 <= y <= 2;
  [PE[x, y] -> ramp[]] -> W[] : (x + y) mod 2 = 0 and 1 <= x <= 4 and 6 <= y <= 8
};

C0_2 := {
  [PE[x, y] -> N[]] -> ramp[] : (x + y) mod 2 = 0 and 1 <= x <= 4 and 1 <= y <= 2;
  [PE[x, y] -> N[]] -> ramp[] : (x + y) mod 2 = 1 and 1 <= x <= 4 and 6 <= y <= 8;
  [PE[x, 0] -> S[]] -> ramp[] : x mod 2 = 0 and 2 <= x <= 4;
  [PE[5, 1] -> S[]] -> ramp[];
  [PE[0, 2] -> S[]] -> ramp[];
  [PE[5, 6] -> S[]] -> ramp[];
  [PE[0, 7] -> S[]] -> ramp[];
  [PE[0, 1] -> ramp[]] -> N[];
  [PE[5, 2] -> ramp[]] -> N[];
  [PE[0, 6] -> ramp[]] -> N[];
  [PE[5, 7] -> ramp[]] -> N[];
  [PE[x, 8] -> ramp[]] -> N[] : x mod 2 = 0 and 2 <= x <= 4;
  [PE[x, y] -> ramp[]] -> S[] : (x + y) mod 2 = 1 and 1 <= x <= 4 and 0 <= y <= 2;
  [PE[x, y] -> ramp[]] -> S[] : (x + y) mod 2 = 0 and 1 <= x <= 4 and 6 <= y <= 7
};

C0_3 := {
  [PE[x, y] -> S[]] -> ramp[] : (x + y) mod 2 = 0 and 1 <= x <= 4 and 1 <= y <= 2;
  [PE[x, y] -> S[]] -> ramp[] : (x + y) mod 2 = 1 and 1 <= x <= 4 and 6 <= y <= 7;
  [PE[x, y] -> ramp[]] -> N[] : (x + y) mod 2 = 1 and 1 <= x <= 4 and 1 <= y <= 2;
  [PE[x, y] -> ramp[]] -> N[] : (x + y) mod 2 = 0 and 1 <= x <= 4 and 6 <= y <= 7
};

C0_counts := {
  PE[x, y] -> [1] : 0 <= x <= 5 and 3 <= y <= 5;
  PE[0, 0] -> [2];
  PE[5, 0] -> [2];
  PE[0, 8] -> [2];
  PE[5, 8] -> [2];
  PE[x, 0] -> [3] : 1 <= x <= 4;
  PE[0, y] -> [3] : 1 <= y <= 2;
  PE[5, y] -> [3] : 1 <= y <= 2;
  PE[0, y] -> [3] : 6 <= y <= 7;
  PE[5, y] -> [3] : 6 <= y <= 7;
  PE[x, 8] -> [3] : 1 <= x <= 4
};

# C1: between neighbours, from even workers to odd ones

C1_0 := {
  [PE[0, 1] -> E[]] -> ramp[];
  [PE[0, 6] -> E[]] -> ramp[];
  [PE[0, 8] -> E[]] -> ramp[];
  [PE[x, y] -> N[]] -> S[] : x mod 2 = 0 and 0 <= x <= 4 and 3 <= y <= 5;
  [PE[x, y] -> S[]] -> N[] : x mod 2 = 1 and 1 <= x <= 5 and 3 <= y <= 5;
  [PE[x, y] -> W[]] -> ramp[] : (x + y) mod 2 = 1 and 1 <= x <= 5 and 0 <= y <= 2;
  [PE[x, y] -> W[]] -> ramp[] : (x + y) mod 2 = 0 and 1 <= x <= 5 and 6 <= y <= 8;
  [PE[x, y] -> ramp[]] -> E[] : (x + y) mod 2 = 0 and 0 <= x <= 4 and 0 <= y <= 2;
  [PE[x, y] -> ramp[]] -> E[] : (x + y) mod 2 = 1 and 0 <= x <= 4 and 6 <= y <= 8;
  [PE[5, 1] -> ramp[]] -> W[];
  [PE[5, 6] -> ramp[]] -> W[];
  [PE[5, 8] -> ramp[]] -> W[]
};

C1_1 := {
  [PE[x, y] -> E[]] -> ramp[] : (x + y) mod 2 = 1 and 1 <= x <= 4 and 0 <= y <= 2;
  [PE[x, y] -> E[]] -> ramp[] : (x + y) mod 2 = 0 and 1 <= x <= 4 and 6 <= y <= 8;
  [PE[0, 1] -> N[]] -> ramp[];
  [PE[5, 2] -> N[]] -> ramp[];
  [PE[0, 6] -> N[]] -> ramp[];
  [PE[5, 7] -> N[]] -> ramp[];
  [PE[0, 8] -> N[]] -> ramp[];
  [PE[5, 0] -> S[]] -> ramp[];
  [PE[5, 8] -> ramp[]] -> N[];
  [PE[0, 0] -> ramp[]] -> S[];
  [PE[5, 1] -> ramp[]] -> S[];
  [PE[0, 2] -> ramp[]] -> S[];
  [PE[5, 6] -> ramp[]] -> S[];
  [PE[0, 7] -> ramp[]] -> S[];
  [PE[x, y] -> ramp[]] -> W[] : (x + y) mod 2 = 0 and 1 <= x <= 4 and 0 <= y <= 2;
  [PE[x, y] -> ramp[]] -> W[] : (x + y) mod 2 = 1 and 1 <= x <= 4 and 6 <= y <= 8
};

C1_2 := {
  [PE[x, y] -> N[]] -> ramp[] : (x + y) mod 2 = 1 and 1 <= x <= 4 and 1 <= y <= 2;
  [PE[x, y] -> N[]] -> ramp[] : (x + y) mod 2 = 0 and 1 <= x <= 4 and 6 <= y <= 8;
  [PE[x, 0] -> S[]] -> ramp[] : x mod 2 = 1 and 1 <= x <= 3;
  [PE[0, 1] -> S[]] -> ramp[];
  [PE[5, 2] -> S[]] -> ramp[];
  [PE[0, 6] -> S[]] -> ramp[];
  [PE[5, 7] -> S[]] -> ramp[];
  [PE[5, 1] -> ramp[]] -> N[];
  [PE[0, 2] -> ramp[]] -> N[];
  [PE[5, 6] -> ramp[]] -> N[];
  [PE[0, 7] -> ramp[]] -> N[];
  [PE[x, 8] -> ramp[]] -> N[] : x mod 2 = 1 and 1 <= x <= 3;
  [PE[x, y] -> ramp[]] -> S[] : (x + y) mod 2 = 0 and 1 <= x <= 4 and 0 <= y <= 2;
  [PE[x, y] -> ramp[]] -> S[] : (x + y) mod 2 = 1 and 1 <= x <= 4 and 6 <= y <= 7
};

C1_3 := {
  [PE[x, y] -> S[]] -> ramp[] : (x + y) mod 2 = 1 and 1 <= x <= 4 and 1 <= y <= 2;
  [PE[x, y] -> S[]] -> ramp[] : (x + y) mod 2 = 0 and 1 <= x <= 4 and 6 <= y <= 7;
  [PE[x, y] -> ramp[]] -> N[] : (x + y) mod 2 = 0 and 1 <= x <= 4 and 1 <= y <= 2;
  [PE[x, y] -> ramp[]] -> N[] : (x + y) mod 2 = 1 and 1 <= x <= 4 and 6 <= y <= 7
};

C1_counts := {
  PE[x, y] -> [1] : 0 <= x <= 5 and 3 <= y <= 5;
  PE[0, 0] -> [2];
  PE[5, 0] -> [2];
  PE[0, 8] -> [2];
  PE[5, 8] -> [2];
  PE[x, 0] -> [3] : 1 <= x <= 4;
  PE[0, y] -> [3] : 1 <= y <= 2;
  PE[5, y] -> [3] : 1 <= y <= 2;
  PE[0, y] -> [3] : 6 <= y <= 7;
  PE[5, y] -> [3] : 6 <= y <= 7;
  PE[x, 8] -> [3] : 1 <= x <= 4
};

# reduction_1: sums, along columns to the strips

reduction_1_0 := {
  [PE[x, 3] -> N[]] -> ramp[] : 0 <= x <= 5;
  [PE[x, 5] -> S[]] -> ramp[] : 0 <= x <= 5;
  [PE[x, y] -> ramp[]] -> N[] : 0 <= x <= 5 and 6 <= y <= 8;
  [PE[x, y] -> ramp[]] -> S[] : 0 <= x <= 5 and 0 <= y <= 2
};

reduction_1_1 := {
  [PE[x, y] -> N[]] -> S[] : 0 <= x <= 5 and 1 <= y <= 2;
  [PE[x, y] -> S[]] -> N[] : 0 <= x <= 5 and 6 <= y <= 7
};

reduction_1_counts := {
  PE[x, 0] -> [1] : 0 <= x <= 5;
  PE[x, 3] -> [1] : 0 <= x <= 5;
  PE[x, 5] -> [1] : 0 <= x <= 5;
  PE[x, 8] -> [1] : 0 <= x <= 5
};

reduction_1_ring := {
  PE[x, y] -> [0] : 0 <= x <= 5 and 0 <= y <= 2;
  PE[x, y] -> [0] : 0 <= x <= 5 and 6 <= y <= 8
};

# reduction_2: sums, along strips to the inner PEs

reduction_2_0 := {
  [PE[3, 3] -> E[]] -> ramp[];
  [PE[3, 5] -> E[]] -> ramp[];
  [PE[2, 3] -> W[]] -> ramp[];
  [PE[2, 5] -> W[]] -> ramp[];
  [PE[x, 3] -> ramp[]] -> E[] : 0 <= x <= 1;
  [PE[x, 5] -> ramp[]] -> E[] : 0 <= x <= 1;
  [PE[x, 3] -> ramp[]] -> W[] : 4 <= x <= 5;
  [PE[x, 5] -> ramp[]] -> W[] : 4 <= x <= 5
};

reduction_2_1 := {
  [PE[4, 3] -> E[]] -> W[];
  [PE[4, 5] -> E[]] -> W[];
  [PE[1, 3] -> W[]] -> E[];
  [PE[1, 5] -> W[]] -> E[]
};

reduction_2_counts := {
  PE[0, 3] -> [1];
  PE[x, 3] -> [1] : 2 <= x <= 3;
  PE[5, 3] -> [1];
  PE[0, 5] -> [1];
  PE[x, 5] -> [1] : 2 <= x <= 3;
  PE[5, 5] -> [1]
};

reduction_2_ring := {
  PE[x, 3] -> [0] : 0 <= x <= 1;
  PE[x, 3] -> [0] : 4 <= x <= 5;
  PE[x, 5] -> [0] : 0 <= x <= 1;
  PE[x, 5] -> [0] : 4 <= x <= 5
};

# reduction_4: sums, from the inner PEs to the upper right one

reduction_4_0 := {
  [PE[3, 4] -> S[]] -> N[];
  [PE[3, 3] -> W[]] -> ramp[];
  [PE[2, 3] -> ramp[]] -> E[];
  [PE[2, 5] -> ramp[]] -> E[];
  [PE[3, 5] -> ramp[]] -> N[]
};

reduction_4_1 := {
  [PE[3, 3] -> S[]] -> ramp[];
  [PE[3, 5] -> W[]] -> N[]
};

reduction_4_counts := {
  PE[2, 3] -> [1];
  PE[3, 4] -> [1];
  PE[2, 5] -> [1]
};

reduction_4_ring := {
  PE[3, 3] -> [0];
  PE[3, 5] -> [0]
};

# reduction_broadcast: sums, from the upper right inner PE to all workers

reduction_broadcast_0 := {
  [PE[x, 3] -> E[]] -> N[] : 0 <= x <= 2;
  [PE[x, 3] -> E[]] -> S[] : 0 <= x <= 2;
  [PE[x, 3] -> E[]] -> W[] : 1 <= x <= 2;
  [PE[x, y] -> N[]] -> S[] : 0 <= x <= 5 and 4 <= y <= 7;
  [PE[x, y] -> N[]] -> ramp[] : 0 <= x <= 5 and 6 <= y <= 8;
  [PE[x, y] -> S[]] -> N[] : 0 <= x <= 5 and 1 <= y <= 2;
  [PE[x, y] -> S[]] -> ramp[] : 0 <= x <= 5 and 0 <= y <= 2;
  [PE[4, 3] -> W[]] -> E[];
  [PE[x, 3] -> W[]] -> N[] : 4 <= x <= 5;
  [PE[x, 3] -> W[]] -> S[] : 4 <= x <= 5;
  [PE[3, 3] -> ramp[]] -> E[];
  [PE[3, 3] -> ramp[]] -> N[];
  [PE[3, 3] -> ramp[]] -> S[];
  [PE[3, 3] -> ramp[]] -> W[]
};

# Geo-vars: what programs know of their PE

geo_columns := {
  PE[x, 3] -> [0] : 0 <= x <= 1;
  PE[x, 3] -> [0] : 4 <= x <= 5;
  PE[x, 5] -> [0] : 0 <= x <= 1;
  PE[x, 5] -> [0] : 4 <= x <= 5;
  PE[x, 3] -> [2] : 2 <= x <= 3;
  PE[x, 5] -> [2] : 2 <= x <= 3
};

geo_even := {
  PE[x, y] : (x + y) mod 2 = 0 and 0 <= x <= 5 and 0 <= y <= 2;
  PE[x, y] : (x + y) mod 2 = 1 and 0 <= x <= 5 and 6 <= y <= 8
};

geo_farthest := {
  PE[x, 0] : 0 <= x <= 5;
  PE[0, 3];
  PE[5, 3];
  PE[0, 5];
  PE[5, 5];
  PE[x, 8] : 0 <= x <= 5
};

geo_has_east := {
  PE[x, y] : 0 <= x <= 4 and 0 <= y <= 2;
  PE[x, y] : 0 <= x <= 4 and 6 <= y <= 8
};

geo_has_north := {
  PE[x, y] : 0 <= x <= 5 and 1 <= y <= 2;
  PE[x, y] : 0 <= x <= 5 and 6 <= y <= 8
};

geo_has_south := {
  PE[x, y] : 0 <= x <= 5 and 0 <= y <= 2;
  PE[x, y] : 0 <= x <= 5 and 6 <= y <= 7
};

geo_has_west := {
  PE[x, y] : 1 <= x <= 5 and 0 <= y <= 2;
  PE[x, y] : 1 <= x <= 5 and 6 <= y <= 8
};

geo_lower_left := { PE[2, 5] };

geo_lower_right := { PE[3, 5] };

geo_outermost := {
  PE[1, 4];
  PE[4, 4]
};

geo_part := {
  PE[4, 4] -> [0];
  PE[1, 4] -> [1]
};

geo_rows := {
  PE[x, 3] -> [3] : 0 <= x <= 5;
  PE[x, 5] -> [3] : 0 <= x <= 5
};

geo_upper_left := { PE[2, 3] };

geo_upper_right := { PE[3, 3] };
