"""The report on scored rows of any tasks, the output of `relfast score`: shards are merged, models are
shown side by side, and tables are also written as files."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from relfast.comparison.model import BOLD, Side, best_in_bold
from relfast.comparison.runs import name_and_path, stem_of
from relfast.errors import UsageError
from relfast.inference.request_log import header_line, read_header
from relfast.json_text import encode_indented
from relfast.report import by_size, overview
from relfast.report.inputs import keep_inputs
from relfast.report.page import OnStep, Page, Report, Section, ignore_step, report_folder
from relfast.report.record_blocks import pack
from relfast.report.scored_rows import Scored, model_of, read_runs, read_scored
from relfast.stats.summary import COLUMNS, Summary, TaskSummary, cells
from relfast.tables import Cell, csv_text, latex_table, markdown_table, markdown_text
from relfast.tasks.base import resolve


def read_models(
    inputs: Sequence[str], *, dump: Sequence[str], shards: bool, records: int, on_step: OnStep = ignore_step
) -> list[Scored]:
    """Read the runs (models) in some inputs and give each a distinct name.

    Raises
    ------
    InputError, UsageError
        See `relfast.report.scored.generate_report`.
    """
    how: dict[str, Any] = {"shards": shards, "records": records, "on_step": on_step}
    named = [name_and_path(given) for given in inputs]
    if not any(name for name, _ in named):
        runs = read_runs(inputs, dump=dump, **how)
        if len(runs) > 1 and dump:
            raise UsageError("several models: say of which one a dump is, NAME=FILE, as of the inputs")
        _name(runs)
        return runs
    if not all(name for name, _ in named):
        path = next(path for name, path in named if not name)
        raise UsageError(f"{path} has no model's name: name all inputs (NAME=FILE) or none")
    dumps: dict[str, list[str]] = {}
    for given in dump:
        name, path = name_and_path(given)
        if not name:
            raise UsageError(f"{given}: say of which model this dump is, NAME=FILE, as of the inputs")
        dumps.setdefault(name, []).append(path)
    unknown = [name for name in dumps if name not in {name for name, _ in named}]
    if unknown:
        raise UsageError(f"a dump is said to be of {unknown[0]}, but no input is")
    runs = []
    for name in dict.fromkeys(name for name, _ in named):
        paths = [path for other, path in named if other == name]
        runs.append(read_scored(paths, dump=dumps.get(name, ()), **how))
        runs[-1].name = name
    return runs


def _name(runs: Sequence[Scored]) -> None:
    """Name runs by the models in their headers, if all have one and they differ; else by their files, with
    folder or number if these are equal."""
    models = [model_of(run.paths) for run in runs]
    if all(models) and len(set(models)) == len(models):
        for run, model in zip(runs, models, strict=True):
            run.name = model
        return
    names = [_name_of(run) for run in runs]
    if len(set(names)) < len(names):
        names = [
            f"{Path(run.name).absolute().parent.name}/{name}" for run, name in zip(runs, names, strict=True)
        ]
    for place, run in enumerate(runs):
        run.name = names[place] if names.count(names[place]) == 1 else f"{names[place]} ({place + 1})"


def _name_of(run: Scored) -> str:
    """The name of a run by its files."""
    first, *others = map(stem_of, run.paths or [run.name])
    return first if not others else f"{first} + {others[0] if len(others) == 1 else f'{len(others)} files'}"


RECORDS = 10_000
"""Default of ``records``: rows of a run that are on the page with their texts."""


def generate_report(
    inputs: Sequence[str],
    output_dir: str | Path,
    *,
    shards: bool = False,
    dump: Sequence[str] = (),
    records: int = RECORDS,
    embedder: str = "auto",
    drawn: Mapping[str, str] = MappingProxyType({}),
    on_step: OnStep = ignore_step,
) -> Report:
    """Write tables, figures and page for scored files (JSONL, compressed, Parquet) and summaries (JSON).

    Several inputs are merged if they have different records, or are ``shards`` of one run; files with the
    same records are several models, shown side by side. ``NAME=FILE`` names the model of a file; files
    with the same name are merged. A summary has numbers but no rows: it adds to tables, not to
    distributions. If the rows of a summary are inputs as well, its numbers are not counted again; it only
    gives the signature and maj@k, which rows lack.

    Parameters
    ----------
    dump
        The files that the rows were scored from (``NAME=FILE`` if models are named), if they have been
        moved. The journal beside the rows says how to read them (gold, field map, dialect).
    records
        Maximum rows of a run that are on the page with their texts.
    embedder
        Embedding model of heatmaps.
    drawn
        Task → folder, for tasks whose own figures exist already: the page names the folder instead.
    on_step
        Called when a step begins.

    Raises
    ------
    InputError
        An input is neither scored rows nor a summary.
    UsageError
        Inputs share rows, or may share rows.
    MissingExtraError, OutputError
    """
    named, dumps = ([name_and_path(given)[1] for given in names] for names in (inputs, dump))
    keep_inputs(named, dumps, output_dir)
    runs = read_models(inputs, dump=dump, shards=shards, records=records, on_step=on_step)
    with report_folder(output_dir) as place:
        report = Report(place, embedder=embedder, on_step=on_step)
        _write(runs, report, drawn)
    return report.at(Path(output_dir))


def _write(runs: Sequence[Scored], report: Report, drawn: Mapping[str, str]) -> None:
    """Draw all figures, and write tables and page."""
    page = Page(_title(runs), _lead(runs))
    sections = [
        overview.grid(runs),
        overview.scores(runs, report),
        *by_size.sections({run.name: run.counted.sizes for run in runs}, overview.tasks_of(runs), report),
        *_task_sections(runs, report, drawn),
        overview.samples(runs, report),
        overview.side_by_side(runs, report),
        overview.mistakes(runs),
        overview.turned_down(runs),
        overview.statuses(runs),
    ]
    page.sections = [section for section in sections if section is not None]
    page.records = pack(runs, report.embedder, report.on_step)
    page.facts = _facts(runs)
    for run in runs:
        report.notes += [f"{run.name}: {note}" if len(runs) > 1 else note for note in run.summary.notes]
    report.summaries = {run.name: run.summary for run in runs}
    report.write_texts(
        {"summary_stats.csv": scores_csv(report.summaries), "latex_table.txt": scores_latex(report.summaries)}
    )
    report.write_page(page)


def _task_sections(runs: Sequence[Scored], report: Report, drawn: Mapping[str, str]) -> list[Section]:
    """The sections that tasks define themselves (`Display.section`)."""
    made = []
    for name in overview.tasks_of(runs):
        section = by_size.display_of(name).section
        known = {run.name: name in run.summary.tasks and run.summary.tasks[name].cells for run in runs}
        having = [run for run in runs if name in run.counted.drawn or known[run.name]]
        if section is None or not having:
            continue
        if name in drawn:
            text = f"Its figures and tables are in {drawn[name]}/index.html."
            made.append(Section(f"{name}: figures", [text]))
        else:
            made.append(resolve(section)(having, name, report))
    return made


def _title(runs: Sequence[Scored]) -> str:
    names = [run.name for run in runs]
    shown = names if len(names) < 4 else [*names[:2], f"{len(names) - 2} other models"]
    listed = " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))
    return f"{listed}{f', {_date(runs)}' if _date(runs) else ''}"


def _date(runs: Sequence[Scored]) -> str:
    """The date when the newest file of rows was written."""
    times = [os.path.getmtime(path) for run in runs for path in run.paths if os.path.isfile(path)]
    return time.strftime("%Y-%m-%d", time.localtime(max(times))) if times else ""


def _lead(runs: Sequence[Scored]) -> str:
    """The page's first line: numbers of models and responses, and version and policy from the signatures."""
    total = sum(run.summary.rows for run in runs)
    signatures = dict.fromkeys(run.summary.signature for run in runs if run.summary.signature)
    parts = [
        part for line in signatures for part in line.split(" | ") if part.startswith(("relfast ", "policy "))
    ]
    models = f"{len(runs)} models, " if len(runs) > 1 else ""
    made = ", ".join(dict.fromkeys(parts))
    return f"{models}{total:,} responses{f'; {made}' if made else ''}."


