"""Constants that kernels and their callers share: columns, bits, codes and sizes, each defined once.

Those of a single package are in its own module `layouts` (`smiles`, `mcs`, `motif`, `tags`, `maze`).

Plain numbers and names: importing this loads neither numba nor numpy, so a caller that only passes memory to
machine code (`relfast_kernels.compiled.native`) imports nothing else of the kernels.
"""

from __future__ import annotations

from typing import Final

UNKNOWN: Final = -1
"""Result of a kernel that cannot decide: only Python, or RDKit, can."""

# Text: lines of REL-A, B1 and C1 (`relfast_kernels.text.lines`)

SLOW, BLANK, FAST, FIELDS = 0, 1, 2, 3
"""Kinds of lines. SLOW: left to ordinary code, which decodes and scores it. BLANK: has no row. FAST: scored
by the kernel. FIELDS: its responses and its gold have been located, but not scored."""

(
    LINE_START,
    LINE_END,
    LINE_KIND,
    LINE_RECORD,
    LINE_DIGEST,
    LINE_GOLD,
    LINE_REST,
    LINE_HELD,
    LINE_SHAPE,
    LINE_SAID,
    LINE_ASKED,
) = range(11)
LINE_COLUMNS: Final = 11
"""Columns of a line: start and end, kind, number of its first record; a digest of all that its records depend
on besides their responses (and besides their id, unless gold is joined by id); the number of its gold; one of
`SAYS_MORE` …; the number of the row of a gold file that it is joined with by its id alone, or `UNKNOWN`; a
digest of task and answer without what the answer's members hold (0: there is none); where its gold was read
(`IN_DATA` …); and a digest of what its records depend on besides a number that the tool gave, which makes no
difference if gold is found by the line's question (0: it has no number, or an id of ours). Of a line of a
gold file the digests are that of its id alone and that of task and answer; its gold and its rest are where
its JSON (`GOLD_COLUMNS`) begins and ends in the scratch space. One more row follows the last line: its first
record is the number of all records."""
SAYS_MORE, HAS_ID_ONLY, ID_OF_GOLD, ID_OF_PROMPT, PROMPT_OF_GOLD = range(5)
"""What a line has besides id and responses, in this order, as comparisons use it. SAYS_MORE: members that its
gold depends on; HAS_ID_ONLY: nothing. From `ID_OF_GOLD` on the id or the prompt comes with the gold: members
determine both; after that it is a digest, of a text with the gold, that is the id (ID_OF_PROMPT) or the
prompt of rows without an id (PROMPT_OF_GOLD)."""
GOLD_UNKNOWN: Final = -1
"""In place of the number of a line's gold: Python has not prepared it."""

(
    RECORD_LINE,
    RECORD_SAMPLE,
    RECORD_ID,
    RECORD_ID_END,
    RECORD_KEY,
    RECORD_HASH,
    RECORD_VOTE,
    RECORD_PRED,
    RECORD_PRED_END,
    RECORD_GOLD,
    RECORD_GOLD_END,
    RECORD_TEXT,
    RECORD_TEXT_END,
    RECORD_ESCAPED,
) = range(14)
RECORD_COLUMNS: Final = 14
"""Columns of a record (a response): its line and sample number, where in the scratch space the JSON of its id
is (nowhere, if it ends where it begins), its key (`KEY_TASK`), the hash of its id, its vote (a number for its
answer; 0: none), with details where in the scratch space the JSON of predicted and gold taxa is, where in the
block the response's text is (UTF-8), and whether that is a JSON string with escapes, which are undone only
while it is scored. Positions are byte offsets; an end is the offset after the last byte."""
IN_DATA, IN_SCRATCH, IN_HELD = range(3)
"""Values of `LINE_SAID`: a line's gold is in the block, in the scratch space, or in a gold file's row."""

STATE_LINES, STATE_RECORDS, STATE_USED, STATE_WANTS = range(4)
STATE_SIZE: Final = 4
"""Progress of a scan: lines read, records written, bytes of scratch space used, and why it stopped."""
WANTS_NOTHING, WANTS_RECORDS, WANTS_SCRATCH = 0, 1, 2
"""Why a scan stopped: all is read, or there is no room for a line's records, or none for its texts."""
SCRATCH_PER_BYTE: Final = 16
SCRATCH_PER_LINE: Final = 1 << 14
"""The most scratch space, in bytes, that a line can need: per byte of the line, and a constant."""

