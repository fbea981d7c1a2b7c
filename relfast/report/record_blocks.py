"""Pack a page's records: an index of all, and blocks of texts that the browser unpacks on demand."""

from __future__ import annotations

import base64
import gzip
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, islice
from typing import Any, Final
from urllib.parse import urlencode

from relfast.records import STATUSES, Record, Score
from relfast.report.by_size import display_of
from relfast.report.page import OnStep, Records, ignore_step
from relfast.report.scored_rows import Kept, Scored, prompt_hash
from relfast.stats.samples import group_of
from relfast.tasks import TASKS
from relfast.tasks.base import resolve
from relfast.tasks.display import Exhibit, Mark, Shown

RECORDS_A_BLOCK: Final = 200
BLOCK_CHARS: Final = 600_000
"""A block is closed when it has so many records or characters."""
MAX_TEXT: Final = 100_000
"""Characters of a response or question on the page. A longer one is reduced to its beginning, its end and the
surroundings of the answer."""
INSIDE_CHARS: Final = 1_500_000
"""Maximum characters (base64) of the blocks in the page itself; further blocks are files beside it."""
MAX_GOLD: Final = 20_000
MAX_METRIC: Final = 2_000
AROUND: Final = 400
_STOPPED: Final = frozenset({"timeout", "crashed"})
"""Rows with these statuses have no exhibit: parsing their responses again could hang or crash the report."""


EXAMPLES: Final = 3
"""Maximum records of a kind that come first, of different prompts."""


def text_of(value: object) -> str:
    """A value as text without lone surrogates, which URLs, tables and pictures cannot contain."""
    return str(value).encode("utf-8", "replace").decode("utf-8")


def id_of(score: Score) -> str:
    """The name of a record on the page: its id, with its ``prompt`` if it has one, or its line number if it
    has neither. Lone surrogates are escaped, so that ids stay distinct."""
    parts = [part for part in (score.id, score.prompt) if part is not None] or [score.index]
    return " ".join(map(str, parts)).encode("utf-8", "backslashreplace").decode("utf-8")


def name_of(run: str, score: Score) -> str:
    """The place (URL fragment) of a row's record on the page."""
    parts = (run, group_of(score.task), id_of(score), score.sample)
    return place(record="/".join(map(text_of, parts)))


def place(**filters: str) -> str:
    """The URL fragment that opens one record (``record=…``) or filters records (``task=…``, ``model=…``)."""
    return urlencode({"view": "records", **{name: text_of(value) for name, value in filters.items()}})


def _examples(runs: Sequence[Scored]) -> set[str]:
    """The names of a few records of each kind."""
    found: dict[tuple[str, str, str], dict[str, str]] = {}
    for run in runs:
        for kept in run.sample:
            prompts = found.setdefault((run.name, group_of(kept.score.task), kept.kind), {})
            if len(prompts) < EXAMPLES:
                prompts.setdefault(id_of(kept.score), name_of(run.name, kept.score))
    return {name for prompts in found.values() for name in prompts.values()}


def pack(runs: Sequence[Scored], embedder: str = "auto", on_step: OnStep = ignore_step) -> Records | None:
    """Pack the records of runs; None if there are none. A few of each kind come first, so that they are in
    the page itself."""
    on_step("packing records")
    packer = _Packer()
    first = _examples(runs)
    notes, order = [], []
    for number, run in enumerate(runs):
        if not len(run.sample):
            continue
        drawn = _drawn(run)
        joined = 0
        for at, kept in enumerate(run.sample):
            joined += kept.record is not None
            # then by prompt, so that models share prompts
            later = name_of(run.name, kept.score) not in first
            order.append((later, prompt_hash(kept.score), number, at, kept, at in drawn))
        notes.append(_note(run, joined, len(drawn), alone=len(runs) == 1))
        if run.dumps and not joined:
            run.summary.notes.append(
                f"none of the rows was found in {', '.join(run.dumps)}: no questions, no responses; --dump"
                " names what they were scored from, and the journal beside them says how it is read"
            )
    for _, _, number, _, kept, is_drawn in sorted(order, key=lambda item: item[:4]):
        packer.add(runs[number], kept, _exhibit(runs[number], kept, embedder) if is_drawn else None)
    return packer.finish(" ".join(notes)) if packer.count else None


