"""``relfast realign``."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from relfast.cli.asking import tell_failures
from relfast.cli.examples import HelpedCommand
from relfast.cli.main import EXIT_FAILED, EXIT_ROWS_FAILED
from relfast.errors import UsageError
from relfast.realign import DEFAULT_LLM_API_ENDPOINT

if TYPE_CHECKING:
    from relfast.inference.request_log import RequestCounts
    from relfast.realign.benchmark import Plan
    from relfast.realign.problems import Problem

DEFAULT_MODEL: Final = "deepseek-ai/deepseek-math-7b-instruct"


@click.command(name="realign", cls=HelpedCommand)
@click.option("--model", default=DEFAULT_MODEL, show_default=True, metavar="NAME", help="Model that solves the problems.")  # fmt: skip
@click.option("--api", default=DEFAULT_LLM_API_ENDPOINT, show_default=True, metavar="URL", help="Endpoint (…/v1/completions or …/v1/chat/completions) or base URL (…/v1: chat).")  # fmt: skip
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Problems of each subset.  [default: all]")
@click.option("--subsets", multiple=True, metavar="NAME", help="Subsets, several after one --subsets or comma-separated.  [default: all]")  # fmt: skip
@click.option("--mock", is_flag=True, help="No server and no hub: a stand-in solves and judges the problems that ship with relfast, or --data.")  # fmt: skip
@click.option("--data", metavar="FILE", help="Problems from a JSONL file (problem, solution) instead of the hub.")  # fmt: skip
@click.option("--dataset", metavar="NAME", help="Dataset on the hub, or a local directory of one.  [default: EleutherAI/hendrycks_math]")  # fmt: skip
@click.option("-o", "--output", default="Benchmarking", show_default=True, metavar="DIR", help="Folder of results and report.")  # fmt: skip
@click.option("--embedder", default="auto", show_default=True, metavar="NAME|DIR", help="Embedding model.")
@click.option("--device", default="cpu", show_default=True, help="Device of the embedding model.")
@click.option("--judge-model", metavar="NAME", help="Model that judges answers.  [default: --model]")
@click.option("--judge-api", metavar="URL", help="Where the judge is.  [default: --api]")
@click.option("--no-judge", is_flag=True, help="Compare boxed answers only.")
@click.option("--temperature", type=click.FloatRange(0), default=0.0, show_default=True, metavar="T", help="0 = the most likely token each time.")  # fmt: skip
@click.option("--max-tokens", type=click.IntRange(1), default=2048, show_default=True, metavar="N", help="Longest response, reasoning included.")  # fmt: skip
@click.option("--concurrency", type=click.IntRange(1), default=16, show_default=True, metavar="N", help="Requests in flight.")  # fmt: skip
@click.option("--timeout", type=click.FloatRange(0, min_open=True), default=300.0, show_default=True, metavar="SECONDS", help="Longest time of one attempt.")  # fmt: skip
@click.option("--attempts", type=click.IntRange(1), default=5, show_default=True, metavar="N", help="Attempts of one request.")  # fmt: skip
@click.option("--backoff", type=click.FloatRange(0), default=0.5, show_default=True, metavar="SECONDS", help="Mean pause before the second attempt; it doubles.")  # fmt: skip
@click.option("--no-report", is_flag=True, help="Results only; `relfast report` makes the report later.")
@click.option(
    "--resume", is_flag=True, help="Go on with an interrupted run; failed requests are asked again."
)
@click.option("--overwrite", is_flag=True, help="Start existing results over.")
@click.option("--fail-on-error", is_flag=True, help="Exit with 3 if some problems have no score.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
@click.argument("more_subsets", nargs=-1, metavar="[SUBSET]...")
def command(
    model: str,
    api: str,
    limit: int | None,
    subsets: tuple[str, ...],
    more_subsets: tuple[str, ...],
    mock: bool,
    data: str | None,
    dataset: str | None,
    output: str,
    embedder: str,
    device: str,
    judge_model: str | None,
    judge_api: str | None,
    no_judge: bool,
    temperature: float,
    max_tokens: int,
    concurrency: int,
    timeout: float,
    attempts: int,
    backoff: float,
    no_report: bool,
    resume: bool,
    overwrite: bool,
    fail_on_error: bool,
    quiet: bool,
) -> int:
    """ReAlign's whole benchmark: a model solves problems, its steps are aligned, its answers judged.

    DIR gets realign_benchmark_results.jsonl, an entry a problem, and figures-and-statistics/ with the report.
    """
    from relfast.cli.progress import ProgressReporter
    from relfast.inference.settings import Settings
    from relfast.realign.aligner import StepAligner
    from relfast.realign.benchmark import Judge, Plan
    from relfast.report.base import check_packages
    from relfast.report.realign import REPORT_DIR, RESULTS_FILE, generate_analysis_report
    from relfast.tasks.realign import RealignOptions

    if more_subsets and not subsets:
        raise UsageError(f"unexpected argument {more_subsets[0]!r}")
    named = [name for text in (*subsets, *more_subsets) for name in text.split(",") if name]
    if not no_report:
        check_packages("pandas", "scipy")
    problems, source = _problems(named, limit, mock, data, dataset)
    settings = Settings(
        model=model,
        temperature=temperature,
        max_tokens=max_tokens,
        concurrency=concurrency,
        timeout=timeout,
        attempts=attempts,
        backoff=backoff,
    )
    judge = None
    if not (no_judge or mock):
        judge = Judge(judge_api or api, replace(settings, model=judge_model or model, temperature=0.0))
    plan = Plan(
        api=api,
        settings=None if mock else settings,
        judge=judge,
        options=RealignOptions(embedder=embedder, device=device),
        mock_judge=mock and not no_judge,
    )
    folder = Path(output)
    results = folder / RESULTS_FILE
    counts = _run(plan, problems, results, source, resume, overwrite, quiet)
    click.echo(f"{counts.total:,} problems in {results}", err=True)
    if not no_report:
        aligner = StepAligner(embedder, device)
        with ProgressReporter(quiet=quiet) as reporter:
            report = generate_analysis_report(
                results, folder / REPORT_DIR, aligner=aligner, on_step=reporter.step
            )
        click.echo(f"report in {report.directory / 'index.html'}", err=True)
    if counts.failed:
        tell_failures(counts)
        if counts.failed == counts.done:
            return EXIT_FAILED
    return EXIT_ROWS_FAILED if fail_on_error and counts.failed else 0


def _problems(
    subsets: list[str], limit: int | None, mock: bool, data: str | None, dataset: str | None
) -> tuple[list[Problem], str]:
    """The problems and where they are from."""
    from relfast.realign import problems as sources

    if data is not None:
        if dataset is not None:
            raise UsageError("--data and --dataset exclude each other")
        return list(sources.from_file(data, subsets, limit)), data
    if mock and dataset is None:
        return list(sources.built_in(subsets, limit)), "built-in"
    name = dataset or sources.DATASET
    if not Path(name).is_dir():
        _heed_missing_network()
    return list(sources.from_hub(subsets or sources.SUBSETS, limit, dataset=name)), name


def _heed_missing_network() -> None:
    """Without a network, have the hub's client look at what it has kept, not for a network for half a minute."""
    from relfast.realign import problems

    if os.environ.get(problems.OFFLINE) is None and (why := problems.why_unreachable()) is not None:
        click.echo(f"no network ({why}): only data sets that were fetched before can be loaded", err=True)
        os.environ[problems.OFFLINE] = "1"


def _run(
    plan: Plan,
    problems: list[Problem],
    results: Path,
    source: str,
    resume: bool,
    overwrite: bool,
    quiet: bool,
) -> RequestCounts:
    from relfast.cli.progress import Counting, ProgressReporter
    from relfast.realign.benchmark import run_benchmark

    with ProgressReporter(quiet=quiet) as reporter:
        counting = Counting(reporter, "problems", len(problems))

        def report(counts: RequestCounts) -> None:
            counting.update(counts.before + counts.done, counts.failed, before=counts.before)

        return run_benchmark(
            plan, problems, results, dataset=source, resume=resume, overwrite=overwrite, report=report
        )
