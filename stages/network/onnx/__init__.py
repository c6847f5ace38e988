"""Graphs in ONNX: files, nodes, and known operators."""
