"""The table of dialects, and what ``--map`` says, as the text kernel reads them: numbers, and one text of
all names and words."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Final

from relfast_kernels.layouts import (
    ANY_VALUE,
    FORM_COLUMNS,
    GOLD_MEMBERS,
    INDEX,
    INSIDE,
    IS_ABSENT,
    IS_LIST,
    IS_NULL_THERE,
    IS_OBJECT,
    LONGEST_MEMBER,
    MAPPED_FIELDS,
    MOST_MEMBERS,
    NAME,
    OF_EACH,
    OPTIONAL,
    OWN_WORDS,
    SAYS_AS_IT_IS,
    SAYS_MESSAGE,
    SAYS_TEXT,
    SAYS_TEXTS,
    TABLE_SIZE,
    WHOLE,
)

from relfast.engine.text_work import NUMBERS
from relfast.formats.failure import GENERAL_WORDS, MISSING_RESPONSE
from relfast.formats.paths import steps_of
from relfast.formats.table import (
    ABSENT,
    DIALECTS,
    FINE,
    LIST,
    MESSAGE,
    NULL,
    OBJECT,
    TEXT,
    TEXTS,
    VALUE,
    Form,
    Said,
)

_ASKS: Final = {
    "": ANY_VALUE,
    OBJECT: IS_OBJECT,
    LIST: IS_LIST,
    NULL: IS_NULL_THERE,
    ABSENT: IS_ABSENT,
    FINE: ANY_VALUE,
}
"""What conditions ask: whether an error is none, the kernel does not; forms that do are not for it."""
_HOW: Final = {TEXT: SAYS_TEXT, TEXTS: SAYS_TEXTS, MESSAGE: SAYS_MESSAGE, VALUE: SAYS_AS_IT_IS}
_TRUTHS: Final = ("true", "false")

NUMBERS_OF: Final[Mapping[str, int]] = {name: number for number, name in enumerate(("auto", *DIALECTS))}
"""The kernel's numbers of dialects."""


_INDEX: Final = re.compile(r"-?[0-9]{1,9}", re.ASCII)
_NAME: Final = re.compile(r'[^\x00-\x1f"/\\\x7f-\U0010ffff]*')
"""Names that JSON has one spelling of, unless it spells letters with escapes: others may have an escape."""
_PARTS: Final = {"*": OF_EACH, "@": INSIDE}
_PARTED: Final = {"task": "@", "answer": "@", "response": "*"}
"""Steps by which a field's path may part, once: in a text that is JSON, or in a list of samples."""


def can_hold(field_map: Mapping[str, str]) -> bool:
    """Whether the kernel can follow the paths: of fields that all records have, parted where it knows how."""
    return set(field_map) <= set(MAPPED_FIELDS) and all(
        _is_plain(path.split("."), _PARTED.get(field)) for field, path in field_map.items()
    )


def _is_plain(steps: Sequence[str], parted: str | None) -> bool:
    parts = [step for step in steps if step in _PARTS]
    return (
        all(map(_NAME.fullmatch, steps))
        and all(_INDEX.fullmatch(step) for step in steps if step.lstrip("-").isdigit())
        and parts in ([], [parted])
        and (not parts or steps[0] not in _PARTS)
    )


