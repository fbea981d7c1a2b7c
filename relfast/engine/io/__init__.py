"""Input and output of files: sources and codecs, blocks of lines, rows and the log of what is committed."""
