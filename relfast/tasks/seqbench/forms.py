"""Plans in other forms than the published ones: numbered lists, calls, objects, tables, lists with comments.

Two ways lead to a plan. `tidy` brings what is nearly a list of actions into that form, so that the kernel
reads it, with everything in it that is no action. `find_sequences` reads actions that follow each other in a
text with nothing but list marks, punctuation and remarks between them. Both are for ``strict``; linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from relfast.tasks.unseen import without_unseen

_ACTION: Final = (
    r"(?P<start>start(?:[ _-](?:at|in|from))?)"
    r"|(?P<move_to>move[ _-]?to|move from (?:room )?[\w'-]+ to)"
    r"|(?P<pick_up_key>pick[ _-]?up(?:[ _-]the)?[ _-]?key)"
    r"|(?P<use_key>use(?:[ _-]the)?[ _-]?key)"
    r"|(?P<unlock_and_open_door_to>"
    r"unlock(?:[ _-]?and[ _-]?open)?(?:[ _-]the)?(?:[ _-]locked)?[ _-]?door[ _-]?(?:to|into))"
    r"|(?P<rescue>rescue)"
)
_QUOTES: Final = "\"'`"
_NAME: Final = re.compile(rf"(?<![A-Za-z0-9_/])(?:{_ACTION})(?![A-Za-z0-9])", re.IGNORECASE)
_SEPARATOR: Final = re.compile(
    rf"[ \t*_{_QUOTES}]*+"
    rf"(?:(?:->|=>|[:=(,|>→⇒–-])[ \t*_({_QUOTES}]*+)?"
    # a field of an object or of YAML
    rf"(?:[\s,{_QUOTES}{{]*?\b(?:target|to|param(?:eter)?s?|arg(?:ument)?s?|value|room|key|person)[{_QUOTES}]?"
    rf"[ \t]*[:=][ \t]*[*{_QUOTES}]*+)?"
    rf"(?:(?:the )?(?:room|key|door|to)[ \t_#]++)?[*_#({_QUOTES}]*+",
    re.IGNORECASE,
)
_PARAMETER: Final = re.compile(rf"[^\s,;:|()\[\]{{}}<>*=\\{_QUOTES}]+")
_LAST_MARKS: Final = ".!?…"

_GLUE: Final = re.compile(
    r"(?:=[\"']?\d+[\"']?|#\d+|[^\w]|_|\d+(?:\t|\s*[.):\]>|,}=–-]|[\"']\s*:|[ \t]*(?=\n))"
    r"|(?:actions?|plan|steps?|name|type|target|param(?:eter)?s?|arg(?:ument)?s?|value|then|and|next|finally|first|to"
    r"|function|tool|call|command|operation|append|id|json|python|text(?:tt|bf|it)?|mathtt|item|li|ol|ul|p|br|td|tr"
    r"|th|code|pre|strong|em|b|div|x|bob|agent|self|robot|env|player)(?![A-Za-z]))*+",
    re.IGNORECASE,
)
_HEADING: Final = re.compile(r"[#*\s]*(?:phase|part|stage|section|leg|segment)\b", re.IGNORECASE)
_MARKER: Final = re.compile(
    r"[ \t>|*_`'\"(\[]*(?:(?:\d+|[a-z]|[ivx]+)[.):\]]|[-*•+–▪◦‣✓✅→]|(?:step|action|move) ?#?\d+\W|<li>"
    r"|\d+ ?\|)?[ \t>*_|`'\"(\[{]*",
    re.IGNORECASE,
)
_REMARK_IN_LINE: Final = re.compile(r"\([^()\n]{0,120}\)")
_ITEM_LINE: Final = re.compile(
    r"[ \t]*(?:(?:\d+|[a-z])[.)]|[-*•+–])[ \t]{1,8}\W{0,8}(\w++(?:[ \t]{0,3}[:(][ \t]{0,3}\S+)?)\W{0,8}$"
)
_NEXT_ITEM: Final = re.compile(
    r"[ \t\"'`)}]*,[ \t]*(\n?[ \t]*[\"'][^\"'\n]{1,80}[\"']|[\w.-]+(?:\([^()\n]{0,40}\))?)"
    r"(?=[ \t]*\n?[ \t]*[,\])}])"
)

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
_TAG: Final = re.compile(rf"</(?:{_ACTION})>|</?(?:b|strong|em|i|u|code|span)>", re.IGNORECASE)
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


class Sequence(NamedTuple):
    """Actions that follow each other: where they stand, ``"action: param"`` each, and other items."""

    start: int
    end: int
    items: tuple[str, ...]


class _Mention(NamedTuple):
    start: int
    end: int
    item: str
    first_of_line: bool
    marks: int = 0


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
    if sum(_NAME.fullmatch(name) is not None for name, _ in fields) > 1:
        return found[0]
    for at, (name, value) in enumerate(fields):
        verb = _NAME.fullmatch(name)
        if verb is not None:
            return _quoted(f"{verb.lastgroup}: {_bare(value)}")
        if name in _ASIDE:
            continue
        verb = _NAME.fullmatch(value)
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


def as_item(text: str, target: str = "") -> str | None:
    """The action that a whole text stands for, as ``"action: param"``, or None."""
    text = text.strip()
    marker = _MARKER.match(text)
    begin = marker.end() if marker else 0
    for at in {begin, 0}:
        mention = _mention(text, _NAME.match(text, at), target)
        if mention is not None and not text[mention.end :].strip(" \t\"'`)]}.;,*!"):
            return mention.item
    return None


def is_frame(line: str) -> bool:
    """Whether a line only leads up to actions: marks, words of objects, a part's heading, an empty list."""
    return _GLUE.fullmatch(line) is not None or _HEADING.match(line) is not None or line.endswith("= []")


