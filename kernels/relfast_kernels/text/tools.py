"""Where rows of tools have id, task, gold and question: a table of paths for each, the first that is there.

What `relfast.formats` does with these rows stands there; here are the same paths, in the same order. A row in
which something else could be meant is left to the exact way.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import (
    ANTHROPIC,
    ESCAPED,
    GEMINI,
    HELM,
    INSPECT,
    INTEGER,
    LIGHTEVAL,
    LIST,
    NO_INDEX,
    OBJECT,
    OPENCOMPASS,
    PATH_COLUMNS,
    ROLLOUT,
    STRING,
    TOKEN_END,
    TOKEN_KIND,
    TOKEN_NEXT,
    TOKEN_START,
    TRL,
    VERIFIERS,
    VLLM,
)
from relfast_kernels.text.failures import UNSURE
from relfast_kernels.text.find import find_byte
from relfast_kernels.text.gold import may_be_task, task_number
from relfast_kernels.text.json_scan import is_null, member
from relfast_kernels.text.messages import is_empty, is_named, is_text
from relfast_kernels.text.paths import follow
from relfast_kernels.text.replies import is_attached


class _Paths(NamedTuple):
    """Paths of a tool's rows: to an id of ours, and to a number of the tool's own; to what may name the task;
    to what may be gold; to the question; and to what else gold may depend on."""

    own: tuple[str, ...] = ()
    counted: tuple[str, ...] = ()
    task: tuple[str, ...] = ()
    gold: tuple[str, ...] = ()
    question: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()


OF_OWN, OF_COUNTED, OF_TASK, OF_GOLD, OF_QUESTION, OF_BESIDE = range(6)
_ROLES: Final = 6

_TABLE: Final = {
    VLLM: _Paths(("id",), ("request_id",), ("task",), ("answer",), ("question", "messages", "prompt")),
    INSPECT: _Paths(
        (), ("id",), ("metadata.task",), ("metadata.answer", "target"), ("input",)
    ),
    VERIFIERS: _Paths(
        ("task.data.id",),
        ("task.key", "task.hash", "task.data.idx"),
        ("task.data.task", "task.data.record.task", "task.data.info.task", "task.data.name"),
        ("task.data.answer", "task.data.record.answer", "task.data.info.answer", "task.data.info"),
        ("task.data.prompt",),
    ),
    ROLLOUT: _Paths(
        (), ("example_id",), ("info.task", "task"), ("answer", "info.answer", "info"), ("prompt",)
    ),
    TRL: _Paths(("id",), (), ("task",), ("answer",), ("prompt",)),
    LIGHTEVAL: _Paths(
        ("doc.specific.id",), ("doc.id",), ("doc.specific.task",), ("doc.specific.answer",), ("doc.query",),
        ("doc.choices", "doc.gold_index", "doc.task_name"),
    ),
    HELM: _Paths(
        (), ("instance.id",), (), (), ("instance.input.text",),
        ("instance.references", "instance.perturbation"),
    ),
    OPENCOMPASS: _Paths((), ("id", "idx"), (), ("gold",), ("origin_prompt",)),
    ANTHROPIC: _Paths(("custom_id",)),
    GEMINI: _Paths(("key",)),
}  # fmt: skip

_UNSEEN: Final = (ROLLOUT, VERIFIERS, TRL, LIGHTEVAL, HELM)
"""Dialects whose records have another row than the line's, or a response where it may be looked for."""

_AT: Final = np.zeros((ROLLOUT + 1, _ROLES + 1), np.int64)
_rows: list[list[int]] = []
_names = bytearray()
for _dialect, _paths in _TABLE.items():
    for _role, _listed in enumerate(_paths):
        _AT[_dialect, _role] = len(_rows)
        for _path in _listed:
            _row = [len(_path.split("."))]
            for _step in _path.split("."):
                _row += (len(_names), len(_names) + len(_step), NO_INDEX)
                _names += _step.encode()
            _rows.append(_row + [0] * (PATH_COLUMNS - len(_row)))
    _AT[_dialect, _ROLES] = len(_rows)
