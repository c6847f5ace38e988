"""Estimates of cycles: facts about a layer, guesses before there is code, and a timeline of PEs."""
