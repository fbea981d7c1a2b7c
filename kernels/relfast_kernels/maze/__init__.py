"""Kernels for SeqBench: build, generate and search mazes, read plans from responses, and score these."""
