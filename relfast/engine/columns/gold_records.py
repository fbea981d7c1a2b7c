"""Gold records of ``--data``, found by id, or by question for tools whose rows do not carry the id."""

from __future__ import annotations

import ctypes
import os
import struct
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson
from relfast_kernels.entry import Int, Spare, rows_of
from relfast_kernels.layouts import (
    FIELDS,
    HELD_COLUMNS,
    HELD_GOLD_END,
    HELD_ID,
    HELD_LAST,
    HELD_LINE,
    LINE_COLUMNS,
    LINE_DIGEST,
    LINE_GOLD,
    LINE_HELD,
    LINE_KIND,
    LINE_REST,
    LINE_SHAPE,
    MAX_ID_DIGITS,
    SET_IS_GOLD,
    SET_SEED,
    SET_STRICT,
    SHORTEST_QUESTION,
    SLOW,
)
from relfast_kernels.text.layouts import Digested, Held

from relfast.engine.columns.text_block import ScannedBlock, kinds_of
from relfast.errors import InputError, ReadError, told_of
from relfast.formats import read_row
from relfast.formats.entry import Entry
from relfast.formats.paths import MISSING
from relfast.json_text import LongLine, Undecodable, decode_object, decode_text
from relfast.tasks import EXACT_FIELDS, find_task, infer_task

if TYPE_CHECKING:
    from relfast.engine.columns.projection import Projection, SaidGold


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


_COLUMNS: Final[Any] = Int * HELD_COLUMNS
_ROW: Final = struct.Struct(f"{HELD_COLUMNS}q")
_NOTHING_SAID: Final = {LINE_SHAPE: 0, LINE_GOLD: 0, LINE_REST: 0}
"""Columns of a line of a gold file whose task and answer only Python reads."""
_BATCH_BYTES: Final = 1 << 20
_BATCH_LINES: Final = 1 << 13
_MOST_DECODED: Final = 1 << 14
"""Bytes and lines of gold that are read at a time, and how many entries and prompts are kept that were asked
for."""
_MOST_BEGINNINGS: Final = 16
"""Most texts that a prompt is searched for, to find questions in it."""
_MOST_OPEN: Final = 64
"""Most files that stay open; the bytes of further ones are kept in memory."""
_MOST_INTEGER: Final = 10**MAX_ID_DIGITS


def hashable(value: Any) -> bool:
    """Whether a value can be an id."""
    return isinstance(value, str | int | float | bool) or value is None


def _json_of(id: Any) -> bytes | None:
    """The JSON of an id as the text kernel has it, equal for ids that are equal in Python; None for ids that
    no line has which the kernel reads."""
    if type(id) is str:
        try:
            return orjson.dumps(id)
        except TypeError:  # a lone surrogate
            return None
    if isinstance(id, float) and id.is_integer():
        id = int(id)
    return b"%d" % id if isinstance(id, int) and 0 <= id < _MOST_INTEGER else None


