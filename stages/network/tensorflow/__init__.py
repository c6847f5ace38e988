"""Frozen graphs of TensorFlow: files, nodes, and known operators."""
