"""Molecules. RDKit is imported here and nowhere else."""
