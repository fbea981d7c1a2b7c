"""Gold records by id, and by question where a tool's rows have no id of ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from relfast.formats.entry import MISSING, Entry

_SHORTEST: Final = 16
"""Characters of a question that is looked for within prompts: a shorter one could stand in any."""


class GoldRecords(dict[Any, Entry]):
    """Gold records by id; ``id_asking`` finds one by its question."""

    def __init__(self) -> None:
        super().__init__()
        self._by_question: dict[str, Any] | None = None
        self._found: dict[str, Any] = {}
        self._around: tuple[int, int] = (0, 0)

    def id_asking(self, prompt: str) -> Any:
        """The id of the one record whose question is a prompt, or stands in it as chat templates put it.

        ``MISSING`` where there is none, or where several ask the same.
        """
        if self._by_question is None:
            self._by_question = self._questions()
        found = self._by_question.get(prompt.strip(), self._found.get(prompt))
        if found is None:
            found = self._found[prompt] = self._within(prompt)
        return found

    def _questions(self) -> dict[str, Any]:
        questions: dict[str, Any] = {}
        for id, entry in self.items():
            if isinstance(entry.question, str) and entry.question.strip():
                text = entry.question.strip()
                questions[text] = MISSING if text in questions else id
        return questions

    def _within(self, prompt: str) -> Any:
        """The record whose question stands in a prompt, the longest where several do."""
        questions = self._by_question or {}
        # prompts of a run have the same template around them
        before, after = self._around
        text = prompt[before : len(prompt) - after].strip()
        if text in questions:
            return questions[text]
        longest = max((q for q in questions if len(q) >= _SHORTEST and q in prompt), key=len, default=None)
        if longest is None:
            return MISSING
        at = prompt.index(longest)
        self._around = at, len(prompt) - at - len(longest)
        return questions[longest]


def id_by_question(gold: Mapping[Any, Entry], entry: Entry) -> Any:
    """The id of the gold record that an entry's question finds, else the entry's own."""
    if not isinstance(gold, GoldRecords) or not isinstance(entry.question, str):
        return entry.id
    found = gold.id_asking(entry.question)
    return entry.id if found is MISSING else found


def asks_another(entry: Entry, known: Entry) -> bool:
    """Whether a tool's row and the gold record with its number have different questions.

    A tool counts its requests: 7 is then the id of some record by chance. An id that is a name is none.
    """
    id = entry.id
    counted = type(id) is int or (isinstance(id, str) and id.isdecimal())
    return (
        counted
        and isinstance(entry.question, str)
        and isinstance(known.question, str)
        and known.question.strip() not in entry.question
    )
