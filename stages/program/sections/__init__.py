"""Sections of a program as vectors of calls and arguments, and the decisions of the executive."""
