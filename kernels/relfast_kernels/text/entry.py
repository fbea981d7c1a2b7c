"""What is found of a row: the tokens of its entry."""

from __future__ import annotations

from typing import Final

(
    ENTRY_ID,
    ENTRY_TASK,
    ENTRY_ANSWER,
    ENTRY_QUESTION,
    ENTRY_INPUT,
    ENTRY_SOURCE,
    ENTRY_DIALECT,
    ENTRY_COUNTED,
    ENTRY_TASK_STEP,
    ENTRY_ANSWER_STEP,
) = range(10)
ENTRY_SIZE: Final = 10
"""Tokens of an entry, 0 for what it does not have: the question only where it is mapped or a tool's, verl's
prompt and data source; the row's dialect; and whether the id is a tool's own number, so that gold of
elsewhere is that of the question; and with which step paths to task and gold go on in the text that is found,
0 where they do not."""