def find_sequences(text: str, target: str) -> Iterator[Sequence]:
    """Actions in a text that follow each other, from a start on.

    Between two of them stand list marks, punctuation and the words of objects; a line that begins with an
    action may end with a remark, and indented lines below it are remarks too.
    """
    begin = end = 0
    items: list[str] = []
    last: _Mention | None = None
    for mention in _mentions(text, target):
        starts = mention.item.startswith("start: ")
        if last is not None and not starts and _follows(text, last, mention):
            items.append(mention.item)
        else:
            if len(items) > 1:
                yield _with_junk(text, begin, end, items, last, mention.start)
            items = [mention.item] if starts else []
            begin = mention.start - mention.marks
        last = mention if items else None
        end = mention.end
    if len(items) > 1:
        yield _with_junk(text, begin, end, items, last, len(text))


def _mentions(text: str, target: str) -> Iterator[_Mention]:
    at = seen = head = 0
    line = -1  # start of the line that `head`, the end of its list mark, belongs to
    while (found := _NAME.search(text, at)) is not None:
        start = text.rfind("\n", seen, found.start()) + 1 or max(line, 0)
        seen = found.start()
        fresh = start != line
        if fresh:
            line = start
            marker = _MARKER.match(text, line)
            head = marker.end() if marker else line
        mention = _mention(text, found, target)
        at = found.end()
        if mention is not None:
            first = fresh and head >= found.start()
            marked = fresh and (first or _GLUE.fullmatch(text, line, found.start()) is not None)
            yield mention._replace(first_of_line=first, marks=found.start() - line if marked else 0)
            at = mention.end


def _mention(text: str, name: re.Match[str] | None, target: str) -> _Mention | None:
    if name is None:
        return None
    separator = _SEPARATOR.match(text, name.end())
    assert separator is not None
    at = separator.end()
    if at == name.end():
        return None
    if target and name.lastgroup == "rescue" and text[at : at + len(target)].lower() == target.lower():
        end, parameter = at + len(target), target
    else:
        found = _PARAMETER.match(text, at)
        parameter = found[0].rstrip(_LAST_MARKS) if found else ""
        if not parameter:
            return None
        end = at + len(parameter)
    return _Mention(name.start(), end, f"{name.lastgroup}: {parameter}", False)


def _follows(text: str, before: _Mention, after: _Mention) -> bool:
    """Whether nothing of weight stands between two actions."""
    between = text[before.end : after.start]
    if _GLUE.fullmatch(between):
        return True
    first, newline, rest = between.partition("\n")
    if not newline:
        return _GLUE.fullmatch(_REMARK_IN_LINE.sub("", between)) is not None
    if not (before.first_of_line and after.first_of_line) and not _GLUE.fullmatch(
        _REMARK_IN_LINE.sub("", first)
    ):
        return False
    lines = rest.split("\n")
    return all(
        line[:2] in ("  ", "\t", "> ") or _GLUE.fullmatch(line) or _HEADING.match(line) for line in lines[:-1]
    ) and (after.first_of_line or _GLUE.fullmatch(lines[-1]) is not None)


def _with_junk(
    text: str, begin: int, end: int, items: list[str], last: _Mention | None, limit: int
) -> Sequence:
    """The sequence with the items behind it, up to ``limit``, that look like its own but are no actions."""
    junk: list[str] = []
    at = end
    while (found := _NEXT_ITEM.match(text, at, limit)) is not None:
        junk.append(found[1])
        at = found.end()
    if not junk and last is not None and last.first_of_line:
        at = text.find("\n", end, limit)
        while at >= 0:
            stop = text.find("\n", at + 1, limit)
            found = _ITEM_LINE.match(text, at + 1, limit if stop < 0 else stop)
            if found is None or as_item(found[1]) is not None:
                break
            junk.append(found[1])
            at = stop
    end = max(end, at)
    if last is not None and last.first_of_line:
        # what a line and the indented ones below it say of an action is part of the plan
        end = min(_line_end(text, end), limit)
        while end < limit and text[end + 1 : end + 3] in ("  ", "\t-", "\t*"):
            end = min(_line_end(text, end + 1), limit)
    return Sequence(begin, end, (*items, *junk))


def _line_end(text: str, at: int) -> int:
    stop = text.find("\n", at)
    return len(text) if stop < 0 else stop
