"""`Scorer`: scoring of single calls and batches, from any thread, as rewards need it."""
