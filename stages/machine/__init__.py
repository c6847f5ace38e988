"""Machines: the types of elements, and profiles with every figure of a machine."""
