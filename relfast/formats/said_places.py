"""Where in another tool's row a model's response stands: paths that ``--map`` understands.

What a model was given holds texts and chats too, and a path into those would have the prompt scored: what
stands under a key of requests, or is said by another role, is not looked at. To find nothing is better.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final

from relfast.formats.entry import samples_of

Path = tuple[str, ...]
_Place = tuple[int, Path]
"""How likely, 0 the likeliest, it is that a response stands there."""
_Ranks = Mapping[str, int]
"""How likely it is under these names."""

_MESSAGE: Final = 0
_EACH: Final = "*"
_DEPTH: Final = 12
_ITEMS: Final = 100
"""Items of a list that are looked at."""

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


@lru_cache(1 << 10)
def words_of(key: str) -> tuple[str, ...]:
    """The words of a key, in lower case and less a plural's s: those of ``modelInputs`` are those of
    ``model_input``."""
    words = map(str.lower, _WORD.findall(key))
    # a request has contents, and a response a content
    return tuple(word if word == "contents" else word.rstrip("s") for word in words)


def may_be_said(key: str) -> bool:
    """Whether a response may stand under a key."""
    words = words_of(key)
    return _NOT_SAID.isdisjoint(words) and (len(words) < 2 or words[-1] not in _ABOUT)


def is_response(value: Any) -> bool:
    """Whether a value can be scored as a response: a text, samples or parts with one, an answered chat."""
    if isinstance(value, str):
        return True
    if not isinstance(value, list) or (_is_chat(value) and not _is_answered(value)):
        return False
    return any(isinstance(sample, str) for sample in samples_of(value))


def is_said(value: Mapping[str, Any]) -> bool:
    """Whether an object may be, or hold, a response: it is no message of another role."""
    who = _who(value)
    return who is None or who in _SPEAKERS


def _is_part_said(value: Mapping[str, Any]) -> bool:
    """The same of an object in another one, which may be a thought, a call, or a part of an input too."""
    kind = value.get("type")
    other = value.get("thought") is True or (isinstance(kind, str) and not may_be_said(kind))
    return not other and is_said(value)


def said_places(row: Mapping[str, Any], names: Sequence[str]) -> Iterator[str]:
    """Paths to what is probably the response of a row, the likeliest first: to what the model says in
    messages, then to what stands under these names; of each the outermost first."""
    found = _below(row, {name: rank for rank, name in enumerate(names, 1)}, _DEPTH)
    for _, path in sorted(found, key=lambda place: (place[0], len(place[1]))):
        yield ".".join(path)


def _below(value: Any, names: _Ranks, depth: int, key: str = "") -> list[_Place]:
    """The places of responses in a value, which stands under a key."""
    found: list[_Place] = []
    if isinstance(value, list):
        found += [(_MESSAGE, ())] if _is_answered(value) else []
        if depth:
            found += _in_items(value, names, depth - 1, words_of(key))
    elif isinstance(value, Mapping) and (_is_part_said(value) if depth < _DEPTH else is_said(value)):
        found += [(_MESSAGE, path) for path in _said_in_message(value)]
        found += [(rank, (name,)) for name, rank in names.items() if is_response(value.get(name))]
        for inner, item in value.items() if depth else ():
            if isinstance(item, list | Mapping) and _is_step(inner):
                found += _put_before(inner, _below(item, names, depth - 1, inner))
    return found


def _is_step(key: Any) -> bool:
    return isinstance(key, str) and "." not in key and may_be_said(key)


def _put_before(step: str, places: Iterable[_Place]) -> Iterator[_Place]:
    return ((rank, (step, *path)) for rank, path in places)


def _in_items(items: list[Any], names: _Ranks, depth: int, words: Collection[str]) -> Iterator[_Place]:
    """The same of a list: of each item where they are samples, else of the last that has one."""
    chat = _is_chat(items)
    if chat and _who(items[-1]) not in _SPEAKERS:
        return  # there is no answer yet: what the model said before was shown to it
    if "message" in words and not chat:
        return  # who speaks is unknown
    shown = items[-_ITEMS:]
    found = [_below(item, names, depth) for item in shown]
    each: list[_Place] = []
    if shown and not (chat or _differ(shown) or not _IN_TURN.isdisjoint(words)):
        each = [(rank, path) for rank, path in found[0] if all(_leads(item, path) for item in shown)]
        yield from _put_before(_EACH, each)
    seen = {rank for rank, _ in each}
    for back, places in enumerate(reversed(found), 1):
        new = [(rank, path) for rank, path in places if rank not in seen]
        seen.update(rank for rank, _ in new)
        yield from _put_before(str(-back), new)


def _differ(items: list[Any]) -> bool:
    """Whether items say of themselves that they are different things."""
    kinds = [item.get("type") for item in items if isinstance(item, Mapping)]
    return any(one != other for one, other in pairwise(kinds))


def _leads(value: Any, path: Sequence[str]) -> bool:
    """Whether a sample has a path; one that failed has no need to."""
    if value is None or not path:
        return True
    step, rest = path[0], path[1:]
    if isinstance(value, Mapping):
        return bool(value.get("error")) or (step in value and _leads(value[step], rest))
    if not isinstance(value, list):
        return False
    if step == _EACH:
        return all(_leads(item, rest) for item in value)
    return -len(value) <= int(step) and _leads(value[int(step)], rest)


def _said_in_message(message: Mapping[str, Any]) -> Iterator[Path]:
    """Where the model's words are in a message of its."""
    if _who(message) not in _SPEAKERS:
        return
    for key in _CONTENTS:
        content = message.get(key)
        if is_response(content):
            yield (key,)
        elif isinstance(content, list):
            yield from ((key, at, "text") for at in _last_text(content))


def _last_text(parts: list[Any]) -> Iterator[str]:
    """The place of the last of a message's parts that is text; those that say so go as a whole."""
    for back, part in enumerate(reversed(parts), 1):
        if isinstance(part, Mapping) and _is_part_said(part) and isinstance(part.get("text"), str):
            yield str(-back)
            return


def _is_chat(value: Sequence[Any]) -> bool:
    return bool(value) and all(isinstance(item, Mapping) and _who(item) is not None for item in value)


def _is_answered(value: Sequence[Any]) -> bool:
    """Whether a list is a chat that can be scored as a whole: the assistant has the last word, or a call."""
    return _is_chat(value) and value[-1].get("role") == "assistant" and all("role" in item for item in value)


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