def _facts(runs: Sequence[Scored]) -> list[tuple[str, str]]:
    facts = []
    for run in runs:
        named = f"{run.name}: " if len(runs) > 1 else ""
        facts.append((f"{named}rows", ", ".join(run.inputs)))
        if run.dumps:
            facts.append((f"{named}questions and responses", ", ".join(run.dumps)))
        headers = dict.fromkeys(header_line(header) for path in run.paths if (header := read_header(path)))
        facts += [(f"{named}asked", line) for line in headers]
        if run.summary.signature:
            facts.append((f"{named}made by", run.summary.signature))
        facts += [(f"{named}note", note) for note in run.summary.notes]
    return facts


def scores_csv(runs: Mapping[str, Summary]) -> str:
    """CSV with one row per run and task, with all numbers of `relfast.stats.summary.TaskSummary.flat`.
    Names are escaped so that no spreadsheet takes one for a formula."""
    rows = [{"run": name, **task.flat()} for name, summary in runs.items() for task in summary.tasks.values()]
    columns = list(dict.fromkeys(key for row in rows for key in row))
    return csv_text(columns, ([row.get(name) for name in columns] for row in rows))


def scores_latex(runs: Mapping[str, Summary]) -> str:
    """LaTeX table of tasks × runs: accuracy in percent with 95 % interval; in bold the best run of a task and
    those not distinguishable from it, by Newcombe's interval, as if the runs had different prompts.

    Each mean is over all responses of its run; ``relfast compare -f latex`` gives means over common
    samples, and tests prompt by prompt, which finds smaller differences.
    """
    tasks = dict.fromkeys(task for summary in runs.values() for task in summary.tasks)
    rows: list[list[str | Cell]] = []
    for name in tasks:
        sides = [_side(summary.tasks.get(name)) for summary in runs.values()]
        rows.append([name, *best_in_bold(sides, partial(_alike, sides), percents=True)])
    return latex_table(["Task", *(f"{name} (%)" for name in runs)], rows) + f"% {BOLD}, by an unpaired test\n"


