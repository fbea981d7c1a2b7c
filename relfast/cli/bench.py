"""``relfast bench``, and ``relfast realign``: ReAlign's own command, a form of ``bench --judge``."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from relfast.cli.main import EXIT_FAILED, EXIT_ROWS_FAILED, HelpedCommand, say
from relfast.cli.parameters import options_of
from relfast.cli.report import style_of, style_options
from relfast.cli.run import ASKING, Asking, asking_options, settings_of, tell_failures
from relfast.errors import UsageError
from relfast.realign import DEFAULT_LLM_API_ENDPOINT
from relfast.tasks import AllOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relfast.bench.run import Model, Result
    from relfast.bench.sets import Part
    from relfast.inference.run import Plan
    from relfast.realign.benchmark import Judge


@click.command(name="bench", cls=HelpedCommand)
@click.argument("models", nargs=-1, metavar="[MODEL[@URL[#KEY_VARIABLE]]]...")
@click.option("--api", metavar="URL", help="Endpoint or base URL of models that name none (…/v1: chat).")
@click.option("--mock", is_flag=True, help="No server: a stand-in that knows the gold answers, right or wrong by chance.")  # fmt: skip
@click.option("--set", "sets", multiple=True, metavar="NAME", help="Built-in set: rel, seqbench, realign; repeatable.  [default: all that can be scored here]")  # fmt: skip
@click.option("--records", multiple=True, metavar="FILE", help="Your own records, such as the published sets, in place of the built-in ones (beside them with --set); repeatable.")  # fmt: skip
@click.option("--judge", metavar="MODEL[@URL[#KEY_VARIABLE]]", help="ReAlign's whole benchmark: this model judges the answers, and DIR/MODEL gets ReAlign's own figures; self = the one asked, none = only boxed answers are compared.")  # fmt: skip
@click.option("-o", "--output", default="relfast-bench", show_default=True, metavar="DIR", help="Folder of responses, rows and reports.")  # fmt: skip
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N lines of each set.")
@click.option("--workers", type=click.IntRange(0), metavar="N", help="Processes that score; 0 = in this process.  [default: usable cores]")  # fmt: skip
@click.option("--no-report", is_flag=True, help="No page and no figures; `relfast report` makes them later.")
@style_options
@asking_options
@options_of(AllOptions, without=("b1_min_f1", "tautomers"))
@click.option("--resume", is_flag=True, help="Go on with an interrupted run; failed requests are asked again.")  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Start an existing run over.")
@click.option("--fail-on-error", is_flag=True, help="Exit with 3 if some records have no response or no score.")  # fmt: skip
@click.option("-q", "--quiet", is_flag=True, help="No progress.")  # fmt: skip
def command(models: tuple[str, ...], sets: tuple[str, ...], records: tuple[str, ...], **options: Any) -> int:
    """Ask models, score what they say, and report: REL, SeqBench and ReAlign in one command.

    Each MODEL is asked the built-in sets, or --records; DIR/MODEL gets the responses, the scored rows and the
    report, the terminal a table. Interrupted, the same command with --resume goes on where it was.
    """
    from relfast.bench.sets import built_in, from_files

    chosen = [*(built_in(name for text in sets for name in text.split(",")) if sets or not records else [])]
    may_leave_out = not sets and options["embedder"] == "auto"
    return run(models, [*chosen, *from_files(records)], may_leave_out=may_leave_out, **options)


def run(
    models: Sequence[str],
    parts: Sequence[Part],
    *,
    api: str | None,
    mock: bool,
    judge: str | None,
    output: str,
    resume: bool,
    overwrite: bool,
    fail_on_error: bool,
    quiet: bool,
    no_report: bool,
    workers: int | None,
    limit: int | None = None,
    flat: bool = False,
    may_leave_out: bool = False,
    **options: Any,
) -> int:
    """Request responses, score and report, and print results. Returns the exit code. With ``flat`` the
    results are written to ``output`` itself, not to a folder for each model."""
    from relfast.bench.run import REPORT_DIR, Bench, Watch
    from relfast.cli.progress import ProgressReporter, scoring
    from relfast.engine.job import make_job

    asking = {name: options.pop(name) for name in ASKING}
    style = style_of(options)
    named_models = _models(models, api, mock, asking)
    if judge is not None:
        named_models = [replace(each, judge=_judge(judge, each.plan, asking)) for each in named_models]
    bench = Bench(
        [replace(each, folder=".") for each in named_models] if flat else named_models,
        parts,
        Path(output),
        make_job(**options),
        asking["prompt"],
        limit,
        workers,
        may_leave_out=may_leave_out,
        reports=not no_report,
        style=style,
    )
    with ProgressReporter(quiet=quiet) as reporter:
        watch = Watch(
            lambda name, total: Asking(reporter, total, name).update,
            reporter.step,
            partial(scoring, reporter),
        )
        results = bench.run(watch, resume=resume, overwrite=overwrite)
    _print(results)
    for name, why in bench.left_out.items():
        say(f"relfast: {name} was left out: {why}")
    for model in bench.models if bench.reports else ():
        page = bench.folder_of(model) / REPORT_DIR / "index.html"
        click.echo(f"{model.name}: report in {page}", err=True)
    if len(bench.models) > 1 and bench.reports:
        click.echo(f"all models: report in {bench.folder / REPORT_DIR / 'index.html'}", err=True)
    failed = [result for result in results if result.counts.failed]
    for result in failed:
        tell_failures(result.counts, f"{result.model}, {result.part.name}: ")
    if any(result.counts.useless for result in failed):
        return EXIT_FAILED
    unscored = any(result.summary.count("invalid_record", "timeout", "crashed") for result in results)
    return EXIT_ROWS_FAILED if fail_on_error and unscored else 0


def _models(specs: Sequence[str], api: str | None, mock: bool, asking: dict[str, Any]) -> list[Model]:
    """The models of the command line.

    Raises
    ------
    UsageError
        There is none, one has no server, or two have the same folder.
    """
    from relfast.bench.run import MockAsker, Model, Spec
    from relfast.inference.client import Endpoint
    from relfast.inference.run import Plan
    from relfast.realign.benchmark import MOCK

    if mock and specs:
        raise UsageError("--mock stands in for a model: name none")
    if not (mock or specs):
        raise UsageError("name a model (MODEL@URL, or MODEL with --api URL), or try --mock")
    found: list[Model] = []
    for spec in [Spec(MOCK, MOCK)] if mock else [Spec.parse(text) for text in specs]:
        where = spec.api or api
        if where is None:
            raise UsageError(f"where is {spec.model}? Say --api URL, or {spec.model}@URL")
        if not mock:
            Endpoint.parse(where)
        if any(model.name == spec.folder for model in found):
            raise UsageError(f"two models would be written to {spec.folder}: run them apart, with -o")
        settings = settings_of(spec.model, asking | {"key_env": spec.key_variable or asking["key_env"]})
        fails, asker = asking["truncated"] == "fail", MockAsker() if mock else None
        plan = Plan(where, settings, asking["samples"], cut_off_fails=fails, asker=asker)
        found.append(Model(spec.folder, plan))
    return found


def _judge(text: str, plan: Plan, asking: dict[str, Any]) -> Judge:
    """The judge for the answers of the model of ``plan``, from the value of ``--judge``."""
    from relfast.bench.run import Spec
    from relfast.inference.client import Endpoint
    from relfast.realign.benchmark import BOXES_ONLY, MOCK, Judge

    if text == BOXES_ONLY:
        return Judge(BOXES_ONLY)
    if plan.asker is not None:
        return Judge(MOCK)
    if text == "self":
        return Judge(plan.settings.model, plan.api, replace(plan.settings, temperature=0.0))
    spec = Spec.parse(text)
    Endpoint.parse(spec.api or plan.api)
    more = {"temperature": 0.0, "key_env": spec.key_variable or asking["key_env"]}
    return Judge(spec.model, spec.api or plan.api, settings_of(spec.model, asking | more))


def _print(results: Sequence[Result]) -> None:
    """Print the table to stderr, with a row for each model and task."""
    from rich.console import Console

    from relfast.cli.table import UNSCORED, show_table
    from relfast.stats.summary import COLUMNS, cells

    if sys.stderr is None:
        return
    # sort by set, so that models with the same set are adjacent
    order = list(dict.fromkeys(result.part.name for result in results))
    results = sorted(results, key=lambda result: order.index(result.part.name))
    columns = [*COLUMNS] if any(result.summary.count(*UNSCORED) for result in results) else [*COLUMNS[:-1]]
    several = len({result.model for result in results}) > 1
    words = ["set", "model", "task"] if several else ["set", "task"]
    rows = []
    for result in results:
        for name, task in result.summary.tasks.items():
            names = [result.part.name, result.model, name] if several else [result.part.name, name]
            rows.append([*names, *cells(task)[: len(columns)]])
    console = Console(file=sys.stderr, highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, 120)
    show_table(console, [*words, *columns], rows, words=len(words))


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
def realign(
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

    options = command.make_context("bench", ctx.args, parent=ctx.parent).params
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
    files = [Path(source), *Path(source).rglob("*")] if os.path.exists(source) else []
    part = Part(
        RESULTS_FILE.removesuffix(".jsonl"), (), source, rows, tuple(map(str, filter(Path.is_file, files)))
    )
    own = {"api": api, "output": output, "limit": None, "judge": options["judge"] or "self"}
    return run(() if mock else (model,), [part], flat=True, **options | own)


def _problems(
    subsets: list[str], limit: int | None, mock: bool, data: str | None, dataset: str | None
) -> tuple[tuple[dict[str, Any], ...], str]:
    """The problems as records, and the name of their source."""
    from relfast.realign import problems as sources

    if data is not None:
        if dataset is not None:
            raise UsageError("--data and --dataset exclude each other")
        problems, source = sources.from_file(data, subsets, limit), data
    elif mock and dataset is None:
        problems, source = sources.built_in(subsets, limit), "built-in"
    else:
        source = dataset or sources.DATASET
        asks = not os.path.isdir(source) and os.environ.get(sources.OFFLINE) is None
        if asks and (why := sources.why_unreachable()) is not None:
            # without a network the hub's client would retry for half a minute
            click.echo(f"no network ({why}): only data sets that were fetched before can be loaded", err=True)
            os.environ[sources.OFFLINE] = "1"
        problems = sources.from_hub(subsets or sources.SUBSETS, limit, dataset=source)
    return tuple(
        {"subset": each.subset, "id": each.id, "problem": each.question, "solution": each.solution}
        for each in problems
    ), source
