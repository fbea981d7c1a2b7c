"""From Python to machine code: the one decorator, libraries of kernels, and where they are kept."""
