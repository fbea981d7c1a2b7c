"""Makes options of the command line from declared parameters (`relfast.parameters`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

import click

from relfast.engine.job import timeout_of
from relfast.errors import UsageError
from relfast.parameters import Choice, Flag, Number, Pair, Parameter, Text, Whole, WrittenKind, parameters_of

FORMATS: Final = ("md", "csv", "latex", "json")
"""Forms of ``--format``: what commands can print in place of a table for the terminal."""


def check_timeout(_: click.Context, parameter: click.Parameter, value: float) -> float:
    """click callback for a deadline in seconds; click's own ranges would accept NaN."""
    try:
        return timeout_of(value)
    except UsageError as error:
        raise click.BadParameter(str(error), param=parameter) from None


def pairs_of(texts: Iterable[str], option: str) -> dict[str, str]:
    """The values of a repeatable option NAME=VALUE, by name.

    Raises
    ------
    UsageError
        A value is not of this form.
    """
    pairs = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise UsageError(f"{option} {text!r} is not of the form NAME=VALUE")
        pairs[name] = value
    return pairs


F = TypeVar("F", bound=Callable[..., Any])


def options_of(declaring: type, *, without: tuple[str, ...] = ()) -> Callable[[F], F]:
    """A decorator that gives a command options for the parameters that ``declaring`` declares, in order."""
    shown = [p for p in parameters_of(declaring) if p.flag is not None and p.name not in without]
    return with_options(*map(_option, shown))


def with_options(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    """A decorator that gives a command these options, in order."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def _option(parameter: Parameter) -> Callable[[F], F]:
    """The click option of a declared parameter."""
    assert parameter.flag is not None
    more: dict[str, Any] = {"default": parameter.default, "show_default": True, "help": parameter.help}
    if parameter.metavar is not None:
        more["metavar"] = parameter.metavar
    match parameter.kind:
        case Flag():
            # without show_default: "default: off" is no news for a switch
            return click.option(
                parameter.flag, parameter.name, is_flag=True, default=parameter.default, help=parameter.help
            )
        case Choice(names):
            more["type"] = click.Choice(list(names))
        case Whole(low, high):
            more["type"] = int if low is high is None else click.IntRange(low, high)
        case Number(low, high):
            more["type"] = float if low is high is None else click.FloatRange(low, high)
        case Pair():
            more |= {"type": float, "nargs": 2}
        case Text():
            more["type"] = str
        case written:
            more["type"] = _Written(written)  # type: ignore[arg-type]
            more["default"] = None if parameter.default is None else written.write(parameter.default)  # type: ignore[attr-defined]
    if parameter.repeat:
        more["multiple"] = True
        several = (more["default"],) if parameter.default not in (None, ()) else None
        more["default"] = several
    if parameter.default in (None, ()):
        del more["show_default"]
    return click.option(parameter.flag, parameter.name, **more)


class _Written(click.ParamType):  # type: ignore[type-arg] # generic from click 8.4 on only
    """The click type of a kind with its own notation."""

    def __init__(self, kind: WrittenKind) -> None:
        self._kind = kind
        self.name = kind.metavar

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return self._kind.parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