class _Encoder:
    """Writes the table down, part by part."""

    def __init__(self, field_map: Mapping[str, str]) -> None:
        self.names = bytearray()
        self._places: dict[bytes, int] = {}
        self._paths: dict[str, int] = {}
        self.steps: list[Sequence[int]] = []
        self.paths: list[Sequence[int]] = []
        self.tests: list[Sequence[int]] = []
        self.ways: list[Sequence[int]] = []
        self.forms: list[Sequence[int]] = []
        self.said: list[Sequence[int]] = []
        self.says: list[Sequence[int]] = []
        self.none: list[Sequence[int]] = []
        self.reasons: list[Sequence[int]] = []
        self.words: list[Sequence[int]] = []
        members = {"error", "status_code", *GOLD_MEMBERS, *filter(None, map(_member, _all_paths()))}
        members |= {name for name in _other_members() if name}
        self.member_names = sorted(members, key=lambda name: (len(name), name))
        self._numbers = {name: number for number, name in enumerate(self.member_names)}
        self.members = [self._span(name) for name in self.member_names]
        lengths = [*map(len, self.member_names)]
        assert len(lengths) <= MOST_MEMBERS
        assert lengths[-1] <= LONGEST_MEMBER
        self.of_length = [(sum(length < n for length in lengths),) for n in range(LONGEST_MEMBER + 2)]
        for kind, message in GENERAL_WORDS:
            self._word(message, kind)
        assert len(self.words) == OWN_WORDS
        for name, dialect in DIALECTS.items():
            for form in dialect.forms:
                self._form(form, NUMBERS_OF[name])
        self.maps = [self._mapped(field_map.get(field)) for field in MAPPED_FIELDS if field_map]

    def _span(self, text: str) -> tuple[int, int]:
        encoded = text.encode()
        at = self._places.get(encoded)
        if at is None:
            at = self._places[encoded] = len(self.names)
            self.names += encoded
        return at, at + len(encoded)

    def _number_of(self, member: str) -> int:
        return self._numbers.get(member, -1)

    def _path(self, path: str) -> int:
        """The number of a path that is wanted by itself."""
        if path not in self._paths:
            self._paths[path] = self._paths_of([path])[0]
        return self._paths[path]

    def _mapped(self, path: str | None) -> Sequence[int]:
        """A user's path, up to where it parts, and what comes after."""
        if path is None:
            return (-1, WHOLE, -1)
        steps = path.split(".")
        at, how = next(
            ((at, _PARTS[step]) for at, step in enumerate(steps) if step in _PARTS), (len(steps), WHOLE)
        )
        whole, rest = self._as_written(steps[:at]), steps[at + 1 :]
        return (whole, how, -1 if how == WHOLE else self._as_written(rest))

    def _as_written(self, names: Sequence[str]) -> int:
        """The number of a path of a user's names, of which those that are numbers can be places in lists."""
        begin = len(self.steps)
        for place, name in enumerate(names):
            is_index = _INDEX.fullmatch(name) is not None
            spans = (*self._span(name), *self._span(""))
            member = self._number_of(name) if place == 0 else -1
            kind, number = (INDEX, int(name)) if is_index else (NAME, 0)
            self.steps.append((kind, *spans, False, number, member))
        self.paths.append((begin, len(self.steps)))
        return len(self.paths) - 1

    def _paths_of(self, paths: Iterable[str]) -> tuple[int, int]:
        """Numbers of paths that are wanted one after the other: the first, and the one after the last."""
        first = len(self.paths)
        for path in paths:
            begin = len(self.steps)
            for place, step in enumerate(steps_of(path)):
                is_member = place == 0 and step.kind == NAME
                number = int(step.name) if step.kind == INDEX else int(step.other in _TRUTHS)
                member = self._number_of(step.name) if is_member else -1
                spans = (*self._span(step.name), *self._span(step.other))
                self.steps.append((step.kind, *spans, step.lacks, number, member))
            self.paths.append((begin, len(self.steps)))
        return first, len(self.paths)

    def _tests_of(self, conditions: str) -> tuple[int, int]:
        first = len(self.tests)
        for condition in conditions.split():
            path, _, kind = condition.partition(":")
            listed, _, rest = path.partition(".*.")
            asks = IS_LIST if rest else _ASKS[kind]
            self.tests.append((self._path(listed), asks, self._path(rest) if rest else -1))
        return first, len(self.tests)

    def _word(self, message: str, kind: str = MISSING_RESPONSE) -> int:
        """The number of an error's words."""
        before, hole, after = message.partition("{}")
        at = len(self.names)
        ends = [at]
        for text in (kind, before, after):
            self.names += text.encode()
            ends.append(len(self.names))
        self.words.append((*ends, bool(hole)))
        return len(self.words) - 1

    def _reasons_of(self, reasons: str) -> tuple[int, int]:
        first = len(self.reasons)
        self.reasons += map(self._span, reasons.split())
        return first, len(self.reasons)

    def _form(self, form: Form, dialect: int) -> None:
        number = len(self.forms)
        for tells in form.tells:
            self.ways.append((number, *self._tests_of(f"{tells} {form.when}")))
        ids = form.id.split()
        hidden = form.response in GOLD_MEMBERS
        depends = f"{form.task} {form.source} {form.answer} {form.question} {form.suffix}".split()
        depends = [path for path in depends if hidden or _member(path) not in GOLD_MEMBERS]
        if form.members:
            depends = []
        elif form.row:
            depends = [form.row, *(path for path in depends if not path.startswith(f"{form.row}."))]
        said = [self._said_row(said) for said in form.said]
        none = [
            (self._path(path) if path else -1, self._word(words, *kind) if words else -1)
            for path, words, *kind in form.none
        ]
        first_said, first_none = len(self.said), len(self.none)
        self.said += said
        self.none += none
        row = (
            dialect,
            form.in_kernel,
            form.plain,
            NUMBERS[form.task[1:]] if form.task.startswith("=") else -1,
            form.number is not None,
            2 if hidden else bool(form.row),
            self._number_of(form.filter),
            self._number_of(form.failed_id),
            bool(form.attached),
            *self._tests_of(form.when),
            *self._tests_of(form.needs),
            *self._paths_of(path for path in ids if not path.startswith("#")),
            *self._paths_of(path[1:] for path in ids if path.startswith("#")),
            *self._paths_of((form.number or "").split()),
            *self._paths_of(form.suffix.split()),
            *self._paths_of([] if form.task.startswith("=") else form.task.split()),
            *self._paths_of(form.source.split()),
            *self._paths_of(form.answer.split()),
            *self._paths_of(form.question.split()),
            *self._paths_of(form.response.split()),
            *self._paths_of(form.errors.split()),
            *self._paths_of(form.status.split()),
            *self._paths_of(depends),
            *(first_said, len(self.said)),
            *(first_none, len(self.none)),
        )
        assert len(row) == FORM_COLUMNS
        self.forms.append(row)

    def _said_row(self, said: Said) -> Sequence[int]:
        first = len(self.says)
        for how, path in said.says:
            listed = path.rpartition(".*.")[0] if how == TEXTS else ""
            self.says.append((_HOW[how], self._path(path), self._path(listed) if listed else -1))
        return (
            *self._paths_of(said.items.split() or [""]),
            *(first, len(self.says)),
            said.last,
            *(self._path(path) if path else -1 for path in (said.instead, said.error, said.reason)),
            *self._reasons_of(said.filtered),
            *self._reasons_of(said.aborted),
            said.ended,
            *(self._word(words) if words else -1 for words in (said.nothing, said.no_object)),
        )


