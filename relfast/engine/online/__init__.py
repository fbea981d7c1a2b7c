"""Scoring as one is asked: single calls and batches, from any thread."""
