"""The table of dialects, compiled into what is followed in a row: the ways to recognise a form, and the steps
to its fields. `relfast.formats.reading` follows them in decoded rows; `relfast.engine.columns.text_table`
writes them, for a job, into the arrays that the kernel follows in bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from functools import cached_property, lru_cache
from typing import Any, Final, NamedTuple

from relfast_kernels.text.steps import (
    IS_ABSENT,
    IS_LIST,
    IS_NO_ERROR,
    IS_NULL,
    IS_NUMBER,
    IS_OBJECT,
    IS_TEXT,
    IS_TRUTH,
    NAME,
)

from relfast.formats.failure import from_error
from relfast.formats.paths import Path, lead_of, path_of, paths_of
from relfast.formats.table import DIALECTS, REASONS, Form, Said

AUTO: Final = "auto"
"""In place of a dialect's name: each row is read by the first form that fits."""

REQUIREMENTS: Final[Mapping[str, int]] = {
    "": IS_NULL | IS_TRUTH | IS_NUMBER | IS_TEXT | IS_OBJECT | IS_LIST,
    "object": IS_OBJECT,
    "list": IS_LIST,
    "null": IS_NULL,
    "absent": IS_ABSENT,
    "fine": IS_ABSENT | IS_NULL | IS_NO_ERROR,
}
"""What a condition of the table can require at its path, written after a colon: the kinds of values that may
stand there. ``fine``: it is no error."""

REASON_PATHS: Final = paths_of(" ".join(REASONS))


class Condition(NamedTuple):
    """A condition: a path, which kinds of values may stand there (bits), and a path that must lead on from
    each item, or none."""

    path: Path
    asks: int
    each: tuple[Path, ...]

    def is_met(self, row: Mapping[str, Any]) -> bool:
        """Whether a row meets it."""
        values = self.path.walk(row)
        value: Any = values[0] if values else None
        if not self.asks & (_kind_of(value) if values else IS_ABSENT):
            return self.asks & IS_NO_ERROR != 0 and from_error(value) is None
        return all(path.walk(item) for path in self.each for item in value)


def _kind_of(value: Any) -> int:
    if value is None:
        return IS_NULL
    if isinstance(value, str):
        return IS_TEXT
    if isinstance(value, Mapping):
        return IS_OBJECT
    if isinstance(value, list):
        return IS_LIST
    return IS_TRUTH if isinstance(value, bool) else IS_NUMBER


class SamplePaths(NamedTuple):
    """Where a row has its samples (`Said`), with its paths."""

    items: tuple[Path, ...]
    says: tuple[tuple[int, Path], ...]
    instead: tuple[Path, ...]
    error: tuple[Path, ...]
    reason: tuple[Path, ...]
    said: Said

    @classmethod
    def of(cls, said: Said) -> SamplePaths:
        return cls(
            paths_of(said.items) or (path_of(""),),  # the row itself
            tuple((how, path_of(path)) for how, path in said.says),
            paths_of(said.instead),
            paths_of(said.error),
            paths_of(said.reason),
            said,
        )


