"""Where a field that a row lacks may stand: keys that other tools give it, and keys that are nearly it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from relfast.errors import did_you_mean
from relfast.formats.said_places import is_response, is_said, may_be_said, said_places, words_of
from relfast.formats.table import DIALECTS
from relfast.json_text import decode_text

_OTHER_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "response": (
        *("completion", "output", "generation", "generated_text", "completion_text"),
        *("response_text", "prediction", "predict"),
        *("model_output", "model_response", "model_answer", "output_text", "text", "content", "responses"),
        *("completions", "outputs", "generations", "samples", "predictions", "llm_solution", "reply"),
    ),
    "answer": ("gold", "target", "ground_truth", "reference", "solution", "label",
        "labels", "expected", "answers"),
    "task": ("task_name", "benchmark", "subtask", "dataset", "task_id", "tasks"),
    "question": ("prompt", "query", "input", "problem", "questions"),
    "id": ("uid", "uuid", "_id", "record_id", "example_id", "custom_id", "instance_id", "key"),
}  # fmt: skip
"""Keys under which other tools write our fields, the likeliest first."""

_ANY_TEXT: Final = frozenset({"text", "content"})
_IN_TEXT: Final = "@"
_DEPTH: Final = 6
_NEAR: Final = 0.75
"""Least similarity (difflib's ratio) of a misspelt name."""

FIELDS: Final = tuple(_OTHER_NAMES)

_ALSO_READ: Final = frozenset(
    ("error", "limit", "finish_reason", "usage", "reasoning", "reasoning_content", "thinking")
)
"""Fields of rows beside these and `relfast.tasks.base.Task.row_fields`."""


def place_of(field: str, row: Mapping[str, Any]) -> str | None:
    """The path to what is probably a field that a row lacks, or None.

    ``row`` is the decoded row, ``field`` one of `FIELDS`.
    """
    import difflib  # most commands have nothing misspelt

    top = [key for key in row if isinstance(key, str) and key != field and _fits(field, key, row)]
    near = difflib.get_close_matches(field, [key.lower() for key in top], 1, _NEAR)
    for key in top:
        if key.lower() in near:
            return key
    plain = {key: _plain(key) for key in top}
    names = _OTHER_NAMES[field]
    for name in names:
        found = next((key for key in top if plain[key] == name), None)
        if found is not None:
            # what may be any text, the prompt too, comes after what the model says in messages
            return next(said_places(row, ()), found) if found in _ANY_TEXT else found
    # keys made of several words, such as raw_completion or completion_str
    for key in top:
        if set(words_of(key)) & {field, *names[:4]}:
            return key
    if field == "answer":
        return next(_golds(row, _DEPTH), None)
    return next(said_places(row, (field, *names)), None) if field == "response" else None


def _fits(field: str, key: str, row: Mapping[str, Any]) -> bool:
    """Whether what stands under a key of a row may be a field."""
    if field == "answer":
        return _is_gold(row[key])
    if field != "response":
        return _is_text(row[key])
    return is_response(row[key]) and is_said(row) and (_plain(key) in _OTHER_NAMES[field] or may_be_said(key))


def _plain(key: str) -> str:
    return key.lower().replace("-", "_").replace(" ", "_")


def id_in(row: Mapping[str, Any], ids: Collection[str]) -> str | None:
    """The path to a value of a row that is one of these ids, or None."""
    return next((path for path, value in _scalars(row, _DEPTH) if str(value) in ids), None)


def _scalars(value: Any, depth: int, path: str = "") -> Iterator[tuple[str, Any]]:
    """The texts and whole numbers of a row with their paths, the outermost first."""
    if not depth or not isinstance(value, Mapping):
        return
    named = {key: item for key, item in value.items() if isinstance(key, str) and "." not in key}
    prefix = f"{path}." if path else ""
    for key, item in named.items():
        if isinstance(item, str | int) and not isinstance(item, bool):
            yield prefix + key, item
    for key, item in named.items():
        yield from _scalars(item, depth - 1, prefix + key)


def _told_by() -> frozenset[str]:
    """The fields that tell a dialect: a map that says where they are makes rows of it."""
    tells = " ".join(text for dialect in DIALECTS.values() for form in dialect.forms for text in form.tells)
    return frozenset(re.split(r"[.:\[].*", condition, maxsplit=1)[0] for condition in tells.split())


def why_unknown(name: str) -> str | None:
    """Why ``--map`` cannot say where ``name`` is, or None.

    It can where a dialect, a task or a length looks at such a field.
    """
    from relfast.tasks import TASKS

    if name in FIELDS or name in _ALSO_READ or name in _told_by():
        return None
    if any(name in task.row_fields for task in TASKS.values()):
        return None
    return f"there is no field {name!r}{did_you_mean(name, FIELDS) or '; there are ' + ', '.join(FIELDS)}"


def _is_text(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and bool(value) and _is_text(value[0]))


def _is_gold(value: Any) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, str) and value.lstrip().startswith("{"))


def _golds(value: Any, depth: int, path: str = "") -> Iterator[str]:
    """Paths to gold in objects of a row, the outermost first, also of such as are written as text."""
    if not depth or not isinstance(value, Mapping):
        return
    objects: dict[str, Mapping[str, Any]] = {}
    for key, item in value.items():
        if not isinstance(key, str) or "." in key:
            continue
        here = f"{path}.{key}" if path else key
        if isinstance(item, str) and item.lstrip().startswith("{"):
            here, item = f"{here}.{_IN_TEXT}", decode_text(item)
        if isinstance(item, Mapping):
            objects[here] = item
    for here, item in objects.items():
        for name in ("answer", *_OTHER_NAMES["answer"]):
            if _is_gold(item.get(name)):
                yield f"{here}.{name}"
    for here, item in objects.items():
        yield from _golds(item, depth - 1, here)
