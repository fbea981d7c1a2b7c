"""Option values that are checked where Python's are, with the option's name before the line."""

from __future__ import annotations

import click

from relfast.engine.settings import timeout_of
from relfast.errors import UsageError, did_you_mean
from relfast.records import STATUSES


def check_timeout(_: click.Context, parameter: click.Parameter, value: float) -> float:
    """A deadline in seconds; click's own ranges let NaN pass."""
    try:
        return timeout_of(value)
    except UsageError as error:
        raise click.BadParameter(str(error), param=parameter) from None


def check_statuses(_: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, ...]:
    """Statuses of rows, with commas between them."""
    statuses = tuple(filter(None, (value or "").split(",")))
    for status in statuses:
        if status not in STATUSES:
            known = ", ".join(STATUSES)
            raise click.BadParameter(
                f"{status!r} is none of {known}{did_you_mean(status, STATUSES)}", param=parameter
            )
    return statuses
