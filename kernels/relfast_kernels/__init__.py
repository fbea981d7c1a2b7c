"""Numba kernels: arrays in, arrays or scalars out. They import numpy, numba, math and each other only.

A kernel does no I/O and raises nothing for bad data; `relfast.tasks` and `relfast.chem` prepare its arrays.
`layouts` has the constants that kernels and callers share; `compiled` builds, stores and loads machine code.
The tests compare each kernel with a textbook implementation.
"""
