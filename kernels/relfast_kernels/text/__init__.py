"""Text as bytes: JSON lines with their answers, and plans in what a model wrote.

How an answer is read: answers ← forms, values, words ← form_table; dress before, marked for open answers,
reasoning first.
"""
