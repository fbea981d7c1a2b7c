"""``<smiles>`` tags of many responses at once."""
