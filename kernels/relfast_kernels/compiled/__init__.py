"""From Python to machine code: the one decorator, libraries without numba, and the caches of both."""
