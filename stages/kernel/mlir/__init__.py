"""Reader of MLIR text, by xDSL: nothing else in the compiler imports xDSL."""
