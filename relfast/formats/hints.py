"""Where a field that a row lacks may stand: the path for ``--map`` that a run suggests.

Of ``{"id": "a", "choices": [{"message": {"role": "assistant", "content": "Answer 4"}}]}`` the response is at
``choices.*.message.content``. What a model was given holds texts and chats too, and a path into those would
have the prompt scored: what stands under a key of requests, or is said by another role, is not looked at. To
find nothing is better.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from relfast.errors import did_you_mean
from relfast.formats.entry import samples_of
from relfast.formats.reading import told_by
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

FIELDS: Final = tuple(_OTHER_NAMES)

_ALSO_READ: Final = frozenset(
    ("error", "limit", "finish_reason", "usage", "reasoning", "reasoning_content", "thinking")
)
"""Fields of rows beside these and `relfast.tasks.base.Task.row_fields`."""

_DEPTH: Final = 12
_MOST: Final = 2_000
"""Places of a row that are looked at."""
_NEAR: Final = 0.75
"""Least similarity (difflib's ratio) of a misspelt name."""
_ANY_TEXT: Final = ("text", "content")
"""Names of what may be the prompt as well."""

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_NOT_SAID: Final = frozenset({
    # what a model was given
    *("input", "prompt", "request", "question", "query", "problem", "task", "instruction", "context"),
    *("contents", "var", "param", "parameter", "kwarg", "arg", "argument", "config", "testcase", "case"),
    *("doc", "metadata", "example", "shot", "fewshot", "demonstration", "history", "template", "schema"),
    *("system", "developer", "user", "human", "tool", "function"),
    # what it thought or should say, and what is said of it
    *("reasoning", "thinking", "thought"),
    *("answer", "gold", "target", "truth", "reference", "expected", "correct", "label", "solution", "ideal"),
    *("judge", "grader", "evaluation", "feedback", "error", "logprob"),
})  # fmt: skip
"""Words, less a plural's s, in keys, and types of parts, of what is no response."""
_ABOUT: Final = frozenset({"id", "name", "type", "format", "path", "file", "url", "time", "date", "model"})
"""Last words of keys that say something of a response."""
_IN_TURN: Final = frozenset({"content", "part", "message", "turn", "step", "event", "trajectory"})
"""Words in keys of lists that are no samples: the last item is meant."""

_SPEAKERS: Final = frozenset({"assistant", "model", "gpt", "ai", "bot", "chatbot"})
_LISTENERS: Final = frozenset({"user", "human", "system", "developer", "tool", "function", "observation"})
_WHO: Final = ("role", "from", "author", "speaker", "sender", "type")
_CONTENTS: Final = ("content", "parts", "value", "text")
"""Keys of what a message says."""

_Path = tuple[str, ...]


def place_of(field: str, row: Mapping[str, Any]) -> str | None:
    """The path to what is probably a field that a row lacks, or None.

    ``row`` is the decoded row, ``field`` one of `FIELDS`. All but responses and gold are looked for among the
    row's own keys only.
    """
    ranked = []
    for path, value, holder in places(row, said=field == "response"):
        rank = _rank_of(field, path, value, holder)
        if rank is not None:
            ranked.append((rank, len(path), ".".join(path)))
    return min(ranked, key=lambda place: place[:2])[2] if ranked else None


def _rank_of(field: str, path: _Path, value: Any, holder: Any) -> tuple[int, int] | None:
    """How likely, the least the likeliest, it is that a field stands there; None where it cannot."""
    if path == (field,):
        return None  # it is there, and cannot be used
    key, names = path[-1], (field, *_OTHER_NAMES[field])
    plain = _plain(key)
    if field == "response":
        if _is_chat(value) and _is_response(value):
            return 3, 0
        if not isinstance(holder, Mapping) or not _is_response(value):
            return None
        if key in _CONTENTS and _who(holder) in _SPEAKERS:
            return 3, 0
    elif not (_is_gold(value) if field == "answer" else _is_text(value)):
        return None
    if len(path) == 1:
        import difflib  # most commands have nothing misspelt

        if difflib.get_close_matches(field, [key.lower()], 1, _NEAR):
            return 0, 0
        if plain in names and plain not in _ANY_TEXT:
            return 1, names.index(plain)
        # keys made of several words, such as raw_completion or completion_str
        if not {*_words_of(key)}.isdisjoint(names[:5]):
            return 2, 0
    elif field not in ("response", "answer"):
        return None
    return (3, 1 + names.index(plain)) if plain in names else None


def id_in(row: Mapping[str, Any], ids: Collection[str]) -> str | None:
    """The path to a value of a row that is one of these ids, or None."""
    for path, value, _ in places(row):
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value) in ids:
            return ".".join(path)
    return None