_PATHS: Final = np.array(_rows, np.int64)
_NAMES: Final = np.frombuffer(bytes(_names), np.uint8)
_HIDES_ROW: Final = np.zeros(ROLLOUT + 1, np.bool_)
_HIDES_ROW[list(_UNSEEN)] = True

_OUTPUT: Final = np.frombuffer(b"output", np.uint8)
_TAGS: Final = np.frombuffer(b"tags", np.uint8)
_CORRECT: Final = np.frombuffer(b"correct", np.uint8)
_TEXT: Final = np.frombuffer(b"text", np.uint8)
_BAR: Final = 124


@kernel
def hides_row(dialect: int) -> bool:
    """Whether records of a dialect have another row than the line's."""
    return bool(_HIDES_ROW[dialect])


@kernel
def paths_for(dialect: int, role: int) -> Any:
    """Which paths of `path_to` a dialect has for something: first and stop."""
    return _AT[dialect, role], _AT[dialect, role + 1]


@kernel
def path_to(data: Any, tape: Any, path: int) -> int:
    """The value that a path of the table leads to, or 0."""
    token, _ = follow(data, tape, 0, _PATHS[path], 0, _NAMES)
    return int(token)


@kernel
def first_there(data: Any, tape: Any, dialect: int, role: int) -> int:
    """The first value of some paths that is not null, or 0."""
    first, stop = paths_for(dialect, role)
    for path in range(first, stop):
        token = path_to(data, tape, path)
        if not is_null(data, tape, token):
            return token
    return 0


@kernel
def _says_task(data: Any, start: int, end: int) -> Any:
    return task_number(data, start, end) >= 0 or may_be_task(data, start, end)


@kernel
def task_among(data: Any, tape: Any, dialect: int) -> int:
    """The first text that names a task, or may; 0 where none does."""
    first, stop = paths_for(dialect, OF_TASK)
    for path in range(first, stop):
        token = path_to(data, tape, path)
        if not is_text(tape, token):
            continue
        if tape[token, TOKEN_KIND] == ESCAPED or _says_task(
            data, tape[token, TOKEN_START], tape[token, TOKEN_END]
        ):
            return token
    return 0


@kernel
def _as_gold(data: Any, tape: Any, token: int) -> int:
    """What of a value is gold: an object, text of one, or a list's first item that is; 0 for nothing, or
    `UNSURE`."""
    if token and tape[token, TOKEN_KIND] == LIST and tape[token, TOKEN_NEXT] > token + 1:
        token += 1
        if tape[token, TOKEN_KIND] == LIST:
            return UNSURE
    if token == 0:
        return 0
    kind = tape[token, TOKEN_KIND]
    if kind == OBJECT:
        return token if tape[token, TOKEN_NEXT] > token + 1 else 0
    if kind > ESCAPED or is_empty(tape, token):
        return 0
    first = data[tape[token, TOKEN_START]]
    if first == 123:
        return token
    # blanks of any kind may stand before it
    return UNSURE if first <= 32 or first == 92 or first >= 128 else 0


@kernel
def _gold_choice(data: Any, tape: Any, choices: int, index: int) -> int:
    """lighteval's choice that is gold, 0 or `UNSURE`."""
    if index and tape[index, TOKEN_KIND] == LIST and tape[index, TOKEN_NEXT] > index + 1:
        index += 1
    if choices == 0 or tape[choices, TOKEN_KIND] != LIST or index == 0:
        return 0
    if tape[index, TOKEN_KIND] != INTEGER:
        return UNSURE
    start = tape[index, TOKEN_START]
    if tape[index, TOKEN_END] != start + 1:
        return UNSURE
    n = np.int64(data[start]) - 48
    at = choices + 1
    while at < tape[choices, TOKEN_NEXT]:
        if n == 0:
            return _as_gold(data, tape, at)
        n -= 1
        at = tape[at, TOKEN_NEXT]
    return 0


