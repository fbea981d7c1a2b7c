"""Everything relfast raises.

::

    RelfastError
    ├── UsageError              an option or argument that cannot be used
    │   └── OutputExistsError   the output exists, and neither resume nor overwrite was asked for
    ├── InputError              an input that cannot be read at all (file, line, field)
    │   └── ReadError           an input that failed or changed while it was being read; `--resume` goes on
    ├── UnknownTaskError        an unknown task name; lists the known ones
    ├── MissingExtraError       an optional package is not installed; says what to type
    ├── OutputError             the output cannot be written (path, reason)
    ├── ResumeMismatchError     `--resume` of a run that was started differently; names the difference
    ├── UnscoredError           a response has no reward and ``on_error="raise"`` was given
    └── WorkerError             worker processes failed for a reason that is no record's fault

Bad data gives a row with a status, not an exception. Errors of other packages are turned into one of these
where relfast calls the package.
"""

from __future__ import annotations

import copyreg
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final


class RelfastError(Exception):
    """Base of every error that relfast raises on purpose; its text is one line a person understands.

    Pickling keeps class, text and attributes, so errors pass unchanged from workers to the caller, and
    through the caller's own process pools.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        # by default pickle calls the class with the text, but these constructors take other arguments
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]


class UsageError(RelfastError):
    """An option or argument that cannot be used."""


class TooManyError(UsageError):
    """A call has more samples than its caller allows."""


class OutputExistsError(UsageError):
    """The output exists, and neither resume nor overwrite was asked for. The files are unchanged."""

    def __init__(self, path: object, *, resumable: bool = False) -> None:
        self.path: str = str(path)
        ways = "--resume continues it, --overwrite starts over" if resumable else "--overwrite replaces it"
        super().__init__(f"{path} exists; {ways}")


class InputError(RelfastError):
    """An input that cannot be read at all.

    ``file``, ``line`` (counted from 1) and ``field`` name the place; None where unknown.
    """

    def __init__(
        self, message: str, *, file: str | None = None, line: int | None = None, field: str | None = None
    ) -> None:
        self.file: str | None = file
        self.line: int | None = line
        self.field: str | None = field
        place = ":".join(str(part) for part in (file, line) if part is not None)
        prefix = f"{place}: " if place else ""
        where = f" (field {field!r})" if field else ""
        super().__init__(f"{prefix}{message}{where}")


class Damaged(InputError):
    """A stream ends early or is damaged. Raised only after all bytes before the damage have been returned."""


class ReadError(InputError):
    """An input failed, shrank or changed while it was being read. The rows written so far are complete."""


@contextmanager
def told_of(path: str, kind: type[InputError] = InputError) -> Iterator[None]:
    """Turn an `OSError` in this context into a ``kind`` of `InputError` that names the file ``path``."""
    try:
        yield
    except OSError as error:
        raise kind(error.strerror or str(error), file=path) from error


class UnknownTaskError(RelfastError):
    """An unknown task name."""

    def __init__(self, name: object, known: Iterable[str]) -> None:
        self.name = name
        known = tuple(known)
        super().__init__(f"unknown task {name!r}; known tasks: {', '.join(known)}{did_you_mean(name, known)}")


class MissingExtraError(RelfastError):
    """An optional package is needed but not installed."""

    def __init__(self, what: str, extra: str, hint: str = "") -> None:
        self.extra = extra
        super().__init__(f"{what} needs an optional package: {install_command(extra)}{hint}")


def install_command(extra: str) -> str:
    """The command that installs an extra: in a clone, and elsewhere, where it lists packages, since relfast
    itself is on no package index."""
    from importlib import metadata

    try:
        requires = metadata.requires("relfast") or []
    except metadata.PackageNotFoundError:
        requires = []
    marked = (line.replace('"', "'").partition(";") for line in requires)
    packages = [f"'{name.strip()}'" for name, _, marker in marked if marker.strip() == f"extra == '{extra}'"]
    in_clone = f"pip install '.[{extra}]' in a clone of relfast"
    return " ".join((f"{in_clone}, or pip install", *packages)) if packages else in_clone


class OutputError(RelfastError):
    """The output cannot be written."""

    def __init__(self, path: object, reason: str) -> None:
        self.path: str = str(path)
        super().__init__(f"{path}: {reason}")


class ResumeMismatchError(RelfastError):
    """The run to be resumed was started with other options or inputs; ``what`` names the difference."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(f"cannot resume: {what}; start over with --overwrite")


class WorkerError(RelfastError):
    """Worker processes failed for a reason that is no record's fault. It is never turned into a score.

    ``original`` is the `RelfastError` that a worker raised, if one did.
    """

    def __init__(self, message: str, original: RelfastError | None = None) -> None:
        self.original = original
        super().__init__(message)


class UnscoredError(RelfastError):
    """A response could not be scored, and ``on_error="raise"`` was given."""

    def __init__(self, task: str | None, status: str, message: str) -> None:
        self.task: str | None = task
        self.status: str = status
        super().__init__(f"{task or 'response'} has no reward ({status}): {message}")


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """``; did you mean 'timeout'?`` for a name that is nearly a known one, else nothing."""
    import difflib  # imported here, since most commands have nothing misspelt

    by_folded = {candidate.lower(): candidate for candidate in known}
    found = difflib.get_close_matches(str(name).lower(), list(by_folded), 1, 0.7)
    return f"; did you mean {by_folded[found[0]]!r}?" if found else ""


def printable(text: str) -> str:
    """Text of unknown origin, safe to print on a terminal: U+FFFD replaces each character that would move the
    cursor, hide the rest of the line or reverse its direction."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)


_IN_PYTHON: Final = {
    "--resume": "resume=True",
    "--overwrite": "overwrite=True",
    "--lengths": "lengths=True",
    "--data": "data",
    "--filter": "filter",
    "--map": "map",
    "--input-format": "input_format",
    "-o": "output",
}
_OPTION: Final = re.compile(r"(?<![\w-])(" + "|".join(_IN_PYTHON) + r")(?![\w-])")


def in_python(text: str) -> str:
    """A message with the names of command-line options replaced by those of Python's keywords, such as
    ``--resume`` by ``resume=True``."""
    return _OPTION.sub(lambda option: _IN_PYTHON[option[0]], text)


@contextmanager
def said_in_python() -> Iterator[None]:
    """Make every `RelfastError` that leaves this context name keywords instead of command-line options."""
    try:
        yield
    except RelfastError as error:
        if error.args and isinstance(error.args[0], str):
            error.args = (in_python(error.args[0]), *error.args[1:])
        raise
