"""Rows to numbers: what a run counts, what is estimated from it, and the summary that reports it."""
