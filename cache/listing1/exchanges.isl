# How operands come to the PEs that compute: from PEs that take to neighbours that send.
# n4_src1_0 is the first hop of operand src1 of node n4; its last hop ends where n4 is computed.
# x counts the columns of the field of workers to the east, y its rows to the south.

n4_src1_0 := { PE[x, y] -> PE[1 + x, y] : 1 <= x <= 4 and 1 <= y <= 4 };
