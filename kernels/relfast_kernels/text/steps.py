"""The table of dialects as steps, which Python follows in decoded rows and `projection` in a line's bytes.

`relfast.formats.steps` compiles the table, `relfast.engine.columns.text_table` writes it into the arrays of
`Table`. A path is a span of steps; several paths or conditions are a span of those, as are members of a row
of their numbers.
"""

from __future__ import annotations

from typing import Final

from relfast_kernels.entry import Array, Byte, Bytes, Const, Inner, Int, Ints, Rows, Struct

(
    NAME,
    OPTIONAL,
    INDEX,
    EACH,
    FLAT,
    IS,
    HAS,
    HAS_OR_NOT,
    AN_OBJECT,
    A_LIST,
    NAME_OR_INDEX,
    DECODED,
    DECODED_TEXT,
    PICK,
    SPARSE,
) = range(15)
"""Kinds of steps, as `relfast.formats.paths` explains them; of NAME_OR_INDEX and DECODED_TEXT are paths of
``--map``."""
ONLY_PYTHON: Final = PICK
"""The first of the kinds that only Python follows: a line in which such a step is reached is left to it."""

IS_ABSENT, IS_NULL, IS_TRUTH, IS_NUMBER, IS_TEXT, IS_OBJECT, IS_LIST, IS_NO_ERROR = (
    1 << bit for bit in range(8)
)
"""Kinds of values, as bits of what a condition asks for. IS_NO_ERROR: only Python can tell."""

TEXT, TEXTS, MESSAGE, VALUE = range(4)
"""How the text of a sample is read at a path: one text; texts to be joined; a chat message; any value."""


class Span(Struct):
    """Where a text, or a list of records, starts and ends."""

    start: int = Int
    end: int = Int


class Step(Struct):
    """A step of a path: its kind; its name and a second word, among the names; whether it requires the
    contrary; an index in a list, or 1 if its word is a literal (of NAME_OR_INDEX: if ``lacks``); and, of a
    row's path, the number of the member with which it begins, or -1."""

    kind: int = Int
    name: Span = Inner(Span)
    word: Span = Inner(Span)
    lacks: int = Int
    index: int = Int
    member: int = Int


class Condition(Struct):
    """A condition: a path, which kinds of values are asked for there (bits), and a path that must lead on
    from each item, or none (a span of paths)."""

    path: int = Int
    asks: int = Int
    each: Span = Inner(Span)


class Way(Struct):
    """A way to recognise a form: the members that the row must have, and further conditions."""

    form: int = Int
    members: Span = Inner(Span)
    conditions: Span = Inner(Span)


class Say(Struct):
    """A way to read a sample's text: how (`TEXT` …), and the path from the sample."""

    how: int = Int
    path: int = Int


class Source(Struct):
    """A source of responses: paths to samples, ways to read their texts, and whether only the last sample
    counts; paths to a text that replaces it, to an error, and to why the text ended."""

    items: Span = Inner(Span)
    says: Span = Inner(Span)
    last: int = Int
    instead: Span = Inner(Span)
    error: Span = Inner(Span)
    reason: Span = Inner(Span)


class Form(Struct):
    """A form, which is a layout of rows: paths to ids, to a prompt and a gold of which a digest is the id (if
    both are there), and to the tool's own number; to task (``n_tasks`` paths) and answer, and to the
    question; to what must not be there (guards), to a status, and to the response; sources of responses;
    members on which the rest of a record depends, and which of these (``asked``) if gold of ``--data`` that
    it asks for is found; and the member that names a filter, or -1. Then what is
    true of it (0 or 1):

    ``first_counts``: the first id that is there counts, even null, unless there is a digest.
    ``numbers_join``: rows without an id of ours join gold by what they ask.
    ``not_empty``: an empty response is none.
    ``hides_row``: the row has its response where a task may look for something else.
    ``asks_in_chat``: a question that is a chat is the text of its user's last message.
    ``is_bare``: without the members that the rest depends on, only the id identifies a row.
    ``digests_prompt``: the id is a digest of a prompt at one path, and the answer.
    """

    ids: Span = Inner(Span)
    digested: Span = Inner(Span)
    golds: Span = Inner(Span)
    numbers: Span = Inner(Span)
    answers: Span = Inner(Span)
    questions: Span = Inner(Span)
    guards: Span = Inner(Span)
    statuses: Span = Inner(Span)
    response: Span = Inner(Span)
    sources: Span = Inner(Span)
    depends: Span = Inner(Span)
    asked: Span = Inner(Span)
    filter: int = Int
    n_tasks: int = Int
    first_counts: int = Int
    numbers_join: int = Int
    not_empty: int = Int
    hides_row: int = Int
    asks_in_chat: int = Int
    is_bare: int = Int
    digests_prompt: int = Int


class Member(Struct):
    """A member of a row that the table knows: its name among the names, and its number."""

    name: Span = Inner(Span)
    number: int = Int


class Table(Struct):
    """The steps of a job: ``members`` of rows, sorted by length, and where those of a length begin
    (``of_length``); ``fields``, the token of each in the row that is read, by number; ``numbers`` of members;
    and paths to ``reasons`` why the text of any row ended, with those by which it counts as it is (``ends``).
    """

    n_names: int = Int
    n_members: int = Int
    n_lengths: int = Int
    n_numbers: int = Int
    n_steps: int = Int
    n_paths: int = Int
    n_conditions: int = Int
    n_ways: int = Int
    n_forms: int = Int
    n_sources: int = Int
    n_says: int = Int
    n_ends: int = Int
    reasons: Span = Inner(Span)
    names: Bytes = Const(Byte, "n_names")
    members: Rows[Member] = Const(Member, "n_members")
    of_length: Ints = Const(Int, "n_lengths")
    fields: Ints = Array(Int, "n_members")
    numbers: Ints = Const(Int, "n_numbers")
    steps: Rows[Step] = Const(Step, "n_steps")
    paths: Rows[Span] = Const(Span, "n_paths")
    conditions: Rows[Condition] = Const(Condition, "n_conditions")
    ways: Rows[Way] = Const(Way, "n_ways")
    forms: Rows[Form] = Const(Form, "n_forms")
    sources: Rows[Source] = Const(Source, "n_sources")
    says: Rows[Say] = Const(Say, "n_says")
    ends: Rows[Span] = Const(Span, "n_ends")
