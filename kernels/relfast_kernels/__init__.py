"""Compiled kernels: arrays in, arrays or scalars out. They import numpy, numba, math and themselves only.

A kernel knows no text, does no I/O and raises nothing for bad data; the rooms of `relfast.tasks` encode
for it. Each kernel has a textbook twin in `tests/kernels/naive.py`.
"""
