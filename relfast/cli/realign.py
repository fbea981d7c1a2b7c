"""``relfast realign``: the published script's command, as `relfast bench --judge` on problems of the hub."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import click

from relfast.cli import bench
from relfast.cli.examples import HelpedCommand
from relfast.errors import UsageError
from relfast.realign import DEFAULT_LLM_API_ENDPOINT

DEFAULT_MODEL: Final = "deepseek-ai/deepseek-math-7b-instruct"

_OWN: Final = (
    click.Argument(["models"], nargs=-1, metavar="[SUBSET]..."),
    click.Option(["--model"], default=DEFAULT_MODEL, show_default=True, metavar="NAME", help="Model that solves the problems."),
    click.Option(["--api"], default=DEFAULT_LLM_API_ENDPOINT, show_default=True, metavar="URL", help="Endpoint (…/v1/completions or …/v1/chat/completions) or base URL (…/v1: chat)."),
    click.Option(["--limit"], type=click.IntRange(1), metavar="N", help="Problems of each subset.  [default: all]"),
    click.Option(["--subsets"], multiple=True, metavar="NAME", help="Subsets, several behind it or comma-separated.  [default: all]"),
    click.Option(["--data"], metavar="FILE", help="Problems from a file (problem, solution) instead of the hub."),
    click.Option(["--dataset"], metavar="NAME", help="Dataset on the hub, or a local directory of one.  [default: EleutherAI/hendrycks_math]"),
    click.Option(["-o", "--output"], default="Benchmarking", show_default=True, metavar="DIR", help="Folder of results and report."),
)  # fmt: skip
_REPLACED: Final = {
    *(parameter.name for parameter in _OWN),
    "sets",
    "records",
    "prompt",
    "samples",
    "truncated",
    "b1_min_f1",
    "tautomers",
}


def _callback(
    model: str,
    api: str,
    models: tuple[str, ...],
    subsets: tuple[str, ...],
    limit: int | None,
    mock: bool,
    data: str | None,
    dataset: str | None,
    judge: str | None,
    **options: Any,
) -> int:
    """ReAlign's whole benchmark: a model solves problems, its steps are aligned, its answers judged.

    DIR gets realign_benchmark_results.jsonl, an entry a problem, and figures-and-statistics/ with its figures and
    tables. It is `relfast bench --judge self` with one model, on problems of the hub.
    """
    from relfast.bench.sets import Part
    from relfast.report.realign import RESULTS_FILE

    if models and not subsets:
        raise UsageError(f"unexpected argument {models[0]!r}")
    named = [name for text in (*subsets, *models) for name in text.split(",") if name]
    rows, source = _problems(named, limit, mock, data, dataset)
    part = Part(RESULTS_FILE.removesuffix(".jsonl"), (), source, rows)
    asked = () if mock else (model,)
    return bench.run(asked, [part], api=api, mock=mock, judge=judge or "self", flat=True, **options)


command = HelpedCommand(
    "realign",
    callback=_callback,
    help=_callback.__doc__,
    params=[*_OWN, *(each for each in bench.command.params if each.name not in _REPLACED)],
)


def _problems(
    subsets: list[str], limit: int | None, mock: bool, data: str | None, dataset: str | None
) -> tuple[tuple[dict[str, Any], ...], str]:
    """The problems as records, and where they are from."""
    from relfast.realign import problems as sources

    if data is not None:
        if dataset is not None:
            raise UsageError("--data and --dataset exclude each other")
        found, source = sources.from_file(data, subsets, limit), data
    elif mock and dataset is None:
        found, source = sources.built_in(subsets, limit), "built-in"
    else:
        source = dataset or sources.DATASET
        asks = not Path(source).is_dir() and os.environ.get(sources.OFFLINE) is None
        if asks and (why := sources.why_unreachable()) is not None:
            # the hub's client would look for a network for half a minute
            click.echo(f"no network ({why}): only data sets that were fetched before can be loaded", err=True)
            os.environ[sources.OFFLINE] = "1"
        found = sources.from_hub(subsets or sources.SUBSETS, limit, dataset=source)
    return tuple(
        {"subset": each.subset, "id": each.id, "problem": each.question, "solution": each.solution}
        for each in found
    ), source
