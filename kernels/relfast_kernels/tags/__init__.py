"""The molecules in ``<smiles>`` tags of many responses at once."""
