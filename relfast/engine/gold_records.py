"""Gold records by id, and by question where a tool's rows have no id of ours."""

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
    """Ids of which several gold records say different things.

    Attributes
    ----------
    n
        How many ids.
    first
        The first of them, in order of the records that differ from one before.
    places
        Where its first record stands, and the first that differs: the number of the file, and the line.
    """

    n: int
    first: Any
    places: tuple[tuple[int, int], tuple[int, int]]

    def describe(self, paths: Sequence[str]) -> str:
        """The note on it in one line; ``paths`` are the files."""
        one, other = (f"{paths[file]}:{line}" for file, line in self.places)
        whose = "1 id has" if self.n == 1 else f"{self.n:,} ids have"
        named = f"{self.first!r:.60}" if self.n == 1 else f"the first is {self.first!r:.60}"
        return (
            f"{whose} gold records with different tasks or answers, of which the last counts:"
            f" {named}, at {one} and {other}"
        )


class GoldRecords(dict[Any, Entry]):
    """Gold records by id; ``id_asking`` finds one by its question.

    ``repeated`` says which ids have records that differ, None where none has.
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
        """The records that are added from now on are those of the next file."""
        self._files.append(len(self._lines))

    def add(self, entry: Entry, line: int) -> None:
        """Add a record of this line of the file; of several with one id the last counts."""
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
        """The file and line of an id's first record: a dict keeps the order in which its keys came."""
        at = next(number for number, key in enumerate(self) if key == id)
        return bisect_right(self._files, at) - 1, self._lines[at]

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


def _differ(one: Entry, other: Entry) -> bool:
    """Whether two records of one id would score a response differently."""
    try:
        answer, its = _answer_of(one), _answer_of(other)
        return bool(answer != its) or _task_of(one, answer) != _task_of(other, its)
    except RecursionError:  # nested as no gold is
        return True


def _answer_of(entry: Entry) -> Any:
    return decode_text(entry.answer) if isinstance(entry.answer, str) else entry.answer


def _task_of(entry: Entry, answer: Any) -> object:
    """The name of its task, in the spelling of the table where that has it."""
    unsaid = entry.task is MISSING or entry.task is None
    task = infer_task(answer) if unsaid else find_task(entry.task)
    return entry.task if task is None else task.name


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


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
