"""What kernels and their callers both have to know: columns, bits, codes and sizes, each written down once.

What concerns molecules, tags or mazes alone stands in their folders (`smiles.layouts`, `mcs.layouts`,
`tags.layouts`, `maze.layouts`).

Plain numbers and names: importing this loads neither numba nor numpy, so that callers which only hand memory
to machine code (`relfast_kernels.compiled.native`) need nothing else of the kernels.
"""

from __future__ import annotations

from typing import Final

UNKNOWN: Final = -1
"""Instead of a result: only Python, or RDKit, can say."""

# Text: lines of REL-A, B1 and C1 (`relfast_kernels.text.lines`)

SLOW, BLANK, FAST, FIELDS = 0, 1, 2, 3
"""Kinds of lines: one that ordinary code decodes and scores (the exact way), one without a row, one that has
been scored, and one whose responses and gold have been found, but not scored."""

LINE_START, LINE_END, LINE_KIND, LINE_RECORD, LINE_DIGEST, LINE_ANSWER, LINE_GOLD, LINE_REST = range(8)
LINE_COLUMNS: Final = 8
"""Columns of a line: where it is, its kind, its first record; a digest of what its records depend on beside
their responses (and their id, unless gold is joined by it), and one of task and answer alone (0: there is
none); the number of its gold, and `SAYS_MORE` or another. After the last line comes one more row, whose
first record is the number of all."""
SAYS_MORE, HAS_ID_ONLY, ID_OF_GOLD = range(3)
"""What a line has beside id and responses: members that its gold depends on; nothing; members that its gold
and its id depend on."""
GOLD_UNKNOWN: Final = -1
"""Instead of the number of a line's gold: Python has prepared none."""

(
    RECORD_LINE,
    RECORD_SAMPLE,
    RECORD_ID,
    RECORD_ID_END,
    RECORD_ID_PLACE,
    RECORD_KEY,
    RECORD_HASH,
    RECORD_VOTE,
    RECORD_PRED,
    RECORD_PRED_END,
    RECORD_GOLD,
    RECORD_GOLD_END,
    RECORD_TEXT,
    RECORD_TEXT_END,
    RECORD_TEXT_PLACE,
) = range(15)
RECORD_COLUMNS: Final = 15
"""Columns of a record: its line and sample, where the JSON of its id is, its key (`KEY_TASK`), its id's hash,
its vote (a number for its answer; 0: none), where in the scratch space the JSON of predicted and gold taxa
is, for details, and where its response is, as UTF-8. All are byte offsets, an end is behind the last byte."""
IN_DATA, IN_SCRATCH, NOWHERE = 0, 1, 2
"""A column ..._PLACE: whether the id or response is in the line or in the scratch space, or there is none."""

STATE_LINES, STATE_RECORDS, STATE_USED, STATE_WANTS = range(4)
STATE_SIZE: Final = 4
"""What a scan has read and written so far: lines, records, bytes of scratch space; and why it stopped."""
WANTS_NOTHING, WANTS_RECORDS, WANTS_SCRATCH = 0, 1, 2
"""Why a scan stopped: all is read, or there is no room for a line's records or texts."""
SCRATCH_PER_BYTE: Final = 16
SCRATCH_PER_LINE: Final = 1 << 14
"""Bytes of scratch space that a line can take at most: so many for each of its bytes, and so many more."""

(
    SET_STRIP,
    SET_DETAILS,
    SET_JOIN,
    SET_FILTER,
    SET_STRICT,
    SET_LEAST,
    SET_SEED,
) = range(7)
SET_SIZE: Final = 7
"""Settings of a scan (int64): what is done about reasoning, whether details are wanted, whether gold is
joined by id, whether a filter of lm-evaluation-harness is chosen, whether the policy is ``strict``, the
smallest F1 of a right REL-B1 yes (bits of a float64), and a secret seed, so that no digest can be forged."""
KEEPS, CUTS, IS_CUT = range(3)
"""`SET_STRIP`: reasoning is kept (not by ``strict``), it is cut, or it has been cut before."""

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
"""Members of a row that a record without its id and response can depend on, in any dialect."""

TOKEN_KIND, TOKEN_START, TOKEN_END, TOKEN_NEXT = range(4)
TOKEN_COLUMNS: Final = 4
"""Columns of a JSON value's token: its kind, where it stands (a string: its inside), the token after it."""
STRING, ESCAPED, INTEGER, FLOAT, LITERAL, OBJECT, LIST = range(7)
"""Kinds of tokens: a string, one with escapes, a whole number, a number that not every parser can hold, any
other word or number, containers."""
MAX_DEPTH: Final = 60
"""Nesting that is followed."""
MAX_TOKENS: Final = 1 << 16
"""Values of a line that is read; more take the exact way."""

MAX_ID_DIGITS: Final = 18
"""Digits of a number that every JSON parser keeps exactly."""
WORK_PARTS: Final = 8
"""Addresses of the parts of a scan's work space, as `relfast_kernels.text.lines.Work` has them."""

