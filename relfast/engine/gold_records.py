"""Gold records of ``--data``, found by id, or by question for tools whose rows do not carry the id."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from relfast_kernels.layouts import SHORTEST_QUESTION

from relfast.formats.entry import Entry
from relfast.formats.paths import MISSING
from relfast.json_text import decode_text
from relfast.tasks import find_task, infer_task


class Repeated(NamedTuple):
    """Ids that several gold records have, with different tasks or answers.

    Attributes
    ----------
    n
        Number of such ids.
    first
        The id whose second, different record came first.
    places
        Where the first record with that id stands, and where the first different one does; each is a pair of
        the file's number (from 0) and the line.
    """

    n: int
    first: Any
    places: tuple[tuple[int, int], tuple[int, int]]

    def describe(self, paths: Sequence[str]) -> str:
        """A note of one line about these ids; ``paths`` are the gold files."""
        one, other = (f"{paths[file]}:{line}" for file, line in self.places)
        ids = "1 id has" if self.n == 1 else f"{self.n:,} ids have"
        named = f"{self.first!r:.60}" if self.n == 1 else f"the first is {self.first!r:.60}"
        return (
            f"{ids} gold records with different tasks or answers, of which the last counts:"
            f" {named}, at {one} and {other}"
        )


class GoldRecords(dict[Any, Entry]):
    """Gold records by id; `id_asking` finds one by its question.

    ``repeated`` describes the ids that have records with different content; None if there are none.
    """

    def __init__(self) -> None:
        super().__init__()
        self.repeated: Repeated | None = None
        self._differing: set[Any] = set()
        self._lines: array[int] = array("q")
        self._files: list[int] = []
        self._by_question: dict[str, Any] | None = None
        self._found: dict[str, Any] = {}
        self._lengths: dict[str, list[int]] = {}

    def next_file(self) -> None:
        """Begin the next file: records added from now on belong to it."""
        self._files.append(len(self._lines))

    def add(self, entry: Entry, line: int) -> None:
        """Add the record of a line of the file; if several have the same id, the last counts."""
        before = self.get(entry.id)
        if before is None:
            self._lines.append(line)
        elif _differ(before, entry):
            self._differing.add(entry.id)
            if self.repeated is None:
                here = len(self._files) - 1, line
                self.repeated = Repeated(1, entry.id, (self._place_of(entry.id), here))
            self.repeated = self.repeated._replace(n=len(self._differing))
        self[entry.id] = entry

    def _place_of(self, id: Any) -> tuple[int, int]:
        """File number and line of the first record with this id: dict keys and ``_lines`` have one order."""
        at = next(number for number, key in enumerate(self) if key == id)
        return bisect_right(self._files, at) - 1, self._lines[at]

    def id_asking(self, prompt: str) -> Any:
        """The id of the gold record whose question equals the prompt or is contained in it (as chat templates
        embed it).

        ``MISSING`` if there is no such record, or if several have that question.
        """
        questions = self.questions()
        found = questions.get(prompt.strip(), self._found.get(prompt))
        if found is None:
            found = self._found[prompt] = self._within(prompt)
        return found

    def questions(self) -> Mapping[str, Any]:
        """Question → id of the record that has it, ``MISSING`` if several have it."""
        if self._by_question is None:
            questions: dict[str, Any] = {}
            for id, entry in self.items():
                if isinstance(entry.question, str) and entry.question.strip():
                    text = entry.question.strip()
                    questions[text] = MISSING if text in questions else id
            self._by_question = questions
        return self._by_question

    def _within(self, prompt: str) -> Any:
        """The id of the record whose question a prompt contains; of several the longest (UTF-8 bytes)."""
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
        # of two questions of equal length the one that comes first in the file counts
        order = {text: number for number, text in enumerate(questions) if text in candidates}
        return questions[min(candidates, key=lambda text: (-_size(text), order[text]))]

    def _beginning(self, begins: str, prompt: str) -> Iterator[str]:
        """The longest question at each place of the prompt where the text ``begins`` occurs. All questions
        that share their first `SHORTEST_QUESTION` characters are looked up together."""
        questions, lengths = self.questions(), self._lengths[begins]
        at = prompt.find(begins)
        while at >= 0:
            for length in reversed(lengths[: bisect_right(lengths, len(prompt) - at)]):
                if prompt[at : at + length] in questions:
                    yield prompt[at : at + length]
                    break
            at = prompt.find(begins, at + 1)


def _differ(a: Entry, b: Entry) -> bool:
    """Whether two records with one id have different answers or tasks."""
    try:
        answer_a, answer_b = _answer_of(a), _answer_of(b)
        return bool(answer_a != answer_b) or _task_of(a, answer_a) != _task_of(b, answer_b)
    except RecursionError:  # nested deeper than any usable gold
        return True


def _answer_of(entry: Entry) -> Any:
    return decode_text(entry.answer) if isinstance(entry.answer, str) else entry.answer


def _task_of(entry: Entry, answer: Any) -> object:
    """The canonical name of the entry's task; an unknown task as the entry spells it."""
    unsaid = entry.task is MISSING or entry.task is None
    task = infer_task(answer) if unsaid else find_task(entry.task)
    return entry.task if task is None else task.name


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def is_counter(id: Any) -> bool:
    """Whether an id is a number, such as tools count with."""
    return type(id) is int or (isinstance(id, str) and id.isdecimal())


def asks_another(entry: Entry, known: Entry) -> bool:
    """Whether a tool's row asks another question than the gold record that has the row's number as its id.

    A tool that numbers its requests may give the number 7 to a row that has nothing to do with the gold
    record 7. Ids that are no numbers are not such counters, so they always match.
    """
    return (
        is_counter(entry.id)
        and isinstance(entry.question, str)
        and isinstance(known.question, str)
        and known.question.strip() not in entry.question
    )
