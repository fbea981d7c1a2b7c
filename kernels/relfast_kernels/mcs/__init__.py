"""The largest common connected substructure of two molecular graphs."""
