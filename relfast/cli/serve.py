"""``relfast serve``."""

from __future__ import annotations

import contextlib
import ipaddress
import os
from pathlib import Path
from typing import Any

import click

from relfast.cli.main import say
from relfast.cli.parameters import check_timeout, options_of, pairs_of
from relfast.engine.calls.unscored import checked_on_error
from relfast.engine.job import DEFAULT_TIMEOUT, OnError
from relfast.errors import MissingExtraError, UsageError
from relfast.records import POLICIES, Policy
from relfast.tasks import AllOptions


@click.command(name="serve")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address; one beyond the loopback needs --token-file.")  # fmt: skip
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 = any free one.")  # fmt: skip
@click.option("--allow-host", "hosts", multiple=True, metavar="NAME", help="Name or address to answer to, beside the loopback's and --host.")  # fmt: skip
@click.option("--token-file", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="What requests must come with (Authorization: Bearer); /health is open. Only you may read the file.")  # fmt: skip
@click.option("--policy", type=click.Choice(POLICIES), default="strict", show_default=True, help="Default policy of requests.")  # fmt: skip
@click.option("--reward", multiple=True, metavar="TASK=METRIC", help="Metric that becomes the reward of a task.")  # fmt: skip
@click.option("--on-error", multiple=True, metavar="[KIND=]NUMBER", help="Reward of a response without a score. KIND says by whose fault: response (it hung or crashed its scoring; strict: the task's lowest reward), machinery (all others).  [default: null]")  # fmt: skip
@options_of(AllOptions, without=("policy",))
@click.option("--workers", type=click.IntRange(0), metavar="N", help="Worker processes.  [default: usable cores]")  # fmt: skip
@click.option("--timeout", type=float, callback=check_timeout, default=DEFAULT_TIMEOUT, show_default=True, metavar="SECONDS", help="Longest time for one record; 0 = none.")  # fmt: skip
@click.option("--max-body-bytes", type=click.IntRange(1), metavar="N", help="Longest request.  [default: 67108864]")  # fmt: skip
@click.option("--max-records", type=click.IntRange(1), metavar="N", help="Most records a request, each sample counted.  [default: 10000]")  # fmt: skip
@click.option("--body-timeout", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="Longest time for headers, and for a body, to arrive.  [default: 30]")  # fmt: skip
@click.option("--stop-timeout", type=click.FloatRange(0), metavar="SECONDS", help="Longest time to answer what is in flight when told to stop; the rest gets 503.  [default: 10]")  # fmt: skip
@click.option("--access-log", is_flag=True, help="Write a line on stderr for each request: time, client, path, status, bytes, duration.")  # fmt: skip
@click.option("-q", "--quiet", is_flag=True, help="Only warnings on stderr.")
def command(
    host: str,
    port: int,
    hosts: tuple[str, ...],
    token_file: Path | None,
    policy: Policy,
    reward: tuple[str, ...],
    on_error: tuple[str, ...],
    workers: int | None,
    timeout: float,
    max_body_bytes: int | None,
    max_records: int | None,
    body_timeout: float | None,
    stop_timeout: float | None,
    access_log: bool,
    quiet: bool,
    **scoring: Any,
) -> int:
    """Serve rewards over HTTP: /score, /get_reward (OpenRLHF, slime), /health, /metrics, /docs.

    SIGINT or SIGTERM stops it when all requests are answered, or --stop-timeout is over; a second one at once.
    """
    try:
        from relfast.serve.access import read_token
        from relfast.serve.app import BODY_SECONDS, MAX_BODY_BYTES, MAX_RECORDS, STOP_SECONDS, Settings
        from relfast.serve.server import serve
    except ImportError:
        raise MissingExtraError("relfast serve", "serve") from None
    options: dict[str, Any] = {"workers": workers, "timeout": timeout, **scoring}
    if reward:
        options["rewards"] = pairs_of(reward, "--reward")
    settings = Settings(
        policy=policy,
        on_error=_on_error(on_error),
        max_body_bytes=max_body_bytes or MAX_BODY_BYTES,
        max_records=max_records or MAX_RECORDS,
        body_seconds=body_timeout or BODY_SECONDS,
        stop_seconds=STOP_SECONDS if stop_timeout is None else stop_timeout,
        options=options,
        hosts=tuple(map(_host, hosts)),
        token=None if token_file is None else read_token(token_file),
        log=say if access_log else None,
    )
    if not serve(host, port, settings, announce=_announce, quiet=quiet):
        # threads may still score for disconnected clients, and a normal exit would wait for them
        os._exit(0)
    return 0


def _announce(url: str) -> None:
    say(f"relfast: serving on {url} (docs: {url}/docs)")


def _host(text: str) -> str:
    bare = text.removeprefix("[").removesuffix("]")
    with contextlib.suppress(ValueError):
        return str(ipaddress.ip_address(bare))
    if not bare or set(bare) & set(":/*@[] "):
        raise UsageError(f"--allow-host wants a name or an address without a port, not {text!r}")
    return bare


def _on_error(texts: tuple[str, ...]) -> OnError:
    """The value of ``on_error`` from the options' texts: ``0``, or ``response=0`` and ``machinery=-1``."""
    kinds: dict[str, float | None] = {}
    for text in texts:
        kind, sign, number = text.rpartition("=")
        try:
            kinds[kind if sign else "machinery"] = None if number == "null" else float(number)
        except ValueError:
            raise UsageError(f"--on-error wants NUMBER or KIND=NUMBER, not {text!r}") from None
    return checked_on_error(kinds) if kinds else None
