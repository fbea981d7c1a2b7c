"""Texts with plain quotes and marks, no comments in lists, and objects as ``"action: param"``."""

from __future__ import annotations

import re
from typing import Final

from relfast.tasks.seqbench.mentions import ACTION, NAME, as_item
from relfast.tasks.unseen import without_unseen

_TRANSLATION: Final = {
    0xFE0F: "",
    0x20E3: ".",  # a keycap: 1️⃣
    **dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad"), ""),
    **dict.fromkeys(map(ord, "\u00a0\u2007\u202f\u3000"), " "),
    **dict.fromkeys(map(ord, "“”„‟«»「」『』＂"), '"'),
    **dict.fromkeys(map(ord, "‘’‚‛＇"), "'"),
    **dict(zip(map(ord, "：，（）［］【】、；＿"), ":,()[][],;_", strict=True)),
}
_COMMENT: Final = re.compile(r"(?<=[\"'\])},(\[])([ \t]*,?)[ \t]*(?:#(?!\d)|//)[^\n\[\]{}]*+")
_COMMENT_LINE: Final = re.compile(r"^[ \t]*+(?://|#(?!#))[^\n]*+\n(?=[ \t]*+[\"'(\[{\]])", re.MULTILINE)
_BLOCK_COMMENT: Final = re.compile(r"/\*[^*\[\]]*+\*/")
_ONE_VALUE: Final = re.compile(r"([\"']\s*:\s*)\[\s*(\"[^\"\[\]]*\"|'[^'\[\]]*'|\d+)\s*\]")
_TAG: Final = re.compile(rf"</(?:{ACTION})>|</?(?:b|strong|em|i|u|code|span)>", re.IGNORECASE)
_OBJECT: Final = re.compile(r"\{([^{}\[\]]*)\}")
_FIELD: Final = re.compile(r"(?<!\w)(\w++)[\"']?\s*:\s*(?:\"([^\"]*)\"|'([^']*)'|(-?\w+))")
_VERB_FIELDS: Final = (
    "action",
    "name",
    "type",
    "function",
    "tool",
    "operation",
    "op",
    "command",
    "step",
    "move",
    "verb",
)
_ASIDE: Final = frozenset(
    {
        "step",
        "id",
        "index",
        "number",
        "from",
        "reason",
        "comment",
        "note",
        "explanation",
        "description",
    }
)


def tidy(text: str) -> str:
    """The text with plain quotes and marks, no comments in lists, and objects as ``"action: param"``."""
    if not text.isascii():
        text = text.translate(_TRANSLATION)
    text = text.replace("\\_", "_")
    if "~~" in text or "<" in text:
        text = without_unseen(text)
    if "</" in text:
        text = _TAG.sub("", text)
    if "#" in text or "//" in text or "/*" in text:
        text = _BLOCK_COMMENT.sub("", text)
        text = _COMMENT.sub(_comma, text)
        text = _COMMENT_LINE.sub("", text)
    if "{" in text:
        if "[" in text:
            text = _ONE_VALUE.sub(r"\1\2", text)
        for _ in range(2):  # arguments may be an object within
            text = _OBJECT.sub(_flat, text)
    return text


def _comma(found: re.Match[str]) -> str:
    """What is left of a comment: the comma before it, or all of it where a bracket stands on its line."""
    follows = found.string[found.end() : found.end() + 1]
    return found[1] if follows in ("", "\n") else found[0]


def _flat(found: re.Match[str]) -> str:
    """An object as text: an action, the value of an object that says no more, or what it was."""
    fields = [(name.lower(), one or two or bare) for name, one, two, bare in _FIELD.findall(found[1])]
    if not fields:
        return found[0]
    if sum(NAME.fullmatch(name) is not None for name, _ in fields) > 1:
        return found[0]
    for at, (name, value) in enumerate(fields):
        verb = NAME.fullmatch(name)
        if verb is not None:
            return _quoted(f"{verb.lastgroup}: {_bare(value)}")
        if name in _ASIDE:
            continue
        verb = NAME.fullmatch(value)
        if verb is not None:
            rest = [field for other, field in enumerate(fields) if other != at]
            told = [value for name, value in rest if name not in _ASIDE] or [value for _, value in rest]
            return _quoted(f"{verb.lastgroup}: {_bare(told[0])}" if told else value)
        if (item := as_item(value)) is not None:
            # several of them are a plan by themselves
            return _quoted(item) if not any(as_item(value) for _, value in fields[at + 1 :]) else found[0]
    if len(fields) == 1:
        return _quoted(fields[0][1])
    verbs = [value for name, value in fields if name in _VERB_FIELDS]
    return _quoted(verbs[0]) if verbs else found[0]


def _quoted(item: str) -> str:
    return '"' + item.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _bare(parameter: str) -> str:
    """A parameter without ``Room`` or ``Key`` before it."""
    word, _, rest = parameter.strip().partition(" ")
    return rest.strip() if rest and word.lower() in ("room", "key") else parameter.strip()