class GoldRecords:
    """Gold records by id; `id_asking` finds one by its question.

    Attributes
    ----------
    repeated
        The ids that have records with different content; None if there are none.
    seed
        The secret seed of digests.
    held
        For the text kernel: the rows that it has read, and their hash table.
    """

    def __init__(self) -> None:
        self.repeated: Repeated | None = None
        self.seed = int.from_bytes(os.urandom(8), "little") >> 1
        self._known: dict[Any, tuple[Entry, tuple[int, int]]] = {}
        """Id → its last record, and where the first is."""
        self._differing: set[Any] = set()
        self._paths: list[str] = []
        self._by_question: dict[str, Any] | None = None
        self._found: dict[str, Any] = {}
        self._lengths: dict[str, list[int]] = {}
        self._begins: Collection[str] = ()
        self._rows: Any = rows_of(_COLUMNS, 1)
        self._slots: Any = rows_of(Int, 2)
        self._text: Any = (ctypes.c_char * 1)()
        self.held: Any = Held(rows=self._rows, slots=self._slots, text=self._text)

    def __len__(self) -> int:
        return len(self._known)

    # ---- reading

    def read(self, path: str, sources: Iterable[tuple[Iterable[bytes], str | None]], longest: int) -> None:
        """Add the records of a file's lines.

        Parameters
        ----------
        sources
            What the file consists of: bytes in pieces of any size, of which the last ends a line; and the
            path of a plain file that has these bytes, if they need not be kept in memory.

        Raises
        ------
        InputError
            A line is no record with an id, or has more than ``longest`` bytes.
        """
        self._paths.append(path)
        number = 1
        for pieces, plain in sources:
            self._begin(plain)
            buffer, whole = bytearray(), 0
            for piece in pieces:
                if last := piece.rfind(b"\n") + 1:
                    whole = len(buffer) + last
                buffer += piece
                too_long = len(buffer) - whole > longest
                if whole and (too_long or len(buffer) >= _BATCH_BYTES):
                    number = self._read(buffer, whole, number, path, longest)
                    del buffer[:whole]
                    whole = 0
                if too_long:
                    _decoded(LongLine.beyond(longest), number, path)
            number = self._read(buffer, whole, number, path, longest)

    def _begin(self, plain: str | None) -> None:
        """Bytes that follow are those of this plain file, or of another source."""

    def _read(self, buffer: bytearray, size: int, number: int, path: str, longest: int) -> int:
        """Add the lines in the first bytes of a buffer, of which the first has this number; the number of the
        line behind."""
        for line in bytes(buffer[:size]).split(b"\n")[:-1]:
            entry = _decoded(line if len(line) <= longest else LongLine.beyond(longest), number, path)
            if entry is not None:
                self.add(entry, number)
            number += 1
        return number

    def add(self, entry: Entry, line: int) -> None:
        """Add the record of a line of the last file; if several have the same id, the last counts."""
        here = len(self._paths) - 1, line
        last, first = self._known.get(entry.id, (entry, here))
        self._known[entry.id] = entry, first
        self._compare(last, entry, first, here)

    def _compare(self, last: Entry, entry: Entry, first: tuple[int, int], here: tuple[int, int]) -> None:
        """Note it if two records with one id, the second of which came later, have different content.
        ``first`` is where the first with that id is, ``here`` where the second one is."""
        if last is not entry and _differ(last, entry):
            self._differing.add(entry.id)
            repeated = self.repeated or Repeated(1, entry.id, (first, here))
            self.repeated = repeated._replace(n=len(self._differing))

    # ---- asking

    def get(self, id: Any) -> Entry | None:
        """The last record with an id; None if there is none."""
        known = self._known.get(id)
        return known and known[0]

    def _last_records(self) -> Iterator[tuple[Any, Entry]]:
        """Each id, as its first record spells it, with its last record."""
        return ((id, entry) for id, (entry, _) in self._known.items())

    def gold_in(self, row: int) -> SaidGold | None:
        """Task and answer of a row that the kernel has read; see `Projection.gold_in`. Here: none."""
        return None

    def id_asking(self, prompt: str) -> Any:
        """The id of the gold record whose question equals the prompt or is contained in it (as chat templates
        embed it).

        ``MISSING`` if there is no such record, or if several have that question.
        """
        questions = self.questions()
        found = questions.get(prompt.strip(), self._found.get(prompt))
        if found is None:
            if len(self._found) >= _MOST_DECODED:
                self._found.clear()
            found = self._found[prompt] = self._within(prompt)
        return found

    def questions(self) -> Mapping[str, Any]:
        """Question → id of the record that has it, ``MISSING`` if several have it."""
        if self._by_question is None:
            questions: dict[str, Any] = {}
            for id, entry in self._last_records():
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
            self._begins = _common_beginnings(self._lengths)
        candidates = {text for begins in self._begins for text in self._beginning(begins, prompt)}
        longest = max(map(_size, candidates), default=0)
        candidates = {text for text in candidates if _size(text) == longest}
        if len(candidates) > 1:  # the one that comes first in the file counts
            return questions[next(text for text in questions if text in candidates)]
        return questions[candidates.pop()] if candidates else MISSING

    def _beginning(self, begins: str, prompt: str) -> Iterator[str]:
        """The longest question at each place of the prompt where the text ``begins`` occurs. All questions
        that share their first `SHORTEST_QUESTION` characters are looked up together."""
        questions = self.questions()
        at = prompt.find(begins)
        while at >= 0:
            lengths = self._lengths.get(prompt[at : at + SHORTEST_QUESTION], ())
            for length in reversed(lengths[: bisect_right(lengths, len(prompt) - at)]):
                if prompt[at : at + length] in questions:
                    yield prompt[at : at + length]
                    break
            at = prompt.find(begins, at + 1)


def _common_beginnings(texts: Iterable[str]) -> Collection[str]:
    """The first characters of texts, which have `SHORTEST_QUESTION` each: as many as leave few of them."""
    found = {*texts}
    for n in range(SHORTEST_QUESTION - 1, 0, -1):
        if len(found) <= _MOST_BEGINNINGS:
            break
        found = {text[:n] for text in found}
    return found


