"""Evaluation for `doit evaluate`: gains of vector instructions, and the uses of other cycles."""