(
    SET_STRIP,
    SET_DETAILS,
    SET_JOIN,
    SET_FILTER,
    SET_STRICT,
    SET_LEAST,
    SET_SEED,
    SET_PROMPTS,
    SET_IS_GOLD,
) = range(9)
SET_SIZE: Final = 9
"""Settings of a scan (int64): what to do about reasoning, whether details are wanted, whether gold is joined
by id, whether one filter of lm-evaluation-harness is chosen, whether the policy is ``strict``, the smallest
F1 of a correct REL-B1 yes (the bits of a float64), a secret seed, so that no digest can be forged, which ids
do not tell prompts apart (`NUMBERS_REPEAT`), and whether the lines are those of a gold file, without
responses."""
NUMBERS_REPEAT, ALL_IDS_REPEAT = 1, 2
"""`SET_PROMPTS`: missing ids and numbers that a tool gave; or all ids, since there are several files. Rows
with such ids say by a digest of their question which prompt they belong to."""
KEEPS, CUTS, IS_CUT = range(3)
"""`SET_STRIP`: reasoning is kept (``reference`` only), has to be cut, or has been cut already."""

GOLD_MEMBERS: Final = (
    "task",
    "question",
    "answer",
    "context",
    "completion",
    "structural_details",
    "instance_metadata",
    "complexity_parameters",
)
"""Members of an input row, in any dialect, that a record can depend on besides its id and response."""

TOKEN_KIND, TOKEN_START, TOKEN_END, TOKEN_NEXT = range(4)
TOKEN_COLUMNS: Final = 4
"""Columns of a JSON value's token: its kind, start and end (of a string: without quotes), and the number of
the token that follows the value."""
STRING, ESCAPED, INTEGER, FLOAT, LITERAL, OBJECT, LIST = range(7)
"""Kinds of tokens: a string without escapes, a string with escapes, an integer, a number that some parsers
cannot represent, any other literal or number, an object, a list."""
MAX_DEPTH: Final = 60
"""The deepest nesting of containers that is parsed."""
MAX_TOKENS: Final = 1 << 16
"""The most JSON values of a line that is parsed; a line with more is `SLOW`."""

MAX_ID_DIGITS: Final = 18
"""The most digits of an integer that every JSON parser keeps exactly."""

GOLD_TASK, GOLD_TEXT_AT, GOLD_TEXT_STOP, GOLD_ID, GOLD_ID_END = range(5)
GOLD_FIELDS: Final = ("target", "label", "taxa", "taxa_as")
GOLD_COLUMNS: Final = 5
"""Columns of a gold that Python has prepared: the number of its task (-1: none that is scored here), and,
within the text of all golds, where its JSON is and where that of its rows' id is (`ID_OF_GOLD`). The JSON
is an object with its `GOLD_FIELDS`; under ``strict`` a yes of REL-B1 is a list of that object and the numbers
of the taxa that are compared, or null if only Python can tell them."""
(
    HELD_START,
    HELD_END,
    HELD_ID,
    HELD_LAST,
    HELD_LINE,
    HELD_SHAPE,
    HELD_GOLD,
    HELD_GOLD_END,
    HELD_SUM,
) = range(9)
HELD_COLUMNS: Final = 9
"""Columns of a row of the gold files: where its line is in the bytes of all, a digest of its id, the last row
with its id (-1 if another row was the first), the number of its line, a digest of task and answer without
what the answer's members hold (0: there is none), where its gold's JSON (`GOLD_COLUMNS`) is in the text of
all rows, and a digest of its line."""
SHORTEST_QUESTION: Final = 16
"""In characters; a shorter question is not searched for within prompts."""
ROW_UNSEEN: Final = 1
"""Bit of a digest that does not cover the whole row: a task with ``row_fields`` shares no gold by it."""

MAX_TAXA: Final = 8_192
"""The most distinct taxon numbers of a REL-B1 response or gold; a record with more is left to Python."""
TAXA_SLOTS: Final = 2 * MAX_TAXA
"""Slots of the hash table of a set of taxa. One more place has its generation: how often it was emptied."""

B1, C1 = 7, 8
"""Numbers of tasks in keys and samples: REL-A1 to A7 have 0 to 6. The tasks declare them."""

KEY_TASK: Final = 15
"""A record's key packs its outcome into an int64; rows of one key share a template. Bits 0 to 3: task."""
FOUND, CORRECT, GOLD_YES = 1 << 4, 1 << 5, 1 << 6
REASON_SHIFT: Final = 7
REASONS: Final = (
    None,
    "no_answer",
    "several_answers",
    "out_of_range",
    "empty",
    "only_reasoning",
    "guessed_taxa",
    "too_long",
    "no_taxa",
)
"""Why ``strict`` turned a response down: bits 7 to 10 of a key are the index in this tuple."""
KEY_REASON: Final = 15
PRED_VALUE_SHIFT, GOLD_VALUE_SHIFT = 11, 15
KEY_VALUE: Final = 15
"""With details, where a key has the predicted and the gold value, 4 bits each: panels (from 0); or labels:
0 none, 1 no, 2 yes."""
NO_PANEL: Final = 15
"""In place of a panel under ``strict``: none was chosen."""
TP_SHIFT, PRED_SHIFT, GOLD_SHIFT = 20, 34, 48
"""Where a key of REL-B1 has its counts of taxa: true positives, predicted, gold."""
KEY_COUNT: Final = (1 << 14) - 1
"""Mask of such a count after the shift."""