@dataclass(slots=True)
class _Source:
    """The bytes of a gold file, in memory or in a plain file, which stays open: where they begin among those
    of all files."""

    begin: int
    file: int | None
    data: bytearray = field(default_factory=bytearray)

    def line(self, start: int, end: int) -> bytes:
        start, end = start - self.begin, end - self.begin
        return bytes(self.data[start:end]) if self.file is None else os.pread(self.file, end - start, start)

    def __del__(self) -> None:
        if self.file is not None:
            os.close(self.file)


class HeldRecords(GoldRecords):
    """Gold records whose lines stay where they are: a line is decoded when its record is asked for. The text
    kernel finds lines by digests of their ids, and keeps what is compared with responses, also under
    ``strict`` if that is said.

    Raises `ReadError` if a file has changed that lines are in.
    """

    def __init__(self, functions: Mapping[str, Callable[..., int]], *, strict: bool = False) -> None:
        super().__init__()
        self._functions, self._strict = functions, strict
        self._n = self._n_ids = 0
        self._odd: dict[Any, int] = {}
        """Id → a number in place of a digest, for ids that the kernel does not read."""
        self._asked: dict[Any, Entry] = {}
        self._files: list[int] = []
        self._sources: list[_Source] = []
        self._size = 0
        """Bytes of all files."""
        self._digested = Spare[Any](lambda: Digested(seed=self.seed, text=b""))
        self._projection: Projection | None = None

    def __len__(self) -> int:
        return self._n_ids

    # ---- reading

    def _begin(self, plain: str | None) -> None:
        if len(self._files) < len(self._paths):
            self._files.append(self._n)
        if plain is None or len(self._sources) >= _MOST_OPEN:
            self._sources.append(_Source(self._size, None))
            return
        with told_of(plain, ReadError):
            self._sources.append(_Source(self._size, os.open(plain, os.O_RDONLY | os.O_CLOEXEC)))

    def _read(self, buffer: bytearray, size: int, number: int, path: str, longest: int) -> int:
        if self._projection is None:
            self._projection = self._opened()
        if self._sources[-1].file is None:
            self._sources[-1].data += memoryview(buffer)[:size]
        begin, at, self._size = self._size, 0, self._size + size
        while at < size:
            data = (ctypes.c_char * (size - at)).from_buffer(buffer, at)
            block = self._projection.scan(data, _BATCH_LINES)
            self._fill_in(block, number, path, longest)
            self._hold(block, begin + at, number)
            number, at = number + block.n_lines, at + block.span(block.n_lines - 1)[1] + 1
            self._projection.context.data = b""  # so that the buffer can change its size
        return number

    def _opened(self) -> Projection:
        from relfast.engine.columns.projection import Projection
        from relfast.engine.job import Job

        projection = Projection(Job(), self._functions, self.held)
        settings = projection.settings
        settings[SET_IS_GOLD], settings[SET_SEED], settings[SET_STRICT] = True, self.seed, self._strict
        return projection

    def _fill_in(self, block: ScannedBlock, first: int, path: str, longest: int) -> None:
        """Find the ids of those lines of a block which the kernel leaves, so that they are held too."""
        kinds = kinds_of(block.lines, 0, block.n_lines)
        numbers = [number for number, kind in enumerate(kinds) if kind == SLOW]
        if len(block.data) > longest:
            spans = map(block.span, range(block.n_lines))
            beyond = {number for number, (start, end) in enumerate(spans) if end - start > longest}
            numbers = sorted(beyond.union(numbers))
        for number in numbers:
            start, end = block.span(number)
            line = LongLine.beyond(longest) if end - start > longest else bytes(block.data[start:end])
            entry = _decoded(line, first + number, path)
            if entry is None:
                continue
            digest = self._digest_of(entry.id)
            if digest is None:
                digest = self._odd[entry.id] = int.from_bytes(os.urandom(8), "little") >> 1
            found = {LINE_KIND: FIELDS, LINE_DIGEST: digest, **_NOTHING_SAID}
            for column, value in found.items():
                block.lines[number * LINE_COLUMNS + column] = value

    def _have_room(self, more: int) -> None:
        """Make room for further rows, and keep at least half of the slots free; and for their golds."""
        assert self._projection is not None
        n = 1 << max(6, (self._n + more - 1).bit_length())
        if n > len(self._rows):
            before, self._rows, self._slots = self._rows, rows_of(_COLUMNS, n), rows_of(Int, 2 * n)
            ctypes.memmove(self._rows, before, _ROW.size * self._n)
            self.held.put(rows=self._rows, slots=self._slots, n=self._n)
            self._functions["rehash"](self.held)
        used = self._row(self._n - 1)[HELD_GOLD_END] if self._n else 0
        if (size := used + self._projection.used) > len(self._text):
            text, self._text = self._text, (ctypes.c_char * (2 * size))()
            ctypes.memmove(self._text, text, used)
            self.held.text = self._text

    def _hold(self, block: ScannedBlock, base: int, first: int) -> None:
        """Add the lines of a block, which begins at ``base`` among all bytes, with line ``first``."""
        assert self._projection is not None
        self._have_room(block.n_lines)
        context, row = self._projection.context, self._n
        context.start, context.stop, context.base, context.first_line = 0, block.n_lines, base, first
        self.held.n = row
        self._n = self._functions["hold"](context)
        rows = memoryview(self._rows).cast("B").cast("q")[HELD_COLUMNS * row : HELD_COLUMNS * self._n]
        self._n_ids += self._n - row - rows[HELD_LAST::HELD_COLUMNS].tolist().count(-1)
        lines = memoryview(block.lines).cast("B").cast("q")[: LINE_COLUMNS * block.n_lines]
        before = lines[LINE_HELD::LINE_COLUMNS].tolist()
        if max(before) < 0:
            return
        kinds = lines[LINE_KIND::LINE_COLUMNS].tolist()
        for last in (last for last, kind in zip(before, kinds, strict=True) if kind == FIELDS):
            if last >= 0:
                of_id = self._first_row(self._row(row)[HELD_ID])
                self._compare(self._entry(last), self._entry(row), self._place_of(of_id), self._place_of(row))
            row += 1

    def _place_of(self, row: int) -> tuple[int, int]:
        """File number and line of a row."""
        return bisect_right(self._files, row) - 1, self._row(row)[HELD_LINE]

    # ---- asking

    def _row(self, row: int) -> Sequence[int]:
        return _ROW.unpack_from(self._rows, _ROW.size * row)

    def _first_row(self, digest: int) -> int:
        """The first row that has an id with this digest, or -1."""
        mask = len(self._slots) - 1
        at = digest & mask
        while self._slots[at] and self._rows[self._slots[at] - 1][HELD_ID] != digest:
            at = (at + 1) & mask
        return int(self._slots[at]) - 1

    def _digest_of(self, id: Any) -> int | None:
        """The digest of an id; None if no record has it, or a line that the kernel reads might."""
        text = _json_of(id)
        return self._odd.get(id) if text is None else self._digest(text)

    def _digest(self, text: bytes) -> int:
        asked = self._digested.take()
        asked.text = text
        digest: int = self._functions["digest_id"](asked)
        self._digested.append(asked)
        return digest

    def get(self, id: Any) -> Entry | None:
        found = self._asked.get(id)
        if found is None:
            digest = self._digest_of(id)
            first = -1 if digest is None else self._first_row(digest)
            if first < 0:
                return None
            if len(self._asked) >= _MOST_DECODED:
                self._asked.clear()
            found = self._asked[id] = self._entry(self._row(first)[HELD_LAST])
        return found

    def _last_records(self) -> Iterator[tuple[Any, Entry]]:
        for row in range(self._n):
            if (last := self._row(row)[HELD_LAST]) >= 0:
                entry = self._entry(last)
                yield entry.id if last == row else self._entry(row).id, entry

    def _entry(self, row: int) -> Entry:
        """The record of a row."""
        entry = read_row(decode_object(self._line(row), EXACT_FIELDS), "auto")
        entry.row = None
        return entry

    def gold_in(self, row: int) -> SaidGold | None:
        assert self._projection is not None
        line = self._line(row)
        return self._projection.gold_in(line, 0, len(line))

    def _line(self, row: int) -> bytes:
        """The line of a row."""
        start, end, *_, digest = self._row(row)
        line = self._sources[bisect_right(self._sources, start, key=_begins) - 1].line(start, end)
        if self._digest(line) != digest:
            file, number = self._place_of(row)
            raise ReadError("it changed while it was used", file=self._paths[file], line=number)
        return line


def _begins(source: _Source) -> int:
    return source.begin


def _decoded(line: bytes, number: int, path: str) -> Entry | None:
    """The record of a line; None if it is blank. Raises `InputError`."""
    if not line.strip():
        return None
    try:
        entry = read_row(decode_object(line, EXACT_FIELDS), "auto")
    except Undecodable as error:
        raise InputError(str(error), file=path, line=number) from None
    if entry.id is MISSING or not hashable(entry.id):
        raise InputError("gold record has no usable id", file=path, line=number, field="id")
    # gold is in memory for the whole run; scoring never reads the raw row of a gold record
    entry.row = None
    return entry


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
