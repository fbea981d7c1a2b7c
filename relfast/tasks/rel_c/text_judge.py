"""What the text judges of REL-C2 and C3 have in common: a kernel reads the tags of many texts, and equal
answers are judged once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Final

from relfast.tasks.modules import JudgedText
from relfast.tasks.rel_c.block_tags import Golds, TagReader, Tags
from relfast.tasks.rel_c.options import RelCOptions
from relfast.tasks.rel_c.text_tags import Answer, KnownAnswers, packed


class TagJudge(ABC):
    """A `relfast.tasks.modules.TextJudge`, but for what its task has of its own.

    Parameters
    ----------
    reader
        Of tags; ``one``: of the answer's only tag, else of all.
    """

    def __init__(self, reader: TagReader, options: RelCOptions, *, one: bool) -> None:
        self._options, self._strict, self._one = options, options.strict, one
        self._setting: Final = reader
        self._readers = [reader]
        self._known = KnownAnswers()

    def judge(self, golds: Sequence[int], texts: Sequence[str]) -> tuple[list[JudgedText | None], int]:
        """What each of some texts is worth against its gold, and how many of their answers were known."""
        block = packed(texts)
        try:
            reader = self._readers.pop()
        except IndexError:  # as many as threads are in here
            reader = self._new_reader()
        n = len(texts)
        read = reader.read(block, range(n), *self._golds_of(golds))
        # golds, which are not ASCII where they are broken, stand between
        said = str(memoryview(read.texts)[: read.n_bytes], "latin-1")
        end_of_one = int(self._one)  # without its newline
        answers: list[Answer | None] = [
            None if n_tags < 0 else (gold, said[start : end - end_of_one] if n_tags else "")
            for gold, n_tags, start, end in zip(golds, read.n, read.start, read.end, strict=True)
        ]
        judged, new, again = self._known.split(answers)
        told = self._told(read, golds, new, said)
        self._readers.append(reader)
        self._known.keep(new, told)
        if len(new) == n:
            return told, 0
        for at, one in zip(new.values(), told, strict=True):
            judged[at] = one
        for at, first in again:
            judged[at] = judged[first]
        return judged, n - len(new) - answers.count(None)

    @abstractmethod
    def _golds_of(self, golds: Sequence[int]) -> tuple[Sequence[int], Golds]:
        """The golds of texts as the kernel that reads tags wants them."""

    @abstractmethod
    def _told(
        self, read: Tags, golds: Sequence[int], new: Mapping[Answer, int], said: str
    ) -> list[JudgedText | None]:
        """What answers are worth, each with the place of a text that gives it; None for those that are left.

        Parameters
        ----------
        read
            The tags of all texts.
        golds
            The golds of these.
        new
            Answers that differ, each with its place among the texts.
        said
            All that was read, as text.
        """

    def _new_reader(self) -> TagReader:
        reader = TagReader.open(self._options, one=self._one)
        assert reader is not None, "there was one before"
        return reader
