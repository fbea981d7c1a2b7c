"""``relfast realign``: the published script's command, as `relfast bench --judge` on problems of the hub."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import click

from relfast.cli import bench
from relfast.errors import UsageError
from relfast.realign import DEFAULT_LLM_API_ENDPOINT

DEFAULT_MODEL: Final = "deepseek-ai/deepseek-math-7b-instruct"


@click.command(name="realign", context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.option("--model", default=DEFAULT_MODEL, show_default=True, metavar="NAME", help="Model that solves the problems.")  # fmt: skip
@click.option("--api", default=DEFAULT_LLM_API_ENDPOINT, show_default=True, metavar="URL", help="Endpoint (…/v1/completions or …/v1/chat/completions) or base URL (…/v1: chat).")  # fmt: skip
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Problems of each subset.  [default: all]")
@click.option("--subsets", multiple=True, metavar="NAME", help="Subsets, several behind it or comma-separated.  [default: all]")  # fmt: skip
@click.option("--data", metavar="FILE", help="Problems from a file (problem, solution) instead of the hub.")
@click.option("--dataset", metavar="NAME", help="Dataset on the hub, or a local directory of one.  [default: EleutherAI/hendrycks_math]")  # fmt: skip
@click.option("-o", "--output", default="Benchmarking", show_default=True, metavar="DIR", help="Folder of results and report.")  # fmt: skip
@click.pass_context
def command(
    ctx: click.Context,
    model: str,
    api: str,
    limit: int | None,
    subsets: tuple[str, ...],
    data: str | None,
    dataset: str | None,
    output: str,
) -> int:
    """ReAlign's whole benchmark: a model solves problems, its steps are aligned, its answers judged.

    DIR gets realign_benchmark_results.jsonl, an entry a problem, and figures-and-statistics/ with its figures and
    tables. It is `relfast bench --judge self` with one model, on problems of the hub, and takes its other options,
    such as --mock, --max-tokens and --resume (`relfast bench --help`).
    """
    from relfast.bench.sets import Part
    from relfast.report.realign import RESULTS_FILE

    options = bench.command.make_context("bench", ctx.args, parent=ctx.parent).params
    more, sets, records = options.pop("models"), options.pop("sets"), options.pop("records")
    if sets or records:
        raise UsageError(
            "realign takes its problems from --subsets, --data or --dataset; others: relfast bench"
        )
    if more and not subsets:
        raise UsageError(f"unexpected argument {more[0]!r}")
    named = [name for text in (*subsets, *more) for name in text.split(",") if name]
    mock = options["mock"]
    rows, source = _problems(named, limit, mock, data, dataset)
    part = Part(RESULTS_FILE.removesuffix(".jsonl"), (), source, rows)
    own = {"api": api, "output": output, "limit": None, "judge": options["judge"] or "self"}
    return bench.run(() if mock else (model,), [part], flat=True, **options | own)


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
