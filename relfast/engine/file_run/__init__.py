"""Scoring files: blocks of lines on a pool, or in this process, and their rows in order."""
