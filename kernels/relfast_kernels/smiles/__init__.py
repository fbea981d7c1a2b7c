"""SMILES as graphs: read, made aromatic, given a canonical code, held against each other."""
