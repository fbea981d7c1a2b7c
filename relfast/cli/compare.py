"""``relfast compare``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from relfast.cli.main import say
from relfast.cli.parameters import FORMATS
from relfast.comparison.model import (
    Comparison,
    header_of,
    letters_of,
    methods,
    pair_of,
    rows_of,
    text_columns,
)
from relfast.errors import UsageError, printable
from relfast.json_text import encode_indented, encode_json
from relfast.support.outputs import STDOUT, keep_apart, refuse_existing, whole_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from relfast.comparison.comparing import Comparing

FLIPS_SHOWN: Final = 5
"""Changed prompts that are named with ``--details``, and in JSON."""


@click.command(name="compare")
@click.argument("runs", nargs=-1, required=True, metavar="A B [C...]")
@click.option("-f", "--format", "form", type=click.Choice(("table", *FORMATS)), help="What is written.  [default: by OUT's ending; table]")  # fmt: skip
@click.option("-o", "--output", metavar="OUT", default=STDOUT, help="Where it goes: .json, .csv, .md, .tex, or - for stdout.  [default: stdout]")  # fmt: skip
@click.option("--metric", default="correct", show_default=True, metavar="NAME", help="correct, reward, or a metric of the rows.")  # fmt: skip
@click.option("--bootstrap", type=int, metavar="N", help="Intervals from N draws of a paired bootstrap over prompts, such as 10000.")  # fmt: skip
@click.option("--details", is_flag=True, help="Below the table: samples, wins and losses of each task, and prompts that changed.")  # fmt: skip
@click.option("--flips", metavar="FILE", help="Write the prompts that changed: .jsonl or .csv.")
@click.option("--allow-different", is_flag=True, help="Compare runs of different policies, scorers or gold all the same.")  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Replace existing files.")
def command(
    runs: tuple[str, ...],
    form: str | None,
    output: str,
    details: bool,
    flips: str | None,
    overwrite: bool,
    **options: Any,
) -> int:
    """Is A better than B? Paired on the prompts that the runs have in common, whatever their samples.

    A and B are files of scored rows, or summaries beside them; NAME=FILE gives one a name. The difference is
    that of A and B over prompts; p is under 0.05 if and only if the interval leaves out 0, and a star says that it
    stays so among all that is compared (Holm).
    """
    from relfast.comparison import comparing
    from relfast.comparison.runs import files_beside, files_of, name_and_path
    from relfast.engine.files.io.recognise import refuse_output

    form = form or {".json": "json", ".csv": "csv", ".md": "md", ".tex": "latex"}.get(
        Path(output).suffix, "table"
    )
    refuse_existing(output, unless=overwrite)
    if flips is not None:
        refuse_existing(flips, unless=overwrite)
        if not flips.endswith((".jsonl", ".csv")):
            raise UsageError(f"--flips {flips}: its name must end in .jsonl or .csv")
    refuse_output(output, (".json", ".csv", ".tex", ".txt", ".md"), "comparisons are")
    named = [name_and_path(run) for run in runs]
    read = [path for _, name in named for path in files_of(name)]
    beside = [path for rows in read for path in files_beside(rows)]
    written = {"-o": [output], "--flips": [] if flips is None else [flips]}
    keep_apart("compare", {**written, "A B": read, "beside A B": beside})
    names = [name for name, _ in named]
    if any(names) and not all(names):
        raise UsageError("name all runs (NAME=FILE) or none")
    result = comparing(
        [path for _, path in named],
        names=names if all(names) else None,
        max_flips=FLIPS_SHOWN,
        **options,
    )
    if form == "table" and output == STDOUT:
        if sys.stdout is not None:
            sys.stdout.write(_table(result.comparison, details))
    else:
        with whole_file(output, overwrite=overwrite) as file:
            file.write(_text(result.comparison, form, details).encode("utf-8", "replace"))
        for note in result.comparison.notes:
            say(f"note: {note}")
    if flips is not None:
        _write_flips(result, flips, overwrite)
    return 0


def _text(comparison: Comparison, form: str, details: bool) -> str:
    if form == "json":
        return encode_indented(comparison.to_dict()).decode() + "\n"
    if form == "csv":
        return comparison.to_csv()
    if form == "md":
        return comparison.to_markdown()
    if form == "latex":
        return comparison.to_latex()
    return _table(comparison, details, width=200, no_color=True)


def _table(comparison: Comparison, details: bool, **how: Any) -> str:
    from rich.console import Console

    console = Console(highlight=False, markup=False, **how)
    with console.capture() as text:
        called = _show_table(comparison, console)
        if details:
            _show_details(comparison, console, called)
        elif comparison.n_flips:
            console.print(
                f"{comparison.n_flips:,} prompts changed (--details, --flips FILE)",
                style="dim",
                soft_wrap=True,
            )
        console.print(printable(methods(comparison)), style="dim")
        for note in comparison.notes:
            console.print(printable(f"note: {note}"))
    return text.get()


def _show_table(comparison: Comparison, console: Console) -> dict[str, str]:
    """Print the table, with letters for the runs where their names do not fit; returns name → what is shown."""
    from relfast.cli.table import fits, show_table

    words = text_columns(comparison)
    named = {run.name: run.name for run in comparison.runs}
    for called in (named, letters_of(comparison)):
        header = header_of(comparison, called, outcomes=False)
        rows = rows_of(comparison, called, outcomes=False)
        if fits(console, header, rows, words=words):
            break
    for name, letter in called.items() if called != named else ():
        console.print(printable(f"{letter} = {name}"))
    show_table(console, header, rows, words=words)
    return called


def _show_details(comparison: Comparison, console: Console, called: Mapping[str, str]) -> None:
    for item in comparison:
        runs = "" if len(comparison.runs) == 2 else f" {pair_of(item, called)}"
        samples = (
            f" ({item.samples_a:,} and {item.samples_b:,} samples)" if item.samples_a > item.prompts else ""
        )
        parts = [f"{item.prompts:,} prompts{samples}"]
        parts.append(f"{item.wins:,} won, {item.losses:,} lost, {item.ties:,} tied")
        if comparison.metric != "correct":
            parts.append(
                f"right more often: {called[item.a]} {item.gained:,}, {called[item.b]} {item.lost:,}"
            )
        console.print(printable(f"{item.task}{runs}: {'; '.join(parts)}"))
    for flip in comparison.flips:
        counts = f"{flip.right_a}/{flip.scored_a} right in {called[flip.a]}, {flip.right_b}/{flip.scored_b} in {called[flip.b]}"
        console.print(printable(f"changed: {flip.task} {flip.id!r:.60}: {counts}"))
    if comparison.n_flips > len(comparison.flips):
        console.print(f"{comparison.n_flips:,} changed in all (--flips FILE writes them)", style="dim")


def _write_flips(result: Comparing, path: str, overwrite: bool) -> None:
    from relfast.tables import csv_line

    written = 0
    with whole_file(path, overwrite=overwrite) as file:
        for flip in result.flips():
            row = flip.to_dict()
            if path.endswith(".csv"):
                if not written:
                    file.write(csv_line(row).encode())
                file.write(csv_line(row.values()).encode())
            else:
                file.write(encode_json(row) + b"\n")
            written += 1
    say(f"{written:,} changed prompts in {path}")
