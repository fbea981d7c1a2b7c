"""Rows to numbers: counts that add up over a run, estimates and tests, and the summary that reports them."""
