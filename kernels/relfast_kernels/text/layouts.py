"""What the entries of the unit ``text`` are given; imports neither numba nor numpy."""

from __future__ import annotations

from typing import Final, NamedTuple

from relfast_kernels.entry import Array, Byte, Bytes, Const, Inner, Int, Ints, Struct
from relfast_kernels.layouts import (
    GOLD_COLUMNS,
    HELD_COLUMNS,
    LINE_COLUMNS,
    MAX_TAXA,
    MAX_TOKENS,
    MOST_TEMPLATES,
    PATTERN_WORK,
    RECORD_COLUMNS,
    SET_SIZE,
    STATE_SIZE,
    TAXA_SLOTS,
    TEMPLATE_PARTS,
    TEMPLATE_SLOTS,
    TOKEN_COLUMNS,
    WRITTEN_SIZE,
)
from relfast_kernels.text.marks import Names
from relfast_kernels.text.steps import Span, Table

GOLD_VALUE, GOLD_TAXA, GOLD_TEXT, GOLD_TEXT_END, GOLD_WRITTEN, GOLD_TOKEN, GOLD_HOLDER = range(7)
GOLD_SIZE: Final = 7
"""Facts about a line's gold: its panel or label, how many taxa, where in the scratch space they are, and what
it says of how they are written (`UNSAID` …); and, if the line says it, the token of the object, and of the
value in the line that is it or has its JSON (0: it is within such a text)."""
UNSAID, BY_NAME, BY_PLACE = range(3)
"""Whether gold's taxa are names, or places in the sorted list of names."""


OUTLINE_ROOM: Final = 128
"""Room of an outline besides that for its line."""


class Work(Struct):
    """Work space of a scan: ``tape``, tokens of a line, and those of a gold that it says in a text or is
    joined with (``said``); tokens of ``samples`` and of what paths lead to (``found``); the ``gold`` of a
    row; and of two sets of taxa ``spans`` and ``slots``."""

    tape: Ints = Array(Int, MAX_TOKENS, TOKEN_COLUMNS)
    said: Ints = Array(Int, MAX_TOKENS, TOKEN_COLUMNS)
    samples: Ints = Array(Int, 2 * MAX_TOKENS)
    found: Ints = Array(Int, 2 * MAX_TOKENS)
    gold: Ints = Array(Int, GOLD_SIZE)
    spans: Ints = Array(Int, 2, MAX_TAXA, 2)
    slots: Ints = Array(Int, 2, TAXA_SLOTS + 1)
    patterns: Ints = Array(Int, PATTERN_WORK)


class Golds(Struct):
    """Golds that Python has prepared: ``text``, their JSON and that of ids; and a hash table, open addressing
    by the lowest bits, of ``digests`` and ``numbers`` of golds (from 1 on)."""

    n_text: int = Int
    n_rows: int = Int
    n_slots: int = Int
    text: Bytes = Const(Byte, "n_text")
    rows: Ints = Const(Int, "n_rows", GOLD_COLUMNS)
    digests: Ints = Const(Int, "n_slots")
    numbers: Ints = Const(Int, "n_slots")


class Held(Struct):
    """The ``n`` rows of gold files; a hash table of those that are the first with their id: ``slots``, open
    addressing by the lowest bits of `HELD_ID`, of numbers of rows (from 1 on); and ``text``, their golds."""

    n: int = Int
    n_rows: int = Int
    n_slots: int = Int
    n_text: int = Int
    rows: Ints = Array(Int, "n_rows", HELD_COLUMNS)
    slots: Ints = Array(Int, "n_slots")
    text: Bytes = Array(Byte, "n_text")


class Scan(Struct):
    """A block that is scanned, and what is found in it (`relfast_kernels.text.lines`).

    ``data`` has whole lines; the last may lack its line feed. ``stop`` is the number of lines that are read;
    ``lines`` has room for one row more. Scoring lines and holding those of a gold file begins with line
    ``start``; the block begins at ``base`` in the bytes of all gold files, with line ``first_line`` of its
    own. ``chosen`` is the filter of lm-evaluation-harness that is scored; ``joined`` are the rows of gold
    files that lines are joined with, or become. ``records`` are the responses of lines that are `FAST` or
    `FIELDS`; ``scratch`` receives texts that they point to. ``state`` has zeros at first; if it wants room
    for records or texts, more is given, with the old copied.
    """

    start: int = Int
    stop: int = Int
    base: int = Int
    first_line: int = Int
    n_data: int = Int
    n_lines: int = Int
    n_chosen: int = Int
    n_records: int = Int
    n_scratch: int = Int
    data: Bytes = Const(Byte, "n_data")
    lines: Ints = Array(Int, "n_lines", LINE_COLUMNS)
    settings: Ints = Const(Int, SET_SIZE)
    chosen: Bytes = Const(Byte, "n_chosen")
    table: Table = Inner(Table)
    joined: Held = Inner(Held)
    golds: Golds = Inner(Golds)
    work: Work = Inner(Work)
    records: Ints = Array(Int, "n_records", RECORD_COLUMNS)
    scratch: Bytes = Array(Byte, "n_scratch")
    state: Ints = Array(Int, STATE_SIZE)


class Response(NamedTuple):
    """A response: text[start:end], UTF-8."""

    text: Bytes
    start: int
    end: int