def _forms() -> Iterable[Form]:
    return (form for dialect in DIALECTS.values() for form in dialect.forms)


def _all_paths() -> Iterable[str]:
    """All paths from a row on, and some others."""
    for form in _forms():
        conditions = f"{' '.join(form.tells)} {form.when} {form.needs}".split()
        yield from (condition.partition(":")[0].partition(".*.")[0] for condition in conditions)
        fields = (
            form.id.replace("#", ""),
            form.number or "",
            form.task,
            form.source,
            form.answer,
            form.question,
        )
        yield from " ".join((*fields, form.response, form.suffix, form.row, form.errors, form.status)).split()
        yield from (path for path, *_ in form.none)
        for said in form.said:
            # those from a sample are looked for in the row too
            yield from f"{said.items} {said.instead} {said.error} {said.reason}".split()
            yield from (path for _, path in said.says)


def _member(path: str) -> str:
    """The member of the row that a path begins with; none if it begins otherwise."""
    steps = () if path.startswith("=") else steps_of(path)
    return steps[0].name if steps and steps[0].kind in (NAME, OPTIONAL) else ""


def _other_members() -> Iterable[str]:
    for form in _forms():
        yield from (form.filter, form.failed_id, *form.members)


class TextTable:
    """The table in memory, with a field map that the kernel can hold; ``about`` says where its parts are."""

    def __init__(self, field_map: Mapping[str, str]) -> None:
        table = _Encoder(field_map)
        names = (ctypes.c_char * len(table.names)).from_buffer(table.names)
        own = [*map(table.member_names.index, ("error", "status_code"))]
        native = next(number for number, row in enumerate(table.forms) if row[0] == NUMBERS_OF["native"])
        parts: list[Sequence[Sequence[int]]] = [
            table.members,
            table.of_length,
            [(name in GOLD_MEMBERS,) for name in table.member_names],
            *(table.steps, table.paths, table.tests, table.ways, table.forms, table.said, table.says),
            *(table.none, table.reasons, table.words, table.maps),
            [(*own, native)],
        ]
        self.names, self.parts = names, [_numbers(part) for part in parts]
        places = [ctypes.addressof(names), *map(ctypes.addressof, self.parts)]
        sizes = [len(table.names), *(len(part) for part in parts)]
        self.about = (ctypes.c_int64 * TABLE_SIZE)(*chain.from_iterable(zip(places, sizes, strict=True)))


def _numbers(rows: Sequence[Sequence[int]]) -> ctypes.Array[ctypes.c_int64]:
    flat = [int(number) for row in rows for number in row]
    return (ctypes.c_int64 * max(1, len(flat)))(*flat)
