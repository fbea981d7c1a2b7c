"""SeqBench's mazes: grown, searched, and plans judged in them."""