@kernel
def _is_correct(data: Any, tape: Any, reference: int, found: int) -> int:
    """Whether a reference of HELM has the tag ``correct`` (1), or `UNSURE`; ``found`` are its tags."""
    if is_null(data, tape, found):
        return 0
    if tape[found, TOKEN_KIND] != LIST:
        return UNSURE
    at = found + 1
    correct = 0
    while at < tape[found, TOKEN_NEXT]:
        if tape[at, TOKEN_KIND] == ESCAPED:
            return UNSURE
        if tape[at, TOKEN_KIND] == STRING and is_named(data, tape, at, _CORRECT):
            correct = 1
        at = tape[at, TOKEN_NEXT]
    return correct


@kernel
def _correct_reference(data: Any, tape: Any, references: int) -> int:
    """The gold in HELM's references, 0 or `UNSURE`."""
    if references == 0 or tape[references, TOKEN_KIND] != LIST:
        return 0
    at = references + 1
    while at < tape[references, TOKEN_NEXT]:
        correct = _is_correct(data, tape, at, member(data, tape, at, _TAGS))
        if correct == UNSURE:
            return UNSURE
        if correct:
            output = member(data, tape, at, _OUTPUT)
            gold = _as_gold(data, tape, member(data, tape, output, _TEXT)) if output else 0
            if gold != 0:
                return gold
        at = tape[at, TOKEN_NEXT]
    return 0


@kernel
def _names_task(data: Any, tape: Any, name: int) -> Any:
    """Whether ``rel-a1`` of lighteval's ``community|rel-a1|0`` may be a task."""
    if not is_text(tape, name):
        return False
    start, end = tape[name, TOKEN_START], tape[name, TOKEN_END]
    first = find_byte(data, start, end, _BAR)
    if first < end:
        start, end = first + 1, find_byte(data, first + 1, end, _BAR)
    return _says_task(data, start, end) or find_byte(data, start, end, 92) < end


@kernel
def gold_among(data: Any, tape: Any, dialect: int, task: int) -> int:
    """The gold that a row carries, 0 for none, or `UNSURE`; ``task`` is what it says of the task."""
    if dialect == HELM or dialect == LIGHTEVAL:
        first, _ = paths_for(dialect, OF_BESIDE)
        if dialect == HELM:
            if not is_null(data, tape, path_to(data, tape, first + 1)):
                return UNSURE
            return _correct_reference(data, tape, path_to(data, tape, first))
        if task == 0 and _names_task(data, tape, path_to(data, tape, first + 2)):
            return UNSURE
    else:
        first = 0
    at, stop = paths_for(dialect, OF_GOLD)
    if dialect == ROLLOUT:
        # details as text would be asked for the task too
        details = path_to(data, tape, stop - 1)
        gold = _as_gold(data, tape, details)
        if gold != 0 and (gold != details or tape[details, TOKEN_KIND] != OBJECT):
            return UNSURE
    for path in range(at, stop):
        token = path_to(data, tape, path)
        if dialect == INSPECT and path == at + 1 and _is_attached_target(data, tape, token):
            return UNSURE
        gold = _as_gold(data, tape, token)
        if dialect == LIGHTEVAL and gold > 0 and _has_nothing(data, tape, gold):
            return UNSURE
        if gold != 0:
            return gold
    if dialect == LIGHTEVAL:
        return _gold_choice(data, tape, path_to(data, tape, first), path_to(data, tape, first + 1))
    return 0


@kernel
def _is_attached_target(data: Any, tape: Any, target: int) -> Any:
    if target and tape[target, TOKEN_KIND] == LIST and tape[target, TOKEN_NEXT] > target + 1:
        target += 1
    return is_text(tape, target) and not is_empty(tape, target) and is_attached(data, tape, target)


@kernel
def _has_nothing(data: Any, tape: Any, gold: int) -> bool:
    """Whether all members of an object are null, as a column of objects may have them."""
    if tape[gold, TOKEN_KIND] != OBJECT:
        return False
    at = gold + 1
    while at < tape[gold, TOKEN_NEXT]:
        value = at + 1
        if not is_null(data, tape, value):
            return False
        at = tape[value, TOKEN_NEXT]
    return True
