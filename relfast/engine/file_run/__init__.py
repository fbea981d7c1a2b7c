"""Scoring files: blocks of lines are scored on a pool or in this process, and their rows written in order."""
