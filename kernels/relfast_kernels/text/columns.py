"""The table of paths by which `projection` finds fields in rows: columns of its parts, each defined once.

`relfast.engine.columns.text_table` fills it from the table of dialects. Paths are spans of steps; a list of
paths or conditions takes two columns, its first and the one after its last. -1 stands for none.
"""

from __future__ import annotations

from typing import Final

STEP_KIND, STEP_NAME, STEP_NAME_END, STEP_WORD, STEP_WORD_END, STEP_LACKS, STEP_INDEX, STEP_MEMBER = range(8)
STEP_COLUMNS: Final = 8
"""A step of a path: its kind; where its name and a second word are among the names; whether it requires the
contrary; an index in a list, or 1 if its word is a literal; and, of a first step, the member of the row."""
NAME, OPTIONAL, INDEX, EACH, FLAT, IS, HAS, AN_OBJECT, A_LIST, NAME_OR_INDEX, HAS_OR_NOT = range(11)
"""Kinds of steps, as `relfast.formats.paths` explains them; NAME_OR_INDEX is for ``--map``."""

TEST_PATH, TEST_ASKS, TEST_EACH = range(3)
TEST_COLUMNS: Final = 3
"""A condition: its path, what is required of the value there, and a path that each item of it must have."""
IS_THERE, IS_OBJECT, IS_LIST, IS_NULL, IS_ABSENT, UNDECIDED = range(6)
"""What is required; UNDECIDED: only Python can tell."""

WAY_FORM, WAY_MEMBERS, WAY_TESTS, WAY_TESTS_END = range(4)
WAY_COLUMNS: Final = 4
"""A way to recognise a form: the form, the members that the row must have (bits), and further conditions."""

(
    FORM_ID,
    FORM_ID_END,
    FORM_PROMPT,
    FORM_PROMPT_END,
    FORM_NUMBER,
    FORM_NUMBER_END,
    FORM_DEPENDS,
    FORM_ANSWER,
    FORM_ANSWER_END,
    FORM_QUESTION,
    FORM_QUESTION_END,
    FORM_GUARDS,
    FORM_GUARDS_END,
    FORM_STATUS,
    FORM_STATUS_END,
    FORM_RESPONSE,
    FORM_SAID,
    FORM_SAID_END,
    FORM_FILTER,
    FORM_FLAGS,
) = range(20)
FORM_COLUMNS: Final = 20
"""A form, which is a layout of rows: paths to ids, to what an id is a digest of (if all are there), and to
the tool's own number; members on which the rest of a record depends (bits), paths to its task and answer, and
to its question; paths to what must not be there (guards), to a status, and to the response; sources of
responses (`SAID_COLUMNS`); the member that names a filter; and flags."""
FIRST_COUNTS, NUMBERS_JOIN, NOT_EMPTY, HIDES_ROW, IS_BARE, ASKS_UNSEEN, DIGESTS_PROMPT = (
    1,
    2,
    4,
    8,
    16,
    32,
    64,
)
"""Flags of a form. FIRST_COUNTS: the first id that is there counts, even null, unless there is a digest.
NUMBERS_JOIN: rows without an id of ours join gold by what they ask. NOT_EMPTY: an empty response is none.
HIDES_ROW: the row has its response where a task may look for something else. IS_BARE: without the members
that the rest depends on, only the id identifies a row. ASKS_UNSEEN: only Python finds a row's question.
DIGESTS_PROMPT: the id is a digest of the first of its prompts and the answer."""

SAID_ITEMS, SAID_ITEMS_END, SAID_SAYS, SAID_SAYS_END, SAID_LAST, SAID_INSTEAD, SAID_ERROR, SAID_REASON = (
    range(8)
)
SAID_COLUMNS: Final = 8
"""A source of responses: paths to samples, ways to read their texts; whether only the last sample counts;
paths to a text that replaces it, to an error, and to why the text ended."""
SAY_HOW, SAY_PATH = range(2)
SAY_COLUMNS: Final = 2
SAYS_TEXT, SAYS_TEXTS, SAYS_MESSAGE, SAYS_VALUE = range(4)
"""A way to read a sample's text: how, and the path from the sample."""

MEMBER_NAME, MEMBER_NAME_END, MEMBER_BIT = range(3)
MEMBER_COLUMNS: Final = 3
"""A member of a row: where its name is among the names, and its bit in sets of members (0: in none)."""
MOST_MEMBERS: Final = 128
MOST_BITS: Final = 63
LONGEST_MEMBER: Final = 32
"""The most members of a row that the table can know, and that can have bits; their longest name's length."""

GOLD_VALUE, GOLD_TAXA, GOLD_TEXT, GOLD_TEXT_END = range(4)
GOLD_SIZE: Final = 4
"""Facts about a line's gold: its panel or label, how many taxa, where in the scratch space they are."""
