"""``relfast run``, and what it shares with ``relfast bench``: options for requests, settings, progress."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relfast.cli.main import ANSWERS, EXIT_FAILED, EXIT_ROWS_FAILED, SERVER, HelpedCommand, say
from relfast.cli.parameters import with_options
from relfast.cli.progress import ProgressReporter, Status, counted_status
from relfast.errors import UsageError
from relfast.support.outputs import keep_apart, own_outputs

if TYPE_CHECKING:
    from relfast.inference.client import Settings
    from relfast.inference.request_log import RequestCounts


asking_options = with_options(
    click.option("--prompt", metavar="NAME|FILE", help="Prompt: a name of the task's, question (as it stands), boxed (asks for a form that strict reads), or a text file with {question} in it.  [default: the task's own]"),
    click.option("--samples", type=click.IntRange(1), default=1, show_default=True, metavar="K", help="Responses to each record; several make a list."),
    click.option("--system", metavar="TEXT", help="System message."),
    click.option("--temperature", type=click.FloatRange(0), default=0.0, show_default=True, metavar="T", help="0 = the most likely token each time."),
    click.option("--max-tokens", type=click.IntRange(1), default=2048, show_default=True, metavar="N", help="Longest response, reasoning included."),
    click.option("--seed", type=int, metavar="S", help="Seed of each record's first sample, for servers that take one; the next samples have S + 1, S + 2, …"),
    click.option("--stop", multiple=True, metavar="TEXT", help="A text that ends a response; repeatable."),
    click.option("--extra-body", metavar="JSON", help="Further fields of each request, such as a budget of thinking; null takes one of ours away."),
    click.option("--truncated", type=click.Choice(["keep", "fail"]), default="keep", show_default=True, help="Responses cut off at --max-tokens: score them as they are, or leave them without a score."),
    click.option("--concurrency", type=click.IntRange(1), default=16, show_default=True, metavar="N", help="Requests in flight."),
    click.option("--requests-per-minute", type=click.FloatRange(0, min_open=True), metavar="N", help="Most requests begun in a minute.  [default: unlimited]"),
    click.option("--timeout", type=click.FloatRange(0, min_open=True), default=300.0, show_default=True, metavar="SECONDS", help="Longest time of one attempt."),
    click.option("--attempts", type=click.IntRange(1), default=5, show_default=True, metavar="N", help="Attempts of one request."),
    click.option("--backoff", type=click.FloatRange(0), default=0.5, show_default=True, metavar="SECONDS", help="Mean pause before the second attempt; it doubles."),
    click.option("--max-wait", type=click.FloatRange(0), default=60.0, show_default=True, metavar="SECONDS", help="Longest pause between two attempts; a request whose Retry-After asks for more has failed."),
    click.option("--key-env", default="OPENAI_API_KEY", show_default=True, metavar="NAME", help="Environment variable with the server's key."),
)  # fmt: skip
"""Decorator that gives a command the options of requests; `settings_of` reads their values."""

ASKING = ("prompt", "samples", *ANSWERS, *SERVER)
"""The names of these options."""


def settings_of(model: str, given: Mapping[str, Any]) -> Settings:
    """The settings of a model's requests, from the values of these options.

    Raises
    ------
    UsageError
        The extra body is no JSON object.
    """
    from relfast.inference.client import Settings

    named = {field.name: given[field.name] for field in fields(Settings) if field.name in given}
    named |= {"extra_body": _extra_body(given["extra_body"]), "key_variable": given["key_env"]}
    return Settings(model=model, **named)


def _extra_body(text: str | None) -> dict[str, Any]:
    import orjson

    if text is None:
        return {}
    try:
        body = orjson.loads(text)
    except ValueError as error:
        raise UsageError(f"--extra-body is no JSON: {error}") from None
    if not isinstance(body, dict):
        raise UsageError(f'--extra-body must be a JSON object such as {{"top_p": 0.9}}, not {text!r:.60}')
    return body


class Asking:
    """Shows the progress of requests: records, failures, tokens per second, tokens used, retries."""

    def __init__(self, reporter: ProgressReporter, total: int, name: str = "") -> None:
        self._reporter, self._total, self._name = reporter, total, name
        self._started = time.monotonic()

    def update(self, counts: RequestCounts) -> None:
        self._reporter.update(lambda: self.status(counts, time.monotonic() - self._started))

    def status(self, counts: RequestCounts, seconds: float) -> Status:
        """The status after ``seconds`` of this run."""
        done = counts.before + counts.done
        facts = [f"{self._name}{done:,} of {self._total:,} records", f"{counts.failed:,} failed"]
        if counts.completion_tokens:
            facts += [
                f"{counts.completion_tokens / max(seconds, 1e-9):,.0f} tokens/s",
                f"{counts.prompt_tokens:,} + {counts.completion_tokens:,} tokens",
            ]
        facts += [f"{counts.retries:,} retries"]
        return counted_status(counts.done, self._total, seconds, facts, counts.before)


def tell_result(counts: RequestCounts, output: str | Path, quiet: bool) -> None:
    """Print the result of a run to stderr, in one line and one for each cause of failures."""
    if not quiet:
        parts = [f"{counts.total:,} records in {output}"]
        if counts.prompt_tokens or counts.completion_tokens:
            parts.append(f"{counts.prompt_tokens:,} + {counts.completion_tokens:,} tokens")
        if counts.retries:
            parts.append(f"{counts.retries:,} retries")
        if counts.cut_off:
            parts.append(f"{counts.cut_off:,} responses ran into --max-tokens")
        click.echo(", ".join(parts), err=True)
    tell_failures(counts)


def tell_failures(counts: RequestCounts, of: str = "") -> None:
    """Print to stderr how many records have no response, and why; ``of`` names the run in the message."""
    if counts.failed:
        say(f"relfast: {of}{counts.failed:,} records have no response; --resume asks for them again")
        for cause in counts.causes_shown():
            say(f"  {cause}")


@click.command(name="run", cls=HelpedCommand)
@click.argument("records", nargs=-1, required=True, metavar="RECORDS...")
@click.option("--api", required=True, metavar="URL", help="Endpoint (…/v1/completions or …/v1/chat/completions) or base URL (…/v1: chat).")  # fmt: skip
@click.option("--model", required=True, metavar="NAME", help="Model to ask.")
@click.option("-o", "--output", required=True, metavar="FILE", help="Records with their responses, JSONL.")
@click.option("--task", metavar="NAME", help="Task of records that name none.")
@asking_options
@click.option("--limit", type=click.IntRange(0), metavar="N", help="Only the first N lines.")
@click.option("--resume", is_flag=True, help="Go on with an interrupted run; failed requests are asked again.")  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Start an existing output over.")
@click.option("--fail-on-error", is_flag=True, help="Exit with 3 if some records have no response.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def command(
    records: tuple[str, ...], api: str, model: str, output: str, task: str | None, quiet: bool, **given: Any
) -> int:
    """Ask an OpenAI-compatible server for responses to the questions of RECORDS.

    RECORDS are REL's, SeqBench's or ReAlign's, published or generated. Each is put to the model in its task's
    own prompt. The output has each record with its response, in the records' order, ready for `relfast score`;
    the run's settings stand beside it in FILE.run.json. A request that fails after all attempts leaves
    response null and says why in error. The key of a hosted server is taken from the environment.
    """
    from relfast.engine.files.io.recognise import refuse_output
    from relfast.engine.files.io.sources import find_sources, paths_in
    from relfast.inference.request_log import SETTINGS_SUFFIX
    from relfast.inference.requests import Wordings, read_requests
    from relfast.inference.run import Plan, complete_records
    from relfast.tasks import get_task

    own = own_outputs(output, SETTINGS_SUFFIX)
    refuse_output(output, (".jsonl",), "responses are")
    plan = Plan(api, settings_of(model, given), given["samples"], cut_off_fails=given["truncated"] == "fail")
    wordings = Wordings(given["prompt"], None if task is None else get_task(task))
    read = {"RECORDS": paths_in(find_sources(records, own)), "--prompt": wordings.files}
    keep_apart("run", {"-o": [output], **read})
    requests = list(read_requests(records, given["limit"], wordings, own))
    how = {name: given[name] for name in ("resume", "overwrite")}
    with ProgressReporter(quiet=quiet) as reporter:
        progress = Asking(reporter, len(requests))
        counts = complete_records(requests, Path(output), plan, report=progress.update, **how)
    tell_result(counts, output, quiet)
    if counts.useless:
        return EXIT_FAILED
    return EXIT_ROWS_FAILED if given["fail_on_error"] and counts.failed else 0