def _note(run: Scored, joined: int, drawn: int, *, alone: bool) -> str:
    """A sentence on which rows of a run are on the page, and what they lack."""
    n, rows = len(run.sample), run.summary.rows
    who = "" if alone else f"{run.name}: "
    if n == rows:
        text = f"{who}All {n:,} rows."
    else:
        text = (
            f"{who}{n:,} of {rows:,} rows: a random sample of prompts, the same for every model, and a few of"
            " each kind of mistake and failure."
        )
    if not joined:
        text += " Without questions and responses: the dump was not found (--dump says where it is)."
    elif joined < n:
        text += f" {n - joined:,} of them without question and response."
    if drawn < joined:
        text += f" {drawn:,} are drawn."
    return text


def _drawn(run: Scored) -> set[int]:
    """The places of the rows that get an exhibit, up to `Display.exhibits` per task, spread over the kinds
    of rows: first the first row of each kind, then the second, and so on."""
    order: dict[str, list[tuple[int, int]]] = {}
    kinds: dict[tuple[str, str], int] = {}
    for at, kept in enumerate(run.sample):
        task = kept.score.task or ""
        if kept.record is None or kept.score.status in _STOPPED or display_of(task).exhibit is None:
            continue
        kinds[task, kept.kind] = kinds.get((task, kept.kind), 0) + 1
        order.setdefault(task, []).append((kinds[task, kept.kind], at))
    chosen: set[int] = set()
    for task, places in order.items():
        chosen |= {at for _, at in sorted(places)[: display_of(task).exhibits]}
    return chosen


def _exhibit(run: Scored, kept: Kept, embedder: str) -> Exhibit | None:
    exhibit = display_of(kept.score.task).exhibit
    if exhibit is None or kept.record is None:
        return None
    shown = Shown(kept.record, kept.score.correct, kept.score.metrics, run.counted.strict, embedder)
    try:
        made = resolve(exhibit)(shown)
    except Exception as error:  # a response may contain anything: then only its texts are shown
        return Exhibit(why=f"It could not be drawn ({type(error).__name__}).")
    assert isinstance(made, Exhibit)
    return made


class _Packer:
    """Builds the index and the blocks from records added one by one; full blocks are compressed at once. What
    the records of a block have in common, such as their question, is in it once (``shared``)."""

    def __init__(self) -> None:
        self._columns: dict[str, list[Any]] = defaultdict(list)
        self._names: dict[str, dict[str, int]] = {name: {} for name in ("runs", "tasks", "kinds")}
        self._starts: list[int] = []
        self._blocks: list[str] = []
        self._pending: list[str] = []
        self._shared: dict[str, int] = {}
        self._chars = 0
        self.count = 0

    def _number(self, table: str, name: str) -> int:
        return self._names[table].setdefault(name, len(self._names[table]))

    def add(self, run: Scored, kept: Kept, exhibit: Exhibit | None) -> None:
        score = kept.score
        response = kept.record.response if kept.record is not None else None
        values = {
            "run": self._number("runs", text_of(run.name)),
            "task": self._number("tasks", text_of(group_of(score.task))),
            "id": id_of(score)[:2_000],
            "sample": score.sample,
            "line": score.index,
            "status": STATUSES.index(score.status),
            "correct": None if score.correct is None else int(score.correct),
            "reward": score.reward,
            "kind": self._number("kinds", text_of(kept.kind)),
            "length_of": None if response is None else len(_as_text(response)),
            "tokens": kept.tokens,
        }
        for name, value in values.items():
            self._columns[name].append(value)
        if not self._pending:
            self._starts.append(self.count)
        record = _texts(kept, exhibit)
        record |= {name: self._place(record[name]) for name in ("question", "gold")}
        for group in record["groups"]:
            group["drawings"] = [[self._place(svg), *more] for svg, *more in group["drawings"]]
        text = json.dumps(record, separators=(",", ":"))
        self._pending.append(text)
        self._chars += len(text)
        self.count += 1
        if len(self._pending) >= RECORDS_A_BLOCK or self._chars > BLOCK_CHARS:
            self._close()

    def _place(self, value: object) -> int:
        """The place of a value among those that records of the block share."""
        text = json.dumps(value, separators=(",", ":"))
        if text not in self._shared:
            self._chars += len(text)
        return self._shared.setdefault(text, len(self._shared))

    def _close(self) -> None:
        shared, records = ",".join(self._shared), ",".join(self._pending)
        self._blocks.append(_packed(f'{{"shared":[{shared}],"records":[{records}]}}'))
        self._pending, self._shared, self._chars = [], {}, 0

    def finish(self, note: str) -> Records:
        if self._pending:
            self._close()
        index = {
            **self._columns,
            **{name: list(known) for name, known in self._names.items()},
            "statuses": list(STATUSES),
            "starts": self._starts,
        }
        sizes = list(accumulate(map(len, self._blocks)))
        inside = max(1, sum(size <= INSIDE_CHARS for size in sizes))
        if inside < len(sizes):
            note += " The texts of some lie in the folder beside this page."
        packed = _packed(json.dumps(index, separators=(",", ":")))
        return Records(packed, self._blocks, inside, self.count, note)


