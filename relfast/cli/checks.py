"""Option values that are checked where Python's are, with the option's name before the line."""

from __future__ import annotations

import click

from relfast.engine.settings import timeout_of
from relfast.errors import UsageError


def check_timeout(_: click.Context, parameter: click.Parameter, value: float) -> float:
    """A deadline in seconds; click's own ranges let NaN pass."""
    try:
        return timeout_of(value)
    except UsageError as error:
        raise click.BadParameter(str(error), param=parameter) from None