class Said(NamedTuple):
    """A line that is searched for what it says of its task and answer: its bytes, whose tokens ``work`` has;
    and where the texts are undone that hold JSON: ``scratch`` up to ``limit``, their tokens in
    ``work.said``, from 1 on."""

    data: Bytes
    table: Table
    work: Work
    scratch: Bytes
    limit: int


class Room(NamedTuple):
    """Scratch space: free from ``used`` on for what is kept, and from ``beyond`` on for temporary data."""

    scratch: Bytes
    used: int
    beyond: int


class Outlined(Struct):
    """An outline: the form of its line (-1: there is none), and its size; and where in ``out`` the object is
    that is gold, or the string that holds one (an end of 0: there may be none)."""

    form: int = Int
    size: int = Int
    gold: Span = Inner(Span)


class Outline(Struct):
    """A line ``data[start:end]`` that is outlined, or a part of one that is searched for large integers;
    ``out`` has room for a line four times, and for twice `OUTLINE_ROOM` bytes."""

    start: int = Int
    end: int = Int
    found: Outlined = Inner(Outlined)
    n_data: int = Int
    n_out: int = Int
    data: Bytes = Const(Byte, "n_data")
    out: Bytes = Array(Byte, "n_out")
    table: Table = Inner(Table)
    work: Work = Inner(Work)


class Judging(Struct):
    """A text (UTF-8) that is scored against a gold, whose number ``record`` has in place of its key. Key,
    vote and, with details, where taxa are in ``scratch`` are filled in; the key of a text that only Python
    can score is `UNKNOWN`."""

    n_text: int = Int
    n_scratch: int = Int
    text: Bytes = Const(Byte, "n_text")
    record: Ints = Array(Int, RECORD_COLUMNS)
    settings: Ints = Const(Int, SET_SIZE)
    golds: Golds = Inner(Golds)
    work: Work = Inner(Work)
    scratch: Bytes = Array(Byte, "n_scratch")


class Templates(Struct):
    """Templates of rows: ``keys``, that of each; ``slots``, a hash table of their numbers (from 1 on);
    ``parts``, where their parts are in ``text``, `TEMPLATE_PARTS` + 1 offsets of which the last is the next
    one's first; and ``counts``, for how many rows each was used."""

    n_text: int = Int
    keys: Ints = Array(Int, MOST_TEMPLATES)
    slots: Ints = Array(Int, TEMPLATE_SLOTS)
    parts: Ints = Const(Int, TEMPLATE_PARTS * MOST_TEMPLATES + 1)
    text: Bytes = Const(Byte, "n_text")
    counts: Ints = Array(Int, MOST_TEMPLATES)


class Writing(Struct):
    """Rows and samples of the records from ``start`` to ``stop`` of a scanned block, whose first line has the
    index ``first_index`` in its run. There are ``n_known`` templates; if one is wanted, its key has been
    entered as the next one's already. ``out`` and ``samples`` are filled; the second is large enough.
    ``written``: bytes in both, and why writing stopped."""

    start: int = Int
    stop: int = Int
    first_index: int = Int
    n_known: int = Int
    n_out: int = Int
    n_samples: int = Int
    scan: Scan = Inner(Scan)
    templates: Templates = Inner(Templates)
    out: Bytes = Array(Byte, "n_out")
    samples: Bytes = Array(Byte, "n_samples")
    written: Ints = Array(Int, WRITTEN_SIZE)


class Naming(Struct):
    """The text of a question (UTF-8) and the JSON of a gold's `GOLD_FIELDS`, which becomes that of
    `GOLD_COLUMNS`; ``out`` has room for twice the question, twenty times the gold, and 64 bytes more. The
    ``settings``, those of a scan, say ``strict``."""

    n_question: int = Int
    n_gold: int = Int
    n_out: int = Int
    question: Bytes = Const(Byte, "n_question")
    gold: Bytes = Const(Byte, "n_gold")
    settings: Ints = Const(Int, SET_SIZE)
    work: Work = Inner(Work)
    out: Bytes = Array(Byte, "n_out")


class Digested(Struct):
    """A text of which a digest is made, for `digest_id` by a seed."""

    seed: int = Int
    n_text: int = Int
    text: Bytes = Const(Byte, "n_text")


class Cut(Struct):
    """A text whose reasoning is cut by ``names``, which are `MARKS` and no others (``own_only``); ``out`` has
    room for it. The rest is ``kept``, of ``out`` if it had to be put together."""

    own_only: int = Int
    kept: Span = Inner(Span)
    n_text: int = Int
    n_out: int = Int
    text: Bytes = Const(Byte, "n_text")
    out: Bytes = Array(Byte, "n_out")
    names: Names = Inner(Names)


class Opened(Struct):
    """A form of an answer: its number, where it opens, and how many bytes it holds."""

    form: int = Int
    start: int = Int
    size: int = Int


class Marked(Struct):
    """A text whose marked answer is read, undressed by ``how`` into ``out``, which has room for twice the
    text and `FORM_ROOM` bytes."""

    how: int = Int
    found: Opened = Inner(Opened)
    n_text: int = Int
    n_out: int = Int
    n_fences: int = Int
    text: Bytes = Const(Byte, "n_text")
    out: Bytes = Array(Byte, "n_out")
    fences: Ints = Array(Int, "n_fences")
