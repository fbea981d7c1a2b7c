"""A report on scored rows of any tasks: what `relfast score` wrote, shards together, models side by side."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

from relfast.errors import OutputError, UsageError
from relfast.inference.header import header_line, read_header
from relfast.report import by_size, overview, side_by_side
from relfast.report.base import OnStep, Report, ignore_step
from relfast.report.page import Page, Section, write_page
from relfast.report.record_blocks import examples, pack
from relfast.report.scored_rows import Asked, Scored, read_apart, read_scored
from relfast.report.scored_tables import scores_csv, scores_latex
from relfast.tasks import TASKS
from relfast.tasks.base import resolve

_NAMED: Final = re.compile(r"([^=/\\]{1,80})=(.+)", re.DOTALL)
_SUFFIXES: Final = re.compile(r"(\.(jsonl|json|gz|zst|parquet|csv|scored))+$")


def read_models(
    inputs: Sequence[str],
    *,
    shards: bool,
    dump: Mapping[str, Sequence[str]] | Sequence[str],
    asked: Asked,
    on_step: OnStep = ignore_step,
) -> list[Scored]:
    """The runs that some inputs hold, each with a name of its own.

    Raises
    ------
    InputError, UsageError
        See `relfast.report.scored.generate_report`.
    """
    named = [_name_and_path(given) for given in inputs]
    if not any(name for name, _ in named):
        if isinstance(dump, Mapping):
            raise UsageError("a dump is named after a model, but no input is: NAME=FILE names one")
        runs = read_apart(inputs, shards=shards, asked=replace(asked, dump=dump), on_step=on_step)
        if len(runs) > 1 and dump:
            raise UsageError("several models: say of which one a dump is, NAME=FILE, as of the inputs")
        _name(runs)
        return runs
    if not all(name for name, _ in named):
        path = next(path for name, path in named if not name)
        raise UsageError(f"{path} has no model's name: name all inputs (NAME=FILE) or none")
    dumps = _by_name(dump)
    unknown = [name for name in dumps if name not in {name for name, _ in named}]
    if unknown:
        raise UsageError(f"a dump is said to be of {unknown[0]}, but no input is")
    runs = []
    for name in dict.fromkeys(name for name, _ in named):
        paths = [path for other, path in named if other == name]
        run = read_scored(
            paths, shards=shards, asked=replace(asked, dump=dumps.get(name, ())), on_step=on_step
        )
        run.name = name
        runs.append(run)
    return runs


def _by_name(dump: Mapping[str, Sequence[str]] | Sequence[str]) -> Mapping[str, Sequence[str]]:
    if isinstance(dump, Mapping):
        return dump
    found: dict[str, list[str]] = {}
    for given in dump:
        name, path = _name_and_path(given)
        if not name:
            raise UsageError(f"{given}: say of which model this dump is, NAME=FILE, as of the inputs")
        found.setdefault(name, []).append(path)
    return found


def _name_and_path(given: str) -> tuple[str, str]:
    """``NAME=FILE``; a file that has such a name itself is a file."""
    found = _NAMED.fullmatch(given)
    if found is None or Path(given).exists():
        return "", given
    return found[1].strip(), found[2]


def _name(runs: Sequence[Scored]) -> None:
    """The models that were asked, where headers say so and differ; else the files' names, with as much of
    their paths as tells them apart."""
    asked = [_model_of(run) for run in runs]
    if all(asked) and len(set(asked)) == len(asked):
        for run, model in zip(runs, asked, strict=True):
            run.name = model
        return
    names = [_SUFFIXES.sub("", Path(run.name).name) or "scores" for run in runs]
    if len(set(names)) < len(names):
        names = [
            f"{Path(run.name).absolute().parent.name}/{name}" for run, name in zip(runs, names, strict=True)
        ]
    for place, run in enumerate(runs):
        run.name = names[place] if names.count(names[place]) == 1 else f"{names[place]} ({place + 1})"


def _model_of(run: Scored) -> str:
    """The model that all files of a run were asked of; empty where headers do not say one."""
    models = {str((read_header(path) or {}).get("model") or "") for path in run.paths}
    return models.pop() if len(models) == 1 else ""


RECORDS = 10_000
"""Rows of a run that a page holds unless told otherwise."""


def generate_report(
    inputs: Sequence[str],
    output_dir: str | Path,
    *,
    shards: bool = False,
    dump: Mapping[str, Sequence[str]] | Sequence[str] = (),
    records: int = RECORDS,
    embedder: str = "auto",
    drawn: Mapping[str, str] = MappingProxyType({}),
    on_step: OnStep = ignore_step,
) -> Report:
    """Tables, figures and the page of scored files (JSONL, compressed or Parquet) and summaries (JSON).

    Several inputs are added up if they hold different records, or are ``shards`` of one run; files that hold
    the same records are several models, shown side by side. ``NAME=FILE`` names the model a file is of, and
    files of one name are added up. A summary has numbers but no rows: it adds to the tables, not to the
    distributions. Beside the rows that it is of it is not counted, and gives the signature and maj@k, which
    rows do not say.

    Parameters
    ----------
    dump
        What the rows were scored from (by model's name, where there are several), if it is no longer where
        it was. The journal beside the rows says how it is read (gold, field map, dialect).
    records
        Rows of a run that the page holds with their texts.
    embedder
        Embedding model of heatmaps.
    drawn
        Tasks whose own figures are drawn already, and the folder that has them: the page names it.
    on_step
        Is told of each step as it begins.

    Raises
    ------
    InputError
        An input is neither scored rows nor a summary.
    UsageError
        Inputs share rows, or may do so.
    MissingExtraError, OutputError
    """
    asked = Asked(records=records)
    runs = read_models(inputs, shards=shards, dump=dump, asked=asked, on_step=on_step)
    on_step("drawing figures")
    report = Report(Path(output_dir), embedder=embedder, on_step=on_step)
    try:
        report.directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(report.directory, error.strerror or str(error)) from error
    page = Page(_title(runs), _lead(runs))
    shown = examples(runs)
    sections = [
        overview.grid(runs),
        overview.scores(runs, report),
        *by_size.sections(runs, report),
        *_own(runs, report, drawn),
        overview.samples(runs, report),
        side_by_side.section(runs),
        overview.mistakes(runs, shown),
        overview.statuses(runs, shown),
    ]
    page.sections = [section for section in sections if section is not None]
    page.records = pack(runs, shown, embedder, on_step)
    page.facts = _facts(runs)
    for run in runs:
        report.notes += [f"{run.name}: {note}" if len(runs) > 1 else note for note in run.summary.notes]
    summaries = {run.name: run.summary for run in runs}
    report.write_texts(
        {"summary_stats.csv": scores_csv(summaries), "latex_table.txt": scores_latex(summaries)}
    )
    on_step("writing the page")
    report.files += write_page(page, report.directory)
    return report


def _own(runs: Sequence[Scored], report: Report, drawn: Mapping[str, str]) -> list[Section]:
    """The sections that tasks bring along."""
    made = []
    for name in overview.tasks_of(runs):
        display = TASKS[name].display if name in TASKS else None
        if display is None or display.section is None:
            continue
        having = [run for run in runs if name in run.drawn or _has_cells(run, name)]
        if having and name in drawn:
            made.append(
                Section(f"{name}: figures", [f"Its figures and tables are in {drawn[name]}/index.html."])
            )
        elif having:
            made.append(resolve(display.section)(having, name, report))
    return made


def _has_cells(run: Scored, name: str) -> bool:
    return name in run.summary.tasks and bool(run.summary.tasks[name].cells)


def _title(runs: Sequence[Scored]) -> str:
    names = [run.name for run in runs]
    shown = " and ".join(names) if len(names) < 3 else f"{names[0]} and {len(names) - 1} other models"
    return f"{shown}{f', {_date(runs)}' if _date(runs) else ''}"


def _date(runs: Sequence[Scored]) -> str:
    """When the newest rows were written."""
    times = [os.path.getmtime(path) for run in runs for path in run.paths if os.path.isfile(path)]
    return time.strftime("%Y-%m-%d", time.localtime(max(times))) if times else ""


def _lead(runs: Sequence[Scored]) -> str:
    """What was measured, and with what: the parts of the signature that one looks for first."""
    names = ", ".join(run.name for run in runs)
    total = sum(run.summary.rows for run in runs)
    files = ", ".join(dict.fromkeys(name for run in runs for name in [*run.inputs, *run.dumps]))
    signatures = dict.fromkeys(run.summary.signature for run in runs if run.summary.signature)
    parts = [
        part for line in signatures for part in line.split(" | ") if part.startswith(("relfast ", "policy "))
    ]
    which = f"{names}: " if len(runs) > 2 else ""
    return f"{which}{total:,} responses, {files}. {', '.join(dict.fromkeys(parts))}".strip()


def _facts(runs: Sequence[Scored]) -> list[tuple[str, str]]:
    facts = []
    for run in runs:
        named = f"{run.name}: " if len(runs) > 1 else ""
        facts.append((f"{named}rows", ", ".join(run.inputs)))
        if run.dumps:
            facts.append((f"{named}questions and responses", ", ".join(run.dumps)))
        asked = dict.fromkeys(header_line(header) for path in run.paths if (header := read_header(path)))
        facts += [(f"{named}asked", line) for line in asked]
        if run.summary.signature:
            facts.append((f"{named}made by", run.summary.signature))
        facts += [(f"{named}note", note) for note in run.summary.notes]
    return facts
