"""Guesses where a row has a field that was not found, for the ``--map`` that a run suggests.

In ``{"id": "a", "choices": [{"message": {"role": "assistant", "content": "Answer 4"}}]}`` the response is at
``choices.*.message.content``. Prompts are texts and chats too, and a wrong guess would have one scored.
So values under keys for prompts, reasoning and gold, and messages of other roles than the model's, are
skipped, and what is guessed of one row is tried on others: better no suggestion than a wrong one.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any, Final, NamedTuple

from relfast.errors import did_you_mean
from relfast.formats.entry import is_reasoning, names_reasoning, samples_of
from relfast.formats.paths import MISSING, as_object, follow
from relfast.formats.reading import recognise, told_by
from relfast.formats.table import DIALECTS
from relfast.json_text import decode_text
from relfast.tasks import infer_task

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
"""Keys under which other tools write relfast's fields, likeliest first."""

FIELDS: Final = tuple(_OTHER_NAMES)

_ALSO_READ: Final = frozenset(
    ("error", "limit", "finish_reason", "usage", "reasoning", "reasoning_content", "thinking")
)
"""Further fields of rows that relfast reads, besides `FIELDS` and `relfast.tasks.base.Task.row_fields`."""

_DEPTH: Final = 12
_MOST_PLACES: Final = 2_000
"""Most places of a row that are looked at."""
_NEAR: Final = 0.75
"""Least similarity (difflib's ratio) of a misspelt name."""
_AMBIGUOUS: Final = ("text", "content")
"""Keys that may as well hold the prompt."""

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_NO_RESPONSE: Final = frozenset({
    # what a model was given
    *("input", "prompt", "request", "question", "query", "problem", "task", "instruction", "context"),
    *("contents", "var", "param", "parameter", "kwarg", "arg", "argument", "config", "testcase", "case"),
    *("doc", "metadata", "example", "shot", "fewshot", "demonstration", "history", "template", "schema"),
    *("system", "developer", "user", "human", "tool", "function"),
    # the model's reasoning, gold, and judgements of the response
    *("reasoning", "thinking", "thought"),
    *("answer", "gold", "target", "truth", "reference", "expected", "correct", "label", "solution", "ideal"),
    *("judge", "grader", "evaluation", "feedback", "error", "logprob"),
})  # fmt: skip
"""Words (without a plural's s) in keys, and in types of parts, under which no response stands."""
_FACTS: Final = frozenset({"id", "name", "type", "format", "path", "file", "url", "time", "date", "model"})
"""Last words of keys that hold facts about a response, such as ``response_id``."""
_SEQUENCES: Final = frozenset({"content", "part", "message", "turn", "step", "event", "trajectory"})
"""Words in keys of lists whose items follow each other and are no samples: the last is the response."""

_MODEL_ROLES: Final = frozenset({"assistant", "model", "gpt", "ai", "bot", "chatbot"})
_OTHER_ROLES: Final = frozenset({"user", "human", "system", "developer", "tool", "function", "observation"})
_ROLE_KEYS: Final = ("role", "from", "author", "speaker", "sender", "type")
_CONTENTS: Final = ("content", "parts", "value", "text")
"""Keys under which a message has its text."""

_OPENS: Final = (("{",), ("{", "["))
"""How JSON in a text begins, in general and for responses."""
_ENVELOPE: Final = frozenset(
    {
        "role",
        "content",
        "message",
        "messages",
        "choices",
        "candidates",
        "parts",
        "output",
        "outputs",
        "generations",
    }
)
"""Keys of objects in which a response is wrapped: their JSON is no response."""

_Path = tuple[str, ...]


class Hint(NamedTuple):
    """A path to a field, and how many of the rows on which it was tried (``n_tried``) have it there."""

    path: str
    n: int
    n_tried: int


def hint_of(field: str, rows: Sequence[Mapping[str, Any]]) -> Hint | None:
    """The path to the field in the first of some rows that fits all of them: in each it leads to a value that
    can be the field, or to none at all. None if there is no such path."""
    found = [_places_of(field, row) for row in rows]
    for path in found[0] if found else ():
        fitting = [path in places for places in found]
        if all(fits or _is_nothing(follow(row, path)) for fits, row in zip(fitting, rows, strict=True)):
            return Hint(path, sum(fitting), len(rows))
    return None


def _is_nothing(value: Any) -> bool:
    return value is MISSING or value is None or value == [] or value == ""


def place_of(field: str, row: Mapping[str, Any]) -> str | None:
    """The path to a value that is probably the row's ``field``; None if there is none.

    ``row`` is the decoded row, ``field`` one of `FIELDS`. A response or an answer is looked for at any depth,
    other fields only among the row's own keys.
    """
    return next(iter(_places_of(field, row)), None)