def _alike(sides: Sequence[Side | None], best: int, other: int) -> bool:
    """Whether Newcombe's interval of the difference of two shares, made of their own intervals, holds 0."""
    one, two = sides[best], sides[other]
    if one is None or two is None or one.interval is None or two.interval is None:
        return True
    below = math.hypot(one.mean - one.interval.low, two.interval.high - two.mean)
    return one.mean - two.mean <= below


def _side(task: TaskSummary | None) -> Side | None:
    return None if task is None or task.mean is None else Side(task.mean, task.correct_interval())


def scores_markdown(runs: Mapping[str, Summary]) -> str:
    """Markdown table of what the terminal shows, with a row for each task and, of several, each run; and
    below it signatures and notes."""
    several = len(runs) > 1
    rows = [
        [*([name] if several else []), task, *cells(of_task)]
        for name, summary in runs.items()
        for task, of_task in summary.tasks.items()
    ]
    header = [*(["run"] if several else []), "task", *COLUMNS]
    made = dict.fromkeys(summary.signature for summary in runs.values() if summary.signature)
    notes = dict.fromkeys(note for summary in runs.values() for note in summary.notes)
    below = "".join(f"\n{markdown_text(line)}\n" for line in (*made, *notes))
    return markdown_table(header, rows, text_columns=1 + several) + below


def scores_json(runs: Mapping[str, Summary]) -> str:
    """JSON: the summary, or, of several runs, run → summary."""
    values = {name: summary.to_dict() for name, summary in runs.items()}
    value = next(iter(values.values())) if len(values) == 1 else values
    return encode_indented(value).decode() + "\n"


SCORES_AS: Final[Mapping[str, Callable[[Mapping[str, Summary]], str]]] = {
    "md": scores_markdown,
    "csv": scores_csv,
    "latex": scores_latex,
    "json": scores_json,
}
"""The forms in which the numbers of runs are printed."""
