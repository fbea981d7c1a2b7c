"""The section that holds models against each other, pair by pair, on what they have in common."""

from __future__ import annotations

from collections.abc import Sequence

from relfast.comparison import compare
from relfast.comparison.model import Comparison
from relfast.comparison.tables import header_of, methods, rows_of, text_columns
from relfast.errors import InputError, UsageError
from relfast.report.page import Link, Section, Table
from relfast.report.record_blocks import name_of
from relfast.report.scored_rows import Scored

MOST_ROWS = 3_000_000
"""Rows of all models beyond which they are not paired: `relfast compare` takes longer than the report."""
MOST_FLIPS = 40
VIEW = "Compare"


def section(runs: Sequence[Scored]) -> Section | None:
    """Differences with intervals and p, and the records that changed; None for one model."""
    if len(runs) < 2:
        return None
    title = "Models side by side"
    paths = [run.paths[0] for run in runs if len(run.paths) == 1]
    if len(paths) < len(runs):
        return Section(
            title, ["Runs of several files are not paired here: `relfast compare` takes one each."], view=VIEW
        )
    if sum(run.summary.rows for run in runs) > MOST_ROWS:
        return Section(
            title, ["There are too many rows to pair them here: `relfast compare` does."], view=VIEW
        )
    try:
        found = compare(*paths, names=[run.name for run in runs], max_flips=None)
    except (InputError, UsageError) as error:
        return Section(title, [f"They are not compared: {error}."], view=VIEW)
    words = text_columns(found)
    tables = [
        Table(
            "",
            header_of(found),
            rows_of(found, percents=True),
            f"Differences in percentage points. {methods(found)}",
            text_columns=words,
        )
    ]
    flips = _flips(found, runs)
    if flips is not None:
        tables.append(flips)
    if found.notes:
        left_out = [[note] for note in found.notes]
        tables.append(Table("What is not compared, and notes", ["note"], left_out, folded=True))
    return Section(title, [], tables, view=VIEW)


def _flips(found: Comparison, runs: Sequence[Scored]) -> Table | None:
    """Records that one model has right and another wrong, of those that the page holds."""
    here = {
        (run.name, kept.score.task, repr(kept.score.id), kept.score.sample): kept.score
        for run in runs
        for kept in run.sample
    }
    rows: list[list[str | list[Link]]] = []
    for flip in found.flips:
        scores = [here.get((name, flip.task, repr(flip.id), flip.sample)) for name in (flip.a, flip.b)]
        if all(scores) and len(rows) < MOST_FLIPS:
            links = [
                [Link(f"{name} {'✓' if score.correct else '✗'}", name_of(name, score))]
                for name, score in zip((flip.a, flip.b), scores, strict=True)
                if score is not None
            ]
            rows.append([flip.task, str(flip.id), str(flip.sample), *links])
    if not rows:
        return None
    note = f"{len(rows)} of {found.n_flips:,} that one model has right and the other wrong."
    return Table(
        "Records that changed",
        ["task", "id", "sample", "first model", "second model"],
        rows,
        note,
        text_columns=2,
        folded=True,
    )