class FormSteps:
    """A form of the table (`Form`) of the dialect ``name``, with its paths. ``digested`` are those to the
    prompt of which, with the gold, a digest serves as id; ``numbers`` is None if no tool gives its own."""

    def __init__(self, name: str, form: Form) -> None:
        self.name, self.form = name, form
        ids = [path_of(path.removeprefix("#")) for path in form.id.split()]
        digests = [path.startswith("#") for path in form.id.split()]
        self.ids = tuple(path for path, digest in zip(ids, digests, strict=True) if not digest)
        self.digested = tuple(path for path, digest in zip(ids, digests, strict=True) if digest)
        self.numbers = None if form.number is None else paths_of(form.number)
        self.task = form.task.removeprefix("=") if form.task.startswith("=") else None
        """The task of every row of this form."""
        self.tasks = paths_of("" if self.task is not None else form.task)
        self.source, self.suffix, self.row = map(paths_of, (form.source, form.suffix, form.row))
        self.answers, self.questions, self.response = map(
            paths_of, (form.answer, form.question, form.response)
        )
        self.sample_paths = tuple(map(SamplePaths.of, form.said))
        self.errors, self.statuses, self.attached = map(paths_of, (form.errors, form.status, form.attached))
        self.none = tuple(paths_of(path) for path, *_ in form.none)

    @cached_property
    def members(self) -> Set[str]:
        """The members of a row that it reads, besides those that rows of any form may have."""
        conditions = " ".join((*self.form.tells, self.form.when, self.form.needs))
        told = (path_of(text.partition(":")[0].partition(".*.")[0]) for text in conditions.split())
        listed = [self.ids, self.digested, self.numbers or (), self.tasks, self.source, self.suffix, self.row]
        listed += [self.answers, self.questions, self.response, self.errors, self.statuses, self.attached]
        listed += [paths for each in self.sample_paths for paths in (each.items, each.instead, each.error)]
        paths = (path for some in (told, *listed, *self.none) for path in some)
        return {*self.form.members, *(lead_of(path.steps) for path in paths)} - {""}

    @property
    def has_no_response(self) -> bool:
        """Whether it is a form of rows without responses."""
        return not self.response and not self.sample_paths


class Way(NamedTuple):
    """A way to recognise a form: the members that a row must have, and further conditions."""

    form: FormSteps
    members: frozenset[str]
    conditions: tuple[Condition, ...]

    @classmethod
    def to(cls, form: FormSteps, conditions: str) -> Way:
        members, others = set(), []
        for text in conditions.split():
            path, _, kind = text.partition(":")
            listed, _, rest = path.partition(".*.")
            asks = REQUIREMENTS["list" if rest else kind]
            step = path_of(path).steps[0]
            if step.kind == NAME and not asks & IS_ABSENT:
                members.add(step.name)
            if text != step.name:
                others.append(Condition(path_of(listed), asks, paths_of(rest)))
        return cls(form, frozenset(members), tuple(others))


@lru_cache(1 << 6)
def forms_of(dialect: str) -> tuple[FormSteps, ...]:
    """The forms of a dialect, or of all (`AUTO`), in the order of the table."""
    if dialect == AUTO:
        return tuple(form for name in DIALECTS for form in forms_of(name))
    return tuple(FormSteps(dialect, form) for form in DIALECTS[dialect].forms)


@lru_cache(1 << 6)
def ways_of(dialect: str, *, mapped: bool = False) -> tuple[Way, ...]:
    """The ways to recognise a form of a dialect, in the order in which they are tried. A row that none fits
    is of another dialect; of `AUTO` the last fits every row, which is read as relfast's own.

    With ``mapped``, ``--map`` says where the response is: a form of rows without responses does not apply.
    """
    if dialect != AUTO:
        *others, last = forms_of(dialect)
        told = (Way.to(form, form.form.when) for form in others if form.form.when)
        return (*told, Way.to(last, f"{last.form.when} {last.form.needs}"))
    ways = [
        Way.to(form, f"{tells} {form.form.when}")
        for form in forms_of(AUTO)
        if not (mapped and form.has_no_response)
        for tells in form.form.tells
    ]
    return (*ways, Way.to(forms_of("native")[0], ""))


@lru_cache(1 << 10)
def _ways_with(keys: tuple[str, ...], dialect: str, mapped: bool) -> Sequence[Way]:
    """The ways that rows with these members can fit. Cached, since most rows of a file have equal members."""
    return [way for way in ways_of(dialect, mapped=mapped) if way.members.issubset(keys)]


def way_of(row: Mapping[str, Any], dialect: str = AUTO, *, mapped: bool = False) -> Way | None:
    """The first of `ways_of` that fits a row, or None."""
    for way in _ways_with(tuple(row), dialect, mapped):
        if all(condition.is_met(row) for condition in way.conditions):
            return way
    return None
