"""What is found of a row, the tokens of its entry; and what it is found with."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

(
    ENTRY_ID,
    ENTRY_TASK,
    ENTRY_ANSWER,
    ENTRY_QUESTION,
    ENTRY_INPUT,
    ENTRY_SOURCE,
    ENTRY_FORM,
    ENTRY_COUNTED,
    ENTRY_TASK_INSIDE,
    ENTRY_ANSWER_INSIDE,
) = range(10)
ENTRY_SIZE: Final = 10
"""Tokens of an entry, 0 for what it does not have: the question only where it is mapped or a tool's, the
prompt that the id is made of, and a data source; the form of the row; and whether the id is a tool's own
number, so that gold of elsewhere is that of the question; and whether task and gold are in the text that is
found."""


class Work(NamedTuple):
    """Work space of a scan, all int64 but ``words``: tokens (MAX_TOKENS, TOKEN_COLUMNS), numbers of those
    that are samples and of those that paths lead to (FOUND_SIZE each), fields of a row, its entry and its
    gold; for two sets of taxa, spans (2, MAX_TAXA, 2) and slots (2, TAXA_SLOTS + 1); ``words``
    (PROMPTS_SIZE, uint64); and ``patterns`` (PATTERN_WORK)."""

    tape: Any
    samples: Any
    found: Any
    fields: Any
    entry: Any
    gold: Any
    spans: Any
    slots: Any
    words: Any
    patterns: Any


class Joined(NamedTuple):
    """Gold records to join with, see `relfast_kernels.text.join`: text, records, slots; their questions, see
    `relfast_kernels.text.asked`; the filter that is scored (uint8); and the table of forms, see
    `relfast_kernels.text.paths`."""

    text: Any
    records: Any
    slots: Any
    asked: Any
    lengths: Any
    asked_slots: Any
    chosen: Any
    table: Any
