"""Text as bytes: JSON lines with their answers, and plans in what a model wrote."""
