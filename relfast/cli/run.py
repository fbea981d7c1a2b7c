"""``relfast run``."""

from __future__ import annotations

from pathlib import Path

import click

from relfast.cli.main import EXIT_FAILED, EXIT_ROWS_FAILED


@click.command(name="run")
@click.argument("records", nargs=-1, required=True, metavar="RECORDS...")
@click.option("--api", required=True, metavar="URL", help="Endpoint (…/v1/completions or …/v1/chat/completions) or base URL (…/v1: chat).")  # fmt: skip
@click.option("--model", required=True, metavar="NAME", help="Model to ask.")
@click.option("-o", "--output", required=True, metavar="FILE", help="Records with their responses, JSONL.")
@click.option("--samples", type=click.IntRange(1), default=1, show_default=True, metavar="K", help="Responses to each record; several make a list.")  # fmt: skip
@click.option("--system", metavar="TEXT", help="System message.")
@click.option("--temperature", type=click.FloatRange(0), default=0.0, show_default=True)
@click.option("--max-tokens", type=click.IntRange(1), default=2048, show_default=True, metavar="N")
@click.option("--concurrency", type=click.IntRange(1), default=16, show_default=True, metavar="N", help="Requests in flight.")  # fmt: skip
@click.option("--timeout", type=click.FloatRange(0, min_open=True), default=300.0, show_default=True, metavar="SECONDS", help="Longest time of one attempt.")  # fmt: skip
@click.option("--attempts", type=click.IntRange(1), default=5, show_default=True, metavar="N", help="Attempts of one request.")  # fmt: skip
@click.option("--backoff", type=click.FloatRange(0), default=0.5, show_default=True, metavar="SECONDS", help="Mean pause before the second attempt; it doubles.")  # fmt: skip
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
    samples: int,
    system: str | None,
    temperature: float,
    max_tokens: int,
    concurrency: int,
    timeout: float,
    attempts: int,
    backoff: float,
    limit: int | None,
    resume: bool,
    overwrite: bool,
    fail_on_error: bool,
    quiet: bool,
) -> int:
    """Ask an OpenAI-compatible server for responses to the questions of RECORDS.

    The output has each record with its response, in the records' order, ready for `relfast score`. A
    request that fails after all attempts leaves response null and says why in error. The key of a hosted
    server is taken from OPENAI_API_KEY.
    """
    from relfast.cli.progress import Counting, ProgressReporter
    from relfast.inference.client import Settings
    from relfast.inference.request_log import RequestCounts
    from relfast.inference.run import complete_records, read_requests

    settings = Settings(
        model=model,
        temperature=temperature,
        max_tokens=max_tokens,
        concurrency=concurrency,
        timeout=timeout,
        attempts=attempts,
        backoff=backoff,
        system=system,
    )
    requests = list(read_requests(records, limit))
    with ProgressReporter(quiet=quiet) as reporter:
        counting = Counting(reporter, "records", len(requests))

        def report(counts: RequestCounts) -> None:
            counting.update(counts.before + counts.done, counts.failed, before=counts.before)

        counts = complete_records(
            requests,
            Path(output),
            api,
            settings,
            samples=samples,
            resume=resume,
            overwrite=overwrite,
            report=report,
        )
    if not quiet:
        click.echo(f"{counts.total:,} records in {output}", err=True)
    if counts.failed:
        click.echo(
            f"relfast: {counts.failed:,} records have no response; --resume asks for them again", err=True
        )
        if counts.failed == counts.done:
            return EXIT_FAILED
    return EXIT_ROWS_FAILED if fail_on_error and counts.failed else 0
