"""SMILES as molecular graphs: parsing, aromaticity, canonical codes, and lists of molecules compared."""
