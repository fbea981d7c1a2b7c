"""The steps of a job for the text kernel: those of its dialect, with ``--map`` and the join with gold, as
arrays of records and one text with all names (`relfast_kernels.text.steps.Table`).

They say where a row has its id and its responses, and on which other members a record depends, of which the
kernel makes a digest."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Final

from relfast_kernels.entry import Int, rows_of
from relfast_kernels.layouts import GOLD_MEMBERS
from relfast_kernels.text.steps import (
    EACH,
    OPTIONAL,
    VALUE,
    Condition,
    Form,
    Member,
    Say,
    Source,
    Span,
    Step,
    Table,
    Way,
)

from relfast.engine.job import Job
from relfast.formats import paths, steps
from relfast.formats.table import ERROR, EVENT_ID, STATUS
from relfast.records import ENDINGS

_PLAIN_ENDS: Final = tuple(
    spelled
    for kind in ("ended", "cut_off")
    for word in ENDINGS[kind].split()
    for spelled in (word, word.upper())
)
"""Finish reasons of texts that count as they are, in the usual spellings; Python reads rows with another."""

_Steps = Sequence[paths.Step]


def _stands_plain(name: str) -> bool:
    """Whether a name has no character that JSON may or must escape: the kernel compares it as bytes."""
    return name.isascii() and name.isprintable() and not {'"', "/", "\\"} & set(name)


def can_hold(field_map: Mapping[str, str]) -> bool:
    """Whether the kernel can follow the paths of ``--map``: it knows the fields that all records have; the
    path of ``id`` may have no star and no ``@`` (JSON in a text), that of ``response`` one star at most."""
    fields = {"id", "task", "question", "answer", "response"}
    names = {field: path.split(".") for field, path in field_map.items()}
    return (
        fields.issuperset(names)
        and all(_stands_plain(name) for each in names.values() for name in each)
        and not {"*", "@"} & set(names.get("id", ()))
        and "@" not in names.get("response", ())
        and "*" not in names.get("response", ())[:1]
        and names.get("response", []).count("*") <= 1
    )


class TextTable:
    """The steps in memory, for a job of which `can_hold` is true. ``view`` is what the kernel gets, ``forms``
    are the forms by their numbers there."""

    def __init__(self, job: Job) -> None:
        self._map = {field: paths.users_steps(paths.names_in(path)) for field, path in job.field_map.items()}
        self._joins = bool(job.data)
        self._names = bytearray()
        self._members: dict[str, int] = {}
        self._rows = {name: array("q") for name in Table.held if name not in ("names", "fields")}
        self.forms = steps.forms_of(job.dialect)
        answer_is_digested = not {"id", "answer"} & {*self._map}
        for form in self.forms:
            self._put_form(form, answer_is_digested and len(form.digested) == 1)
        for way in steps.ways_of(job.dialect, mapped="response" in self._map):
            conditions = self._add("conditions", [self._condition(each) for each in way.conditions])
            members = self._add("numbers", [[self._member(name)] for name in sorted(way.members)])
            number = self.forms.index(way.form)
            self._add("ways", [_row(Way, form=number, members=members, conditions=conditions)])
        reasons = self._paths(_steps(steps.REASON_PATHS))
        self._add("ends", map(self._text, _PLAIN_ENDS))
        names = sorted(self._members, key=lambda name: (len(name), name))
        for name in names:
            self._add("members", [_row(Member, name=self._text(name), number=self._members[name])])
        for length in range(len(names[-1]) + 2):
            self._add("of_length", [[sum(len(name) < length for name in names)]])
        self.view = Table(
            names=bytes(self._names),
            reasons=Span(start=reasons[0], end=reasons[1]),
            fields=rows_of(Int, len(names)),
            **{name: _records(_kind_of(name), numbers) for name, numbers in self._rows.items()},
        )

    @classmethod
    def of(cls, job: Job) -> TextTable:
        """The table of a job: one that was kept for such a job, which is kept no longer, or a new one."""
        return _kept.pop(_asked_by(job), None) or cls(job)

    def keep(self, job: Job) -> None:
        """Keep a table that is no longer used, for processes that are forked from this one (3 ms each)."""
        _kept[_asked_by(job)] = self

    # ---- records

    def _add(self, name: str, rows: Iterable[Sequence[int]]) -> tuple[int, int]:
        """Append records to an array of the table; the number of the first, and one after the last."""
        held, size = self._rows[name], _n_numbers(_kind_of(name))
        start = len(held) // size
        for row in rows:
            held.extend(row)
        return start, len(held) // size

    def _text(self, text: str) -> tuple[int, int]:
        at = len(self._names)
        self._names += text.encode()
        return at, len(self._names)

    def _member(self, name: str) -> int:
        return self._members.setdefault(name, len(self._members))

    def _paths(self, listed: Iterable[_Steps], *, of_row: bool = True) -> tuple[int, int]:
        """Append paths that are tried in this order, from a row, or only from samples or items."""
        spans = []
        for path in listed:
            lead = paths.lead_of(path) if of_row and path and path[0].kind != OPTIONAL else ""
            rows: list[list[int]] = []
            for step in path:
                name, word = self._text(step.name), self._text(step.other)
                member = self._member(lead) if lead and not rows else -1
                rows.append(
                    _row(
                        Step,
                        kind=step.kind,
                        name=name,
                        word=word,
                        lacks=step.lacks,
                        index=step.at,
                        member=member,
                    )
                )
            spans.append(self._add("steps", rows))
        return self._add("paths", spans)

    def _condition(self, condition: steps.Condition) -> list[int]:
        path, _ = self._paths([condition.path.steps])
        each = self._paths((path.steps for path in condition.each), of_row=False)
        return _row(Condition, path=path, asks=condition.asks, each=each)

    def _source(
        self,
        items: Iterable[_Steps],
        says: Iterable[tuple[int, _Steps]],
        said: steps.SamplePaths | None = None,
    ) -> list[int]:
        """Where the texts of a row's samples are; ``said`` has what else the dialect says of them."""
        ways = [_row(Say, how=how, path=self._paths([path], of_row=False)[0]) for how, path in says]
        others = (said.instead, said.error, said.reason) if said else ((), (), ())
        instead, error, reason = (self._paths(_steps(listed)) for listed in others)
        return _row(
            Source,
            items=self._paths(items),
            says=self._add("says", ways),
            last=said is not None and said.said.last,
            instead=instead,
            error=error,
            reason=reason,
        )

    def _sources(self, form: steps.FormSteps) -> Iterable[list[int]]:
        if "response" not in self._map:
            for said in form.sample_paths:
                yield self._source(_steps(said.items), ((how, path.steps) for how, path in said.says), said)
        elif (star := _star_in(self._map["response"])) is not None:
            path = self._map["response"]
            yield self._source([(*path[:star], paths.Step(EACH, "*"))], [(VALUE, path[star + 1 :])])

    # ---- forms

    def _put_form(self, form: steps.FormSteps, digests: bool) -> None:
        """Append a form: where id, answer and responses are, and what else matters."""
        mapped, table = self._map, form.form
        ids, digested, numbers = _steps(form.ids), _steps(form.digested), _steps(form.numbers or ())
        numbered = form.numbers is not None
        if "id" in mapped:
            ids, digested = [mapped["id"]], []
            if numbered:  # the tool's number: gold is looked up by it or by the question
                ids, numbers = [], ids
        response = [mapped["response"]] if "response" in mapped else _steps(form.response)
        place = paths.lead_of(response[0]) if response else ""
        if "response" in mapped and _star_in(mapped["response"]) is not None:
            response = []
        joins = numbered and self._joins
        others = set() if form.row else {*GOLD_MEMBERS} - {place}
        told = {*table.members, *others, *map(paths.lead_of, self._read_for_gold(form))} - {""}
        by_number = {*map(paths.lead_of, self._told_by_number(form))} - {""} if joins else set()
        tasks: list[_Steps] = []
        answers = [] if table.members else _steps(form.answers)
        if answers:
            answers = [mapped["answer"]] if "answer" in mapped else _steps(form.answers)
            tasks = [mapped["task"]] if "task" in mapped else _steps(form.tasks, form.source)
        row = _row(
            Form,
            ids=self._paths(ids),
            digested=self._paths(digested),
            golds=self._paths(_steps(form.answers)),
            numbers=self._paths([] if joins else numbers),
            answers=self._paths([*tasks, *answers]),
            questions=self._paths([mapped["question"]] if "question" in mapped else _steps(form.questions)),
            guards=self._paths(_steps(_GUARDS, form.errors, form.suffix, form.attached)),
            statuses=self._paths(_steps(_STATUS, form.statuses)),
            response=self._paths(response),
            sources=self._add("sources", [*self._sources(form)]),
            depends=self._add("numbers", sorted([self._member(name)] for name in told | by_number)),
            asked=self._add("numbers", sorted([self._member(name)] for name in told if by_number)),
            filter=self._member(table.filter) if table.filter else -1,
            n_tasks=len(tasks),
            first_counts=table.plain,
            numbers_join=joins,
            not_empty=bool(table.none) and "response" not in mapped,
            hides_row=not form.row and place in GOLD_MEMBERS,
            asks_in_chat=not table.plain and "question" not in mapped,
            is_bare=not table.members and form.task is None,
            digests_prompt=digests,
        )
        self._add("forms", [row])

    def _read_for_gold(self, form: steps.FormSteps) -> Iterable[_Steps]:
        """Paths to everything that task, gold and question are read from, and an id that is a digest."""
        yield from _steps(form.tasks, form.source, form.answers, form.questions, form.row, form.digested)
        yield from (path for field, path in self._map.items() if field not in ("id", "response"))

    def _told_by_number(self, form: steps.FormSteps) -> Iterable[_Steps]:
        """Paths to what ids are read from, if gold is joined by what a row asks before its number."""
        yield from _steps(form.ids, form.numbers or ())
        yield from (path for field, path in self._map.items() if field == "id")