WRITTEN_ROWS, WRITTEN_SAMPLES, WRITTEN_WANTS = range(3)
WRITTEN_SIZE: Final = 3
WANTS_TEMPLATE, WANTS_ROOM = 1, 2
"""What writing rows reports: bytes of rows and of samples, and why it stopped before the end."""
TEMPLATE_PARTS: Final = 4
"""Parts of a row after its id: up to the sample, up to the predicted taxa, up to the gold ones, the rest."""
TEMPLATE_SLOTS: Final = 1 << 14
"""Slots of the hash table of templates by key."""
MOST_TEMPLATES: Final = 4_096
"""The most templates that are kept. Rows differ by task, outcome and, where there are metrics, counts; a run
has some hundreds of kinds, unless its responses are full of numbers."""

SAMPLE_BYTES: Final = 14
"""A response as the statistics keep it: task (1 byte), prompt hash (8), vote (4), correct (1);
`relfast.stats.samples.SAMPLE`."""
SAMPLE_FURTHER: Final = 128
"""Added to the task byte of each sample of a line but the first."""
SAMPLE_ASKED: Final = 64
SAMPLE_NO_ID: Final = 32
"""Added to the task byte of a sample whose row names its prompt besides its id, and if it has no id."""
PROMPT_MARK: Final = b',"prompt":"'
PROMPT_ID: Final = "prompt-"
PROMPT_DIGITS: Final = 16
"""How a row names its prompt behind its id: this text, so many hexadecimal digits and a quote. The part of
the row from the id on to here is the prompt's key."""

N_CHOICES: Final = 8
"""Choices of a question of REL-A."""
MAX_STRICT: Final = 1_000_000
"""The longest response that ``strict`` reads, in characters; kernels leave one of more bytes to Python. It is
longer than any model's output window today (≈ 500 kB)."""

PATTERN_WORK: Final = 1 << 13
"""Work space of ``strict`` in int64: places of fences, taxa of a claim and of gold (`text.answers`)."""

# Alignments (`relfast_kernels.align`)

MATCH, SKIP_BENCHMARK, SKIP_LLM = range(3)
"""Moves of an alignment path: two steps matched, the reference's step skipped, the model's skipped."""

# Plans and mazes (`relfast_kernels.text.plans`, `relfast_kernels.maze`)

ACTIONS: Final = ("start", "move_to", "pick_up_key", "use_key", "unlock_and_open_door_to", "rescue")
"""The six actions of a plan; their indices are the codes below."""
START, MOVE, PICK_UP, USE, UNLOCK, RESCUE = range(len(ACTIONS))
BAD: Final = len(ACTIONS)
"""Code of an item of a plan that is no action."""

ITEM_KIND, ITEM_TEXT, ITEM_PARAM, ITEM_END, ITEM_HASH = range(5)
ITEM_COLUMNS: Final = 5
"""Columns of an item of a plan: the code of its action, where its text begins, where its parameter begins and
ends (of a BAD item: its text), and the hash of the parameter."""

NO_DOOR: Final = -1
"""In place of a door index: nothing is locked between the two rooms."""
NO_KEY: Final = -1
"""In place of a key index: nothing opens that door."""

VIOLATIONS: Final = (
    "unparsable",
    "bad_action",
    "wrong_start",
    "not_adjacent",
    "door_locked",
    "key_not_here",
    "key_not_held",
    "wrong_key",
    "no_such_door",
    "wrong_rescue",
    "no_rescue",
    "after_rescue",
)
"""What can be wrong with a plan; their indices are the codes below."""
(
    UNPARSABLE,
    BAD_ACTION,
    WRONG_START,
    NOT_ADJACENT,
    DOOR_LOCKED,
    KEY_NOT_HERE,
    KEY_NOT_HELD,
    WRONG_KEY,
    NO_SUCH_DOOR,
    WRONG_RESCUE,
    NO_RESCUE,
    AFTER_RESCUE,
) = range(len(VIOLATIONS))
LEGAL: Final = -1
"""In place of a violation."""

REACHED_SHARE: Final = 0.5
"""The most that a plan without the rescue can score; the shortest complete plan scores 1."""

UNSOLVABLE: Final = 0
"""In place of a shortest plan's length: no plan rescues."""
TOO_LARGE: Final = -1
"""In place of a shortest plan's length: the search was given up at one of its limits."""
