"""Scoring in worker processes: how they start, what they are sent, and what is to blame when one dies."""