_kept: Final[dict[Hashable, TextTable]] = {}


def _asked_by(job: Job) -> Hashable:
    """What of a job decides its table."""
    return job.dialect, tuple(job.field_map.items()), bool(job.data)


_GUARDS: Final = paths.paths_of(f"{ERROR} {EVENT_ID}")
_STATUS: Final = paths.paths_of(STATUS)


def _steps(*listed: Sequence[paths.Path]) -> list[_Steps]:
    return [path.steps for each in listed for path in each]


def _star_in(path: _Steps) -> int | None:
    """Where a path of ``--map`` goes through a list."""
    return next((at for at, step in enumerate(path) if step.name == "*"), None)


def _row(kind: Any, /, **values: Any) -> list[int]:
    """The numbers of a record: its fields in their order, spans in place."""
    assert values.keys() == kind.declared.keys()
    row: list[int] = []
    for name, field in kind.declared.items():
        row += values[name] if field is Span else (int(values[name]),)
    return row


def _kind_of(name: str) -> Any:
    """What an array of the table holds."""
    field: Any = Table.held[name]
    return field.kind


def _n_numbers(kind: Any) -> int:
    return ctypes.sizeof(kind) // ctypes.sizeof(Int)


def _records(kind: Any, numbers: array[int]) -> Any:
    """Records in memory."""
    return (kind * (len(numbers) // _n_numbers(kind))).from_buffer_copy(numbers)