GOLD_TASK, GOLD_TEXT_AT, GOLD_TEXT_STOP, GOLD_ID, GOLD_ID_END = range(5)
GOLD_FIELDS: Final = ("target", "label", "taxa")
GOLD_COLUMNS: Final = 5
GOLD_PARTS: Final = 4
"""Columns of a gold that Python has prepared: its task's number (-1: none that is read here), where in the
text of all of them its JSON is (its `GOLD_FIELDS` only) and that of the id of its rows (`ID_OF_GOLD`). And
the number of arrays in `relfast_kernels.text.lines.Golds`: a scan gets the address and length of each."""
SHORTEST_QUESTION: Final = 16
"""Characters; a shorter question is not looked for within prompts."""
ROW_UNSEEN: Final = 1
"""Bit of a digest: it does not tell all of the row, so a task with ``row_fields`` shares no gold by it."""

MAX_TAXA: Final = 8_192
"""Different numbers of a REL-B1 response or gold that are compared; more take the exact way."""
TAXA_SLOTS: Final = 2 * MAX_TAXA
"""Places of a set of them. One more behind them counts how often it was emptied (its generation)."""

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
)
"""Under ``strict``, why a response was turned down: bits 7 to 10 of a key are the place in this list."""
KEY_REASON: Final = 15
PRED_VALUE_SHIFT, GOLD_VALUE_SHIFT = 11, 15
KEY_VALUE: Final = 15
"""With details, where a key has what was predicted and what is gold, 4 bits each: panels (from 0); or labels:
0 none, 1 no, 2 yes."""
NO_PANEL: Final = 15
"""Instead of a panel under ``strict``: none was chosen."""
TP_SHIFT, PRED_SHIFT, GOLD_SHIFT = 20, 34, 48
"""Where a key of REL-B1 has its counts of taxa: true positives, predicted, gold."""
KEY_COUNT: Final = (1 << 14) - 1
"""A count's bits, once shifted down."""

WRITTEN_ROWS, WRITTEN_SAMPLES, WRITTEN_WANTS = range(3)
WRITTEN_SIZE: Final = 3
WANTS_TEMPLATE, WANTS_ROOM = 1, 2
"""What writing rows says: bytes of rows and of samples, and why it stopped before the end."""
TEMPLATE_PARTS: Final = 4
"""A row after its id: up to the sample, up to the predicted taxa, up to the gold ones, the rest."""
TEMPLATE_SLOTS: Final = 1 << 14
"""Places of the set of templates, by key."""
MOST_TEMPLATES: Final = 4_096
"""Templates that are kept. Rows differ by task, outcome and, where there are metrics, counts; a run has some
hundreds of kinds, unless its responses are full of numbers."""

SAMPLE_BYTES: Final = 14
"""A sample: task (1 byte), prompt hash (8), vote (4), correct (1); `relfast.stats.samples.SAMPLE`."""
SAMPLE_FURTHER: Final = 128
"""Added to the task of samples that are not the first of their line."""

(
    AT_RECORDS,
    N_RECORDS,
    AT_SCRATCH,
    N_SCRATCH,
    AT_SETTINGS,
    AT_GOLDS,
    AT_WORK,
    AT_LINES,
    N_LINES,
    AT_FILTER,
    N_FILTER,
    AT_TABLE,
    AT_STATE,
    FIRST_INDEX,
    AT_KEYS,
    N_KEYS,
    AT_SLOTS,
    AT_PARTS,
    AT_TEMPLATES,
    N_TEMPLATES,
    AT_COUNTS,
    AT_ROWS,
    N_ROWS,
    AT_SAMPLES,
    N_SAMPLES,
    AT_WRITTEN,
) = range(26)
CONTEXT_SIZE: Final = 26
"""What entries of the text kernel work with beside a block: addresses of arrays and how many items they have,
where that is not a constant. Judging texts needs those up to the work space, reading lines those up to the
state, writing rows the records, scratch space and what follows the state: the index of the first line; keys
of templates, how many are known, where each is found, where its parts are (offsets into the templates'
bytes), and rows per template; room for rows and for samples; and what was written."""

PATTERN_WORK: Final = 1 << 13
"""Work space in int64: places of fences, taxa of a claim and of gold (`relfast_kernels.text.answers`)."""

# Alignments (`relfast_kernels.align`)

MATCH, SKIP_BENCHMARK, SKIP_LLM = range(3)
"""Moves of an alignment path: two steps matched, one of the reference left alone, one of the model's."""

# Plans and mazes (`relfast_kernels.text.plans`, `relfast_kernels.maze`)

ACTIONS: Final = ("start", "move_to", "pick_up_key", "use_key", "unlock_and_open_door_to", "rescue")
"""The six actions; their places are the codes below."""
START, MOVE, PICK_UP, USE, UNLOCK, RESCUE = range(len(ACTIONS))
BAD: Final = len(ACTIONS)
"""An item of a plan that is no action."""

ITEM_KIND, ITEM_TEXT, ITEM_PARAM, ITEM_END, ITEM_HASH = range(5)
ITEM_COLUMNS: Final = 5
"""Columns of an item of a plan: its action, where its text begins, where its parameter begins and ends (the
text of a BAD one), the hash of the parameter."""

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
"""What can be wrong with a plan; their places are the codes below."""
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
"""What a plan without the rescue can be worth at most, where the shortest one is worth 1."""

UNSOLVABLE: Final = 0
"""In place of a shortest plan's length: no plan rescues."""
TOO_LARGE: Final = -1
"""In place of a shortest plan's length: the search was given up at one of its limits."""
