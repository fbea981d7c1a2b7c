"""Compiled kernels: arrays in, arrays or scalars out. They import numpy, numba, math and themselves only.

A kernel does no I/O and raises nothing for bad data; the modules of `relfast.tasks` and `relfast.chem` encode
for it. `layouts` is what both sides know, `compiled` how machine code comes to be and where it is kept. Each
kernel has a textbook twin among the tests.
"""
