"""Graphs in ONNX: files, nodes, and the operators that are known."""
