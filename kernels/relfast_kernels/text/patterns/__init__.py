"""Regular expressions for kernels: compiled from Python's own reading of them, run over symbols."""
