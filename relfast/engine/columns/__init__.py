"""From bytes or records to scores: blocks of lines, what kernels find in them, gold, outcomes, and rows."""
