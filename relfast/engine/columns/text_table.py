"""The table of dialects and ``--map``, in the form in which the text kernel reads them: arrays of numbers,
and one text with all names.

It says where a row has its id and its responses, and which other members a record depends on, of which the
kernel makes a digest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from relfast_kernels.entry import Int
from relfast_kernels.layouts import GOLD_MEMBERS
from relfast_kernels.text import columns
from relfast_kernels.text.layouts import Table

from relfast.engine.job import Job
from relfast.formats import paths
from relfast.formats.reading import lead_of
from relfast.formats.table import (
    ABSENT,
    DIALECTS,
    FINE,
    LIST,
    MESSAGE,
    NULL,
    OBJECT,
    REASONS,
    REASONS_OF_MESSAGES,
    TEXT,
    TEXTS,
    VALUE,
    Form,
    Said,
)
from relfast.records import ENDINGS

_ASKS: Final = {
    "": columns.IS_THERE,
    OBJECT: columns.IS_OBJECT,
    LIST: columns.IS_LIST,
    NULL: columns.IS_NULL,
    ABSENT: columns.IS_ABSENT,
    FINE: columns.UNDECIDED,
}
_HOW: Final = {
    TEXT: columns.SAYS_TEXT,
    TEXTS: columns.SAYS_TEXTS,
    MESSAGE: columns.SAYS_MESSAGE,
    VALUE: columns.SAYS_VALUE,
}
_KINDS: Final = {
    paths.NAME: columns.NAME,
    paths.OPTIONAL: columns.OPTIONAL,
    paths.INDEX: columns.INDEX,
    paths.EACH: columns.EACH,
    paths.FLAT: columns.FLAT,
    paths.IS: columns.IS,
    paths.HAS: columns.HAS,
    paths.HAS_OR_NOT: columns.HAS_OR_NOT,
    paths.AN_OBJECT: columns.AN_OBJECT,
    paths.A_LIST: columns.A_LIST,
}
_LITERALS: Final = ("true", "false")
_INDEX: Final = re.compile(r"-?[0-9]{1,9}", re.ASCII)
_NAME: Final = re.compile(r'[^\x00-\x1f"/\\\x7f-\U0010ffff]*')
"""Names without characters that JSON may or must escape, so that the kernel can compare them as bytes."""
_ERRORS: Final = "error"
_EVENTS: Final = "event_id"
_STATUS: Final = "status_code"
"""Members by which a row of any form says that the request failed, or that it is no response."""
_OFTEN: Final = len(REASONS_OF_MESSAGES) + 1
"""How many of `REASONS` rows often have: only their members are worth a bit."""
_PLAIN_ENDS: Final = tuple(
    spelled
    for kind in ("ended", "cut_off")
    for word in ENDINGS[kind].split()
    for spelled in (word, word.upper())
)
"""Finish reasons of texts that count as they are, in the usual spellings; Python reads rows with another."""


def can_hold(field_map: Mapping[str, str]) -> bool:
    """Whether the kernel can follow the paths of ``--map``: it knows the fields that all records have; the
    path of ``id`` may have no star and no ``@`` (JSON in a text), that of ``response`` one star at most."""
    fields = {"id", "task", "question", "answer", "response"}
    steps = {field: path.split(".") for field, path in field_map.items()}
    return (
        fields.issuperset(steps)
        and all(_NAME.fullmatch(step) for each in steps.values() for step in each)
        and not {"*", "@"} & set(steps.get("id", ()))
        and "@" not in steps.get("response", ())
        and "*" not in steps.get("response", ())[:1]
        and steps.get("response", []).count("*") <= 1
    )


class TextTable:
    """The table in memory, for a job of which `can_hold` is true. ``view`` is what the kernel
    gets."""

    def __init__(self, job: Job) -> None:
        self._map = job.field_map
        self._joins = bool(job.data)
        self._names = bytearray()
        self._steps: list[Sequence[int]] = []
        self._paths: list[Sequence[int]] = []
        self._tests: list[Sequence[int]] = []
        self._ways: list[Sequence[int]] = []
        self._said: list[Sequence[int]] = []
        self._says: list[Sequence[int]] = []
        self._spans: list[tuple[int, int, int]] = []
        # members of paths alone may be left out: they are looked for by name then
        wanted = dict.fromkeys((*self._members_of(job), *self._members_of(job, of_paths=True)))
        members = sorted([*wanted][: columns.MOST_MEMBERS], key=lambda name: (len(name), name))
        self._numbers = {name: number for number, name in enumerate(members)}
        assert len(members) <= columns.MOST_MEMBERS
        assert max(map(len, members)) <= columns.LONGEST_MEMBER
        self._bit_of: dict[str, int] = {}
        spans = [self._span(name) for name in members]
        of_length = [
            sum(len(name) < length for name in members) for length in range(columns.LONGEST_MEMBER + 2)
        ]
        dialects = DIALECTS if job.dialect == "auto" else {job.dialect: DIALECTS[job.dialect]}
        forms = [form for dialect in dialects.values() for form in dialect.forms]
        rows = [self._form(form) for form in forms]
        self.flags = [row[columns.FORM_FLAGS] for row in rows]
        """The flags of each form."""
        if job.dialect == "auto":
            self._ways = [way for number, form in enumerate(forms) for way in self._ways_to(number, form)]
            # a row that fits no other form is read as relfast's own
            self._ways.append((forms.index(DIALECTS["native"].forms[0]), 0, 0, 0))
        else:
            for number, form in enumerate(forms):
                last = number == len(forms) - 1
                assert last or (form.when and not form.needs)
                self._ways.append((number, 0, *self._tests_of(form.needs if last else form.when)))
        ends: list[Sequence[int]] = [self._path_list(REASONS), *map(self._span, _PLAIN_ENDS)]
        assert len(self._bit_of) <= columns.MOST_BITS
        known = [(*span, self._bit_of.get(name, 0)) for span, name in zip(spans, members, strict=True)]
        arrays: dict[str, Sequence[Sequence[int]]] = {
            "members": known,
            "steps": self._steps,
            "paths": self._paths,
            "tests": self._tests,
            "ways": self._ways,
            "forms": rows,
            "said": self._said,
            "says": self._says,
            "ends": ends,
        }
        self.view = Table(
            names=bytes(self._names),
            of_length=(Int * len(of_length))(*of_length),
            **{name: _array(Table.held[name].shape[1], rows) for name, rows in arrays.items()},
        )

    def _members_of(self, job: Job, *, of_paths: bool = False) -> Iterable[str]:
        """The members of a row that the table must know; with ``of_paths`` those that paths begin with."""
        dialects = DIALECTS.values() if job.dialect == "auto" else (DIALECTS[job.dialect],)
        forms = [form for dialect in dialects for form in dialect.forms]
        if of_paths:
            yield from filter(None, map(_first_name, (_ERRORS, _STATUS, *REASONS[:_OFTEN])))
            for form in forms:
                listed = [
                    form.id.replace("#", " "),
                    form.number or "",
                    form.response,
                    form.errors,
                    form.status,
                ]
                listed += [form.suffix, form.attached]
                for said in form.said:
                    listed += [said.items, said.instead, said.error, *(path for _, path in said.says)]
                yield from filter(None, map(_first_name, " ".join(listed).split()))
            return
        yield from GOLD_MEMBERS
        yield from (path.partition(".")[0] for path in job.field_map.values())
        for form in forms:
            conditions = " ".join((*form.tells, form.when, form.needs)).split()
            yield from filter(None, (lead_of(condition) for condition in conditions))
            yield from (*form.members, *filter(None, (form.filter,)))
            numbered = f"{form.id} {form.number or ''}".replace("#", "") if form.number is not None else ""
            yield from filter(None, map(_first_name, f"{_depends(form)} {numbered}".split()))

    def _bits(self, names: Iterable[str]) -> int:
        return sum(self._bit_of.setdefault(name, 1 << len(self._bit_of)) for name in sorted(set(names)))

    def _span(self, text: str) -> tuple[int, int]:
        at = len(self._names)
        self._names += text.encode()
        return at, len(self._names)

    # ---- paths and conditions

    def _path_list(self, listed: Iterable[str]) -> tuple[int, int]:
        """Append paths that are tried in this order; the number of the first, and one after the last."""
        first = len(self._paths)
        for path in listed:
            begin = len(self._steps)
            for place, step in enumerate(paths.steps_of(path)):
                is_name = place == 0 and step.kind == paths.NAME
                index = int(step.name) if step.kind == paths.INDEX else int(step.other in _LITERALS)
                spans = (*self._span(step.name), *self._span(step.other))
                member = self._numbers.get(step.name, -1) if is_name else -1
                self._steps.append((_KINDS[step.kind], *spans, step.lacks, index, member))
            self._paths.append((begin, len(self._steps)))
        return first, len(self._paths)

    def _path(self, path: str) -> int:
        return self._path_list([path])[0]

    def _users_path(self, names: Sequence[str], *, from_row: bool) -> int:
        """Append a path of ``--map``, in which a number may be a name or a place in a list; its number."""
        begin = len(self._steps)
        for place, name in enumerate(names):
            is_index = _INDEX.fullmatch(name) is not None
            member = self._numbers[name] if from_row and place == 0 else -1
            spans = (*self._span(name), *self._span(""))
            index = int(name) if is_index else 0
            kind = columns.EACH if name == "*" else columns.NAME_OR_INDEX
            self._steps.append((kind, *spans, is_index, index, member))
        self._paths.append((begin, len(self._steps)))
        return len(self._paths) - 1

    def _tests_of(self, conditions: str) -> tuple[int, int]:
        """Append the tests for conditions; the number of the first, and one after the last."""
        first = len(self._tests)
        for condition in conditions.split():
            path, _, kind = condition.partition(":")
            listed, _, rest = path.partition(".*.")
            asks = columns.IS_LIST if rest else _ASKS[kind]
            self._tests.append((self._path(listed), asks, self._path(rest) if rest else -1))
        return first, len(self._tests)

    def _ways_to(self, number: int, form: Form) -> Iterable[Sequence[int]]:
        """The ways to recognise a row of a form: the members that it must have, and further tests, among them
        those for members that no bit is left for."""
        if "response" in self._map and not form.response and not form.said:
            return  # ``--map`` says where the responses are, so this is no row without responses
        for tells in form.tells:
            conditions = f"{tells} {form.when}".split()
            members = 0
            for name in sorted({*map(lead_of, conditions)} - {""}):
                if name in self._bit_of or len(self._bit_of) < columns.MOST_BITS:
                    members |= self._bits([name])
            others = [
                path
                for path in conditions
                if path != lead_of(path) or not members & self._bit_of.get(path, 0)
            ]
            yield (number, members, *self._tests_of(" ".join(others)))

    # ---- forms

    def _form(self, form: Form) -> Sequence[int]:
        """The numbers that describe a form: where id, answer and responses are, and what else matters."""
        ids = form.id.split()
        prompts = [path[1:] for path in ids if path.startswith("#")]
        id_paths = [path for path in ids if not path.startswith("#")]
        numbered = form.number is not None and self._joins
        said = [self._said_of(said) for said in form.said]
        first_said = len(self._said)
        self._said += said
        response, place = self._path(form.response) if form.response else -1, form.response
        if "response" in self._map:
            steps = self._map["response"].split(".")
            at = steps.index("*") + 1 if "*" in steps else len(steps)
            response = self._users_path(steps[:at], from_row=True)
            place, first_said = steps[0], len(self._said)
            if "*" in steps:
                items, response, says = (response, response + 1), -1, len(self._says)
                self._says.append((columns.SAYS_VALUE, self._users_path(steps[at:], from_row=False)))
                self._said.append((*items, says, says + 1, False, -1, -1, -1))
        of_id = self._path_list(id_paths)
        if "id" in self._map:
            mapped = self._users_path(self._map["id"].split("."), from_row=True)
            of_id, prompts = (mapped, mapped + 1), []
        numbers = (0, 0) if numbered else self._path_list((form.number or "").split())
        if "id" in self._map and form.number is not None:
            # the tool's number: gold is looked up by it or by the question
            of_id, numbers = (0, 0), numbers if numbered else of_id
        depends = {*form.members, *filter(None, map(_first_name, _depends(form).split()))}
        depends |= {path.partition(".")[0] for field, path in self._map.items() if field not in _NOT_REST}
        if numbered:
            # then the row's id and number take part in the choice of its gold
            depends |= {*map(_first_name, f"{form.id} {form.number}".replace("#", "").split())} - {""}
            depends |= {self._map["id"].partition(".")[0]} if "id" in self._map else set()
        others = set() if form.row else {*GOLD_MEMBERS} - {place}
        flags = (
            columns.FIRST_COUNTS * form.plain
            | columns.NUMBERS_JOIN * numbered
            | columns.NOT_EMPTY * bool(form.none and "response" not in self._map)
            | columns.HIDES_ROW * (not form.row and place in GOLD_MEMBERS)
            | columns.IS_BARE * (not form.members and not form.task.startswith("="))
            | columns.DIGESTS_PROMPT * (len(prompts) == 1 and "answer" not in self._map)
            | columns.ASKS_UNSEEN * ("question" in self._map or not self._can_follow(form.question))
        )
        return (
            *of_id,
            *self._path_list([*prompts, *form.answer.split()] if prompts else []),
            *numbers,
            self._bits(depends | others),
            *self._answer(form),
            *self._path_list(form.question.split() if self._can_follow(form.question) else []),
            *self._path_list([_ERRORS, _EVENTS, *f"{form.errors} {form.suffix} {form.attached}".split()]),
            *self._path_list([_STATUS, *form.status.split()]),
            response,
            *(first_said, len(self._said)),
            self._numbers[form.filter] if form.filter else -1,
            flags,
        )

    def _can_follow(self, listed: str) -> bool:
        return all(step.kind in _KINDS for path in listed.split() for step in paths.steps_of(path))

    def _answer(self, form: Form) -> tuple[int, int]:
        """Paths to everything that a record's task and gold are read from; none if other members matter too,
        or the kernel cannot follow a path."""
        listed = f"{form.task} {form.source} {form.answer}"
        if form.members or not form.answer or not self._can_follow(f"{listed} {form.question}"):
            return 0, 0
        mapped = [self._map[field].split(".") for field in ("task", "answer") if field in self._map]
        if any(not {"*", "@"}.isdisjoint(steps) for steps in mapped):
            return 0, 0
        first, _ = self._path_list(listed.split())
        for steps in mapped:
            self._users_path(steps, from_row=True)
        return first, len(self._paths)

    def _said_of(self, said: Said) -> Sequence[int]:
        """The numbers that describe where the texts of a row's samples are."""
        first = len(self._says)
        self._says += [(_HOW[how], self._path(path)) for how, path in said.says]
        return (
            *self._path_list(said.items.split() or [""]),
            *(first, len(self._says)),
            said.last,
            *(self._path(path) if path else -1 for path in (said.instead, said.error)),
            self._path(said.reason) if said.reason else -1,
        )


_NOT_REST: Final = ("id", "response")
"""Fields of ``--map`` whose members the digest leaves out."""


def _depends(form: Form) -> str:
    """Paths to everything that task, gold and question are read from in a form, and to the members of which a
    digest serves as id."""
    digested = " ".join(path[1:] for path in form.id.split() if path.startswith("#"))
    task = "" if form.task.startswith("=") else form.task
    return f"{task} {form.source} {form.answer} {form.question} {form.row} {digested}"


def _first_name(path: str) -> str:
    """The member of the row that a path begins with; "" if it does not begin with a name."""
    step = paths.steps_of(path)[0]
    return step.name if step.kind in (paths.NAME, paths.OPTIONAL) else ""


def _array(columns: Any, rows: Sequence[Sequence[int]]) -> Any:
    return (Int * columns * len(rows))(*(tuple(map(int, row)) for row in rows))
