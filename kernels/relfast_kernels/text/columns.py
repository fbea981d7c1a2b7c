"""The table by which `projection` finds fields in rows: columns of its parts, each written down once.

`relfast.engine.text_table` fills it from the table of dialects. Paths are rows of steps; where a list of
paths or conditions is wanted there are two columns, its first and the one after its last. -1 stands for none.
"""

from __future__ import annotations

from typing import Final

STEP_KIND, STEP_NAME, STEP_NAME_END, STEP_WORD, STEP_WORD_END, STEP_LACKS, STEP_INDEX, STEP_MEMBER = range(8)
STEP_COLUMNS: Final = 8
"""A step: its kind; where its name and a second word are among the names; whether it asks for the contrary;
which item of a list, or 1 where its word is a literal; and which member of the row, where it is a first
step."""
NAME, OPTIONAL, INDEX, EACH, FLAT, IS, HAS, AN_OBJECT, A_LIST, NAME_OR_INDEX = range(10)
"""Kinds of steps, as `relfast.formats.paths` explains them; the last is one of ``--map``."""

TEST_PATH, TEST_ASKS, TEST_EACH = range(3)
TEST_COLUMNS: Final = 3
"""A condition: its path, what is asked of the value there, and the path that each item of that list has."""
IS_THERE, IS_OBJECT, IS_LIST, IS_NULL, IS_ABSENT, UNDECIDED = range(6)
"""What is asked; the last only Python knows."""

WAY_FORM, WAY_MEMBERS, WAY_TESTS, WAY_TESTS_END = range(4)
WAY_COLUMNS: Final = 4
"""A way to know a form: the form, the members that the row has (bits), and further conditions."""

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
"""A form: paths to ids, to what an id is a digest of (if all are there), and to the tool's own number;
members on which the rest of a record depends (bits), paths to its task and answer, and to its question;
paths to what must not be there, to a status, and to the response; what is said; the member that names a
filter; and flags."""
FIRST_COUNTS, NUMBERS_JOIN, NOT_EMPTY, HIDES_ROW, IS_BARE = 1, 2, 4, 8, 16
"""Flags: the first id counts, null or not, and after the digest; gold is joined by what rows ask that have no
id of ours; an empty response is none; the row has a response where a task may look for something else;
without the members that the rest depends on nothing but the id says anything of it."""

SAID_ITEMS, SAID_ITEMS_END, SAID_SAYS, SAID_SAYS_END, SAID_LAST, SAID_INSTEAD, SAID_ERROR, SAID_ENDS = range(
    8
)
SAID_COLUMNS: Final = 8
"""What is said: paths to samples, ways to say it; whether the last sample is meant; paths to the text once
more and to an error; and whether an empty text has a reason."""
SAY_HOW, SAY_PATH = range(2)
SAY_COLUMNS: Final = 2
SAYS_TEXT, SAYS_TEXTS, SAYS_MESSAGE, SAYS_VALUE = range(4)
"""A way to say it: how, and the path from the sample."""

MOST_MEMBERS: Final = 63
LONGEST_MEMBER: Final = 32
"""Members of the row that the table knows, a bit each; and their longest name."""
TABLE_PARTS: Final = 10
"""Parts of the table, as `projection.Table` has them: a scan is told where each is and how many it has."""

GOLD_VALUE, GOLD_TAXA, GOLD_TEXT, GOLD_TEXT_END = range(4)
GOLD_SIZE: Final = 4
"""What is known of a line's gold: its panel or label, how many taxa, where in the scratch space they are."""