def _packed(text: str) -> str:
    # without a time stamp, so that the same rows give the same page
    return base64.b64encode(gzip.compress(text.encode("ascii"), 6, mtime=0)).decode("ascii")


_OF_GROUP: Final = ("title", "note", "rest", "wide", "large", "folded", "asked", "drawings")


def _texts(kept: Kept, exhibit: Exhibit | None) -> dict[str, Any]:
    """A record as the page's script reads it: texts in parts, gold, metrics, drawings and listings."""
    score, record = kept.score, kept.record
    error = score.error
    made = exhibit or Exhibit()
    response = record.response if record is not None else None
    question = record.question if record is not None else None
    task = TASKS.get(score.task or "")
    undefined = (
        {} if task is None else {name: metric.undefined for name, metric in task.metric_by_name.items()}
    )
    return {
        "question": [] if question is None else list(_cut(_as_text(question), ())),
        "response": [] if response is None else list(_cut(_as_text(response), made.marks)),
        "gold": "" if record is None else _gold(record),
        "error": f"{error.get('type')}: {error.get('message')}" if isinstance(error, Mapping) else "",
        "metrics": [
            [name, "not defined" if value is not None and value == undefined.get(name) else _metric(value)]
            for name, value in islice(score.metrics.items(), 100)
        ],
        "why": made.why,
        "groups": [{name: getattr(group, name) for name in _OF_GROUP} for group in made.groups],
        "listings": [listing._asdict() for listing in made.listings],
    }


def _as_text(value: object) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, indent=1, default=str)


def _gold(record: Record) -> str:
    answer = record.answer
    if isinstance(answer, Mapping) and len(answer) == 1:
        (only,) = answer.values()
        if isinstance(only, str):
            return only[:MAX_GOLD]
    if isinstance(answer, Mapping):  # short fields, which say most, come first
        answer = dict(sorted(answer.items(), key=lambda item: len(str(item[1]))))
    text = json.dumps(answer, ensure_ascii=False, indent=1, default=str)
    return text if len(text) <= MAX_GOLD else f"{text[:MAX_GOLD]}…"


def _metric(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text[:MAX_METRIC]


def _cut(text: str, marks: Sequence[Mark]) -> Iterator[tuple[str, str]]:
    """Split a text into (part, kind): "" is plain text, "cut" a note on what is left out, else a mark."""
    windows = [(0, len(text))]
    if len(text) > MAX_TEXT:
        head, tail = int(MAX_TEXT * 0.4), int(MAX_TEXT * 0.6)
        around = [(max(0, m.begin - AROUND), min(len(text), m.end + AROUND)) for m in marks[:20]]
        windows = _joined([(0, head), *around, (len(text) - tail, len(text))])
    before = 0
    for begin, end in windows:
        if begin > before:
            yield f"… {begin - before:,} characters left out …", "cut"
        yield from _marked(text, begin, end, marks)
        before = end


def _joined(windows: list[tuple[int, int]]) -> list[tuple[int, int]]:
    result: list[tuple[int, int]] = []
    for begin, end in sorted(windows):
        if result and begin <= result[-1][1]:
            result[-1] = result[-1][0], max(end, result[-1][1])
        else:
            result.append((begin, end))
    return result


def _marked(text: str, begin: int, end: int, marks: Sequence[Mark]) -> Iterator[tuple[str, str]]:
    at = begin
    for mark in sorted(marks):
        if mark.begin < at or mark.end > end:
            continue
        if mark.begin > at:
            yield text[at : mark.begin], ""
        yield text[mark.begin : mark.end], mark.label
        at = mark.end
    if at < end:
        yield text[at:end], ""