def _places_of(field: str, row: Mapping[str, Any]) -> list[str]:
    """The paths to values that may be the field, likeliest first."""
    ranked = []
    gold = _gold_members(row) if field == "response" else frozenset()
    for path, value, holder in places(row, for_response=field == "response"):
        rank = None if path[0] in gold else _rank_of(field, path, value, holder)
        if rank is not None:
            ranked.append((rank, len(path), path))
    inside = {path[: path.index("@")] for _, _, path in ranked if "@" in path}
    return [_typed(path) for _, _, path in sorted(ranked, key=itemgetter(0, 1)) if path not in inside]


def _typed(path: _Path) -> str:
    """A path as it is typed: a dot in a key is escaped."""
    return ".".join(step.replace(".", "\\.") for step in path)


def _gold_members(row: Mapping[str, Any]) -> frozenset[str]:
    """The members of a row that are gold by its dialect, or by one of which it has several such members."""
    known = recognise(row)
    gold: set[str] = set()
    for name, dialect in DIALECTS.items():
        for form in dialect.forms:
            if name == known or len(set(form.members) & row.keys()) > 1:
                gold |= set(form.members)
            if name == known and name != "native":
                gold |= {path.partition(".")[0] for path in form.answer.split()}
    return frozenset(gold)


def _rank_of(field: str, path: _Path, value: Any, holder: Any) -> tuple[int, int] | None:
    """How likely it is that the value at a path is the field: least is likeliest; None if it cannot be."""
    if path == (field,):
        return None  # the field is in its place, and its value was unusable
    key, names = path[-1], (field, *_OTHER_NAMES[field])
    plain = _plain(key)
    if field == "response":
        if _is_chat(value) and _is_response(value):
            return 3, 0
        if not _is_response(value):
            return None
        if not isinstance(holder, Mapping):
            # the turns of a conversation with a model, as texts
            is_turn = key == "-1" and len(path) > 1 and not _SEQUENCES.isdisjoint(_words_of(path[-2]))
            return (3, len(names) + 1) if is_turn and isinstance(value, str) else None
        if key in _CONTENTS and _role_of(holder) in _MODEL_ROLES:
            return 3, 0
    elif not (_is_gold(value) if field == "answer" else _is_text(value)):
        return None
    if len(path) == 1:
        import difflib  # most commands have nothing misspelt

        if difflib.get_close_matches(field, [key.lower()], 1, _NEAR):
            return 0, 0
        if plain in names and plain not in _AMBIGUOUS:
            return 1, names.index(plain)
        # keys made of several words, such as raw_completion or completion_str
        if not {*_words_of(key)}.isdisjoint(names[:5]):
            return 2, 0
    elif field not in ("response", "answer"):
        return None
    return (3, 1 + names.index(plain)) if plain in names else None


def id_in(rows: Sequence[Mapping[str, Any]], ids: Collection[str]) -> Hint | None:
    """The path at which each of some rows has one of these ids, not all of them the same. A number alone is
    an id only under a key that says so: counters and labels are numbers too. None without such a path."""
    for path, value, _ in places(rows[0]):
        found = [follow(row, _typed(path)) for row in rows]
        names = {
            str(value) for value in found if isinstance(value, str | int) and not isinstance(value, bool)
        }
        says_id = not _IDS.isdisjoint(_words_of(path[-1]))
        several = len(names) > 1 or len(rows) == 1 or len(ids) == 1
        if _is_text(value) or isinstance(value, int):
            all_there = len(found) == sum(type(each) is not bool and str(each) in ids for each in found)
            if all_there and several and (says_id or not all(map(str.isdigit, names))):
                return Hint(_typed(path), len(rows), len(rows))
    return None


_IDS: Final = frozenset({"id", "uid", "uuid", "key", "ident", "identifier"})
"""Words in keys of ids."""


def places(row: Mapping[str, Any], *, for_response: bool = False) -> Iterator[tuple[_Path, Any, Any]]:
    """The values in a row, outermost first: (path, value, object or list that holds the value).

    By default lists are not entered, and texts that are JSON are decoded and entered. With ``for_response``
    only values that may be responses are yielded, and lists are entered: by ``*`` if the items are samples,
    and by ``-1`` for the last item.
    """
    todo: deque[tuple[_Path, Any, Any]] = deque([((), row, None)])
    for _ in range(_MOST_PLACES):
        if not todo:
            return
        path, value, holder = todo.popleft()
        if path:
            yield path, value, holder
        inner: list[tuple[str, Any]] = []
        if isinstance(value, Mapping):
            if not for_response or _may_hold_response(value, path):
                inner = [
                    (key, item)
                    for key, item in islice(value.items(), _MOST_PLACES)
                    if _is_step(key, for_response)
                ]
        elif for_response and isinstance(value, list) and value:
            inner = [(step, value[0 if step == "*" else -1]) for step in _steps_into(path[-1], value)]
        elif isinstance(value, str) and value.lstrip()[:1] in _OPENS[for_response]:
            decoded = decode_text(value)
            inner = [("@", decoded)] if isinstance(decoded, Mapping | list) else []
        if len(path) < _DEPTH:
            todo += (((*path, step), item, value) for step, item in inner)


