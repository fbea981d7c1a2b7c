"""Gold records by id, and by question where a tool's rows have no id of ours."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import Any

from relfast_kernels.layouts import SHORTEST_QUESTION

from relfast.formats.entry import MISSING, Entry


class GoldRecords(dict[Any, Entry]):
    """Gold records by id; ``id_asking`` finds one by its question."""

    def __init__(self) -> None:
        super().__init__()
        self._by_question: dict[str, Any] | None = None
        self._found: dict[str, Any] = {}
        self._lengths: dict[str, list[int]] = {}

    def id_asking(self, prompt: str) -> Any:
        """The id of the one record whose question is a prompt, or stands in it as chat templates put it.

        ``MISSING`` where there is none, or where several ask the same.
        """
        questions = self.questions()
        found = questions.get(prompt.strip(), self._found.get(prompt))
        if found is None:
            found = self._found[prompt] = self._within(prompt)
        return found

    def questions(self) -> Mapping[str, Any]:
        """Questions and the id of the one record that asks each, ``MISSING`` where several do."""
        if self._by_question is None:
            questions: dict[str, Any] = {}
            for id, entry in self.items():
                if isinstance(entry.question, str) and entry.question.strip():
                    text = entry.question.strip()
                    questions[text] = MISSING if text in questions else id
            self._by_question = questions
        return self._by_question

    def _within(self, prompt: str) -> Any:
        """The record whose question stands in a prompt, the longest (in UTF-8) where several do."""
        questions = self.questions()
        if not self._lengths:
            lengths: dict[str, set[int]] = {}
            for text in questions:
                if len(text) >= SHORTEST_QUESTION:
                    lengths.setdefault(text[:SHORTEST_QUESTION], set()).add(len(text))
            self._lengths = {begins: sorted(each) for begins, each in lengths.items()}
        candidates = [text for begins in self._lengths for text in self._beginning(begins, prompt)]
        if not candidates:
            return MISSING
        # of two of one length the first in the file counts
        order = {text: number for number, text in enumerate(questions) if text in candidates}
        return questions[min(candidates, key=lambda text: (-_size(text), order[text]))]

    def _beginning(self, begins: str, prompt: str) -> Iterator[str]:
        """The longest question at each place where some begin that begin so."""
        questions, lengths = self.questions(), self._lengths[begins]
        at = prompt.find(begins)
        while at >= 0:
            for length in reversed(lengths[: bisect_right(lengths, len(prompt) - at)]):
                if prompt[at : at + length] in questions:
                    yield prompt[at : at + length]
                    break
            at = prompt.find(begins, at + 1)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


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
