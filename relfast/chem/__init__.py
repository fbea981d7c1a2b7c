"""Everything about molecules. Only modules of this package import RDKit."""
