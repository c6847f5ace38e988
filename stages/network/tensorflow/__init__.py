"""Frozen graphs of TensorFlow: files, nodes, and the operators that are known."""