def _is_step(key: Any, for_response: bool) -> bool:
    if not isinstance(key, str):
        return False
    return not for_response or _may_name_response(key) or _plain(key) in _OTHER_NAMES["response"]


def _may_hold_response(value: Mapping[str, Any], path: _Path) -> bool:
    """Whether an object may be or hold a response: no message of another role, no thought or tool call."""
    role, kind = _role_of(value), value.get("type")
    if path and (is_reasoning(value) or (isinstance(kind, str) and not _may_name_response(kind))):
        return False
    return role is None or role in _MODEL_ROLES


def _steps_into(key: str, items: Sequence[Any]) -> tuple[str, ...]:
    """The steps into a list: ``*`` if its items are samples, and ``-1`` for its last item; no step into
    messages without roles, nor a chat that does not end with the model: earlier turns are its prompt."""
    words = _words_of(key)
    if key == "@" and not _is_chat(items):
        return ()
    if _is_chat(items):
        return ("-1",) if _role_of(items[-1]) in _MODEL_ROLES else ()
    if "message" in words:
        return ()
    kinds = {str(item.get("type")) for item in items if isinstance(item, Mapping)}
    return ("*", "-1")[: len(items)] if len(kinds) < 2 and _SEQUENCES.isdisjoint(words) else ("-1",)


def _plain(key: str) -> str:
    return key.lower().replace("-", "_").replace(" ", "_")


def _words_of(key: str) -> tuple[str, ...]:
    """The words of a key in lower case, without a plural's s: ``("model", "input")`` for ``modelInputs``."""
    words = map(str.lower, _WORD.findall(key))
    # requests have ``contents`` and responses ``content``: that plural is kept
    return tuple(word if word == "contents" else word.rstrip("s") for word in words)


def _may_name_response(key: str) -> bool:
    """Whether a response may stand under a key."""
    words = _words_of(key)
    if names_reasoning(key):
        return False
    return _NO_RESPONSE.isdisjoint(words) and (len(words) < 2 or words[-1] not in _FACTS)


def _is_response(value: Any) -> bool:
    """Whether a value can be scored as a response: a text, a list with one, or a chat that the model ends."""
    if isinstance(value, str):
        return not _is_envelope(decode_text(value) if value.lstrip()[:1] in _OPENS[True] else value)
    if not isinstance(value, list):
        return False
    if _is_chat(value) and (
        value[-1].get("role") != "assistant" or any("role" not in item for item in value)
    ):
        return False
    return any(isinstance(sample, str) for sample in samples_of(value))


def _is_envelope(value: Any) -> bool:
    """Whether what JSON in a text says is gold, or an object or list in which a response is wrapped."""
    if isinstance(value, list):
        return any(isinstance(item, Mapping) for item in value)
    if not isinstance(value, Mapping):
        return False
    wraps = not _ENVELOPE.isdisjoint(value) or any(map(names_reasoning, value))
    return wraps or infer_task(value) is not None


def _is_chat(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, Mapping) and _role_of(item) is not None for item in value)
    )


def _role_of(message: Mapping[str, Any]) -> str | None:
    """The role that a message names, under any of the usual keys; None for an object that is no message."""
    for key in _ROLE_KEYS:
        name = message.get(key)
        if isinstance(name, Mapping):
            name = name.get("role")
        if isinstance(name, str) and name.lower() in _MODEL_ROLES | _OTHER_ROLES:
            return name.lower()
    role = message.get("role")
    return role if isinstance(role, str) and ("content" in message or "parts" in message) else None


def _is_text(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and bool(value) and _is_text(value[0]))


def _is_gold(value: Any) -> bool:
    return as_object(value) is not None and not isinstance(value, list)


def why_unknown(name: str) -> str | None:
    """Why ``--map`` cannot map a field ``name``, as a message; None if it can.

    It can map every field that a dialect, a task or ``--lengths`` reads.
    """
    from relfast.tasks import TASKS

    known = {*FIELDS, *_ALSO_READ, *told_by()}.union(*(task.row_fields for task in TASKS.values()))
    if name in known:
        return None
    return f"there is no field {name!r}{did_you_mean(name, FIELDS) or '; there are ' + ', '.join(FIELDS)}"