def places(row: Mapping[str, Any], *, said: bool = False) -> Iterator[tuple[_Path, Any, Any]]:
    """What stands in a row, the outermost first: its path, itself, and what holds it.

    Lists are not entered, and texts that are JSON are. With ``said`` only what a model may have said is
    looked at, in lists too: in each item where they are samples, else in the last.
    """
    todo: deque[tuple[_Path, Any, Any]] = deque([((), row, None)])
    for _ in range(_MOST):
        if not todo:
            return
        path, value, holder = todo.popleft()
        if path:
            yield path, value, holder
        inner: list[tuple[str, Any]] = []
        if isinstance(value, Mapping):
            if not said or _is_said(value, path):
                inner = [(key, item) for key, item in islice(value.items(), _MOST) if _is_step(key, said)]
        elif said and isinstance(value, list) and value:
            inner = [(step, value[0 if step == "*" else -1]) for step in _steps_into(path[-1], value)]
        elif not said and isinstance(value, str) and value.lstrip().startswith("{"):
            inner = [("@", decode_text(value))]
        if len(path) < _DEPTH:
            todo += (((*path, step), item, value) for step, item in inner)


def _is_step(key: Any, said: bool) -> bool:
    if not isinstance(key, str) or "." in key:
        return False
    return not said or _may_be_said(key) or _plain(key) in _OTHER_NAMES["response"]


def _is_said(value: Mapping[str, Any], path: _Path) -> bool:
    """Whether an object may be, or hold, a response: it is no message of another role, no thought or call."""
    who, kind = _who(value), value.get("type")
    if path and (value.get("thought") is True or (isinstance(kind, str) and not _may_be_said(kind))):
        return False
    return who is None or who in _SPEAKERS


def _steps_into(key: str, items: Sequence[Any]) -> tuple[str, ...]:
    """The steps into a list: to each item where they are samples, and to the last; none where it is not known
    who speaks, or where there is no answer yet: what the model said before was shown to it."""
    words = _words_of(key)
    if _is_chat(items):
        return ("-1",) if _who(items[-1]) in _SPEAKERS else ()
    if "message" in words:
        return ()
    kinds = {str(item.get("type")) for item in items if isinstance(item, Mapping)}
    return ("*", "-1")[: len(items)] if len(kinds) < 2 and _IN_TURN.isdisjoint(words) else ("-1",)


def _plain(key: str) -> str:
    return key.lower().replace("-", "_").replace(" ", "_")


def _words_of(key: str) -> tuple[str, ...]:
    """The words of a key, in lower case and less a plural's s: those of ``modelInputs`` are those of
    ``model_input``."""
    words = map(str.lower, _WORD.findall(key))
    # a request has contents, and a response a content
    return tuple(word if word == "contents" else word.rstrip("s") for word in words)


def _may_be_said(key: str) -> bool:
    """Whether a response may stand under a key."""
    words = _words_of(key)
    return _NOT_SAID.isdisjoint(words) and (len(words) < 2 or words[-1] not in _ABOUT)


def _is_response(value: Any) -> bool:
    """Whether a value can be scored as a response: a text, samples or parts with one, an answered chat."""
    if not isinstance(value, list):
        return isinstance(value, str)
    if _is_chat(value) and (
        value[-1].get("role") != "assistant" or any("role" not in item for item in value)
    ):
        return False
    return any(isinstance(sample, str) for sample in samples_of(value))


def _is_chat(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, Mapping) and _who(item) is not None for item in value)
    )


def _who(message: Mapping[str, Any]) -> str | None:
    """Who says a message, as far as it is said; None for what is none."""
    for key in _WHO:
        who = message.get(key)
        if isinstance(who, Mapping):
            who = who.get("role")
        if isinstance(who, str) and who.lower() in _SPEAKERS | _LISTENERS:
            return who.lower()
    role = message.get("role")
    return role if isinstance(role, str) and ("content" in message or "parts" in message) else None


def _is_text(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and bool(value) and _is_text(value[0]))


def _is_gold(value: Any) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, str) and value.lstrip().startswith("{"))


def why_unknown(name: str) -> str | None:
    """Why ``--map`` cannot say where ``name`` is, or None.

    It can where a dialect, a task or a length looks at such a field.
    """
    from relfast.tasks import TASKS

    known = {*FIELDS, *_ALSO_READ, *told_by()}.union(*(task.row_fields for task in TASKS.values()))
    if name in known:
        return None
    return f"there is no field {name!r}{did_you_mean(name, FIELDS) or '; there are ' + ', '.join(FIELDS)}"
