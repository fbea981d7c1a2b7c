"""The largest motifs that all molecules of a group have in common."""
