"""``relfast run``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from relfast.cli.asking import Asking, asking_options, settings_of, tell_result
from relfast.cli.examples import HelpedCommand
from relfast.cli.main import EXIT_FAILED, EXIT_ROWS_FAILED


@click.command(name="run", cls=HelpedCommand)
@click.argument("records", nargs=-1, required=True, metavar="RECORDS...")
@click.option("--api", required=True, metavar="URL", help="Endpoint (…/v1/completions or …/v1/chat/completions) or base URL (…/v1: chat).")  # fmt: skip
@click.option("--model", required=True, metavar="NAME", help="Model to ask.")
@click.option("-o", "--output", required=True, metavar="FILE", help="Records with their responses, JSONL.")
@click.option("--task", metavar="NAME", help="Task of records that name none.")
@asking_options
@click.option("--limit", type=click.IntRange(0), metavar="N", help="Only the first N lines.")
@click.option(
    "--resume", is_flag=True, help="Go on with an interrupted run; failed requests are asked again."
)
@click.option("--overwrite", is_flag=True, help="Start an existing output over.")
@click.option("--fail-on-error", is_flag=True, help="Exit with 3 if some records have no response.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def command(
    records: tuple[str, ...],
    api: str,
    model: str,
    output: str,
    task: str | None,
    limit: int | None,
    resume: bool,
    overwrite: bool,
    fail_on_error: bool,
    quiet: bool,
    **asking: Any,
) -> int:
    """Ask an OpenAI-compatible server for responses to the questions of RECORDS.

    RECORDS are REL's, SeqBench's or ReAlign's, published or generated. Each is put to the model in its task's
    own prompt. The output has each record with its response, in the records' order, ready for `relfast score`;
    what was asked with stands beside it in FILE.run.json. A request that fails after all attempts leaves
    response null and says why in error. The key of a hosted server is taken from the environment.
    """
    from relfast.cli.progress import ProgressReporter
    from relfast.inference.requests import Wordings, read_requests
    from relfast.inference.run import Plan, complete_records
    from relfast.tasks import get_task

    plan = Plan(
        api, settings_of(model, asking), asking["samples"], cut_off_fails=asking["truncated"] == "fail"
    )
    wordings = Wordings(asking["prompt"], None if task is None else get_task(task))
    requests = list(read_requests(records, limit, wordings))
    with ProgressReporter(quiet=quiet) as reporter:
        progress = Asking(reporter, len(requests))
        counts = complete_records(
            requests,
            Path(output),
            plan,
            resume=resume,
            overwrite=overwrite,
            report=progress.update,
        )
    tell_result(counts, output, quiet)
    if counts.failed and counts.failed == counts.done:
        return EXIT_FAILED
    return EXIT_ROWS_FAILED if fail_on_error and counts.failed else 0
