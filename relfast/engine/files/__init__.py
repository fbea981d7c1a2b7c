"""Scoring files: sources are cut into blocks, workers score these, and their rows are written in order."""
