"""Reading and writing files: sources and codecs, blocks of lines, output rows, and the journal of committed
blocks."""
