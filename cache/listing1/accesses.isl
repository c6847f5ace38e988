# What each operand of a node is, for each instance of the node.
# x and y are the PE that computes, and that has the element; the others count in memory.

n2_dst := { n2[] -> myGs[] };

n2_src0 := { n2[] -> myGs[] };

n2_src1 := { n2[] -> fl_0[] };

n4_dst := { n4[x, y, z] -> myLA[x, y, z] : 1 <= x <= 4 and 1 <= y <= 4 and 1 <= z <= 7 };

n4_src0 := { n4[x, y, z] -> myLA[x, y, z] : 1 <= x <= 4 and 1 <= y <= 4 and 1 <= z <= 7 };

n4_src1 := { n4[x, y, z] -> myLA[1 + x, y, z - 1] : 1 <= x <= 4 and 1 <= y <= 4 and 1 <= z <= 7 };

n5_dst := { n5[x, y, z] -> total[] : 0 <= x <= 5 and 0 <= y <= 5 and 0 <= z <= 7 };

n5_src0 := { n5[x, y, z] -> myLA[x, y, z] : 0 <= x <= 5 and 0 <= y <= 5 and 0 <= z <= 7 };
