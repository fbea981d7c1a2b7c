"""Actions mentioned in a text, however they are written: ``move_to: B1``, ``Move to room B1``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

ACTION: Final = (
    r"(?P<start>start(?:[ _-](?:at|in|from))?)"
    r"|(?P<move_to>move[ _-]?to|move from (?:room )?[\w'-]+ to)"
    r"|(?P<pick_up_key>pick[ _-]?up(?:[ _-]the)?[ _-]?key)"
    r"|(?P<use_key>use(?:[ _-]the)?[ _-]?key)"
    r"|(?P<unlock_and_open_door_to>"
    r"unlock(?:[ _-]?and[ _-]?open)?(?:[ _-]the)?(?:[ _-]locked)?[ _-]?door[ _-]?(?:to|into))"
    r"|(?P<rescue>rescue)"
)
_QUOTES: Final = "\"'`"
NAME: Final = re.compile(rf"(?<![A-Za-z0-9_/])(?:{ACTION})(?![A-Za-z0-9])", re.IGNORECASE)
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

GLUE: Final = re.compile(
    r"(?:=[\"']?\d+[\"']?|#\d+|[^\w]|_|\d+(?:\t|\s*[.):\]>|,}=–-]|[\"']\s*:|[ \t]*(?=\n))"
    r"|(?:actions?|plan|steps?|name|type|target|param(?:eter)?s?|arg(?:ument)?s?|value|then|and|next|finally|first|to"
    r"|function|tool|call|command|operation|append|id|json|python|text(?:tt|bf|it)?|mathtt|item|li|ol|ul|p|br|td|tr"
    r"|th|code|pre|strong|em|b|div|x|bob|agent|self|robot|env|player)(?![A-Za-z]))*+",
    re.IGNORECASE,
)
_MARKER: Final = re.compile(
    r"[ \t>|*_`'\"(\[]*(?:(?:\d+|[a-z]|[ivx]+)[.):\]]|[-*•+–▪◦‣✓✅→]|(?:step|action|move) ?#?\d+\W|<li>"
    r"|\d+ ?\|)?[ \t>*_|`'\"(\[{]*",
    re.IGNORECASE,
)


class Mention(NamedTuple):
    start: int
    end: int
    item: str
    first_of_line: bool
    marks: int = 0


def as_item(text: str, target: str = "") -> str | None:
    """The action that a whole text stands for, as ``"action: param"``, or None."""
    text = text.strip()
    marker = _MARKER.match(text)
    begin = marker.end() if marker else 0
    for at in {begin, 0}:
        mention = _read_mention(text, NAME.match(text, at), target)
        if mention is not None and not text[mention.end :].strip(" \t\"'`)]}.;,*!"):
            return mention.item
    return None


def find_mentions(text: str, target: str) -> Iterator[Mention]:
    at = seen = head = 0
    line = -1  # start of the line that `head`, the end of its list mark, belongs to
    while (found := NAME.search(text, at)) is not None:
        start = text.rfind("\n", seen, found.start()) + 1 or max(line, 0)
        seen = found.start()
        fresh = start != line
        if fresh:
            line = start
            marker = _MARKER.match(text, line)
            head = marker.end() if marker else line
        mention = _read_mention(text, found, target)
        at = found.end()
        if mention is not None:
            first = fresh and head >= found.start()
            marked = fresh and (first or GLUE.fullmatch(text, line, found.start()) is not None)
            yield mention._replace(first_of_line=first, marks=found.start() - line if marked else 0)
            at = mention.end


def _read_mention(text: str, name: re.Match[str] | None, target: str) -> Mention | None:
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
    return Mention(name.start(), end, f"{name.lastgroup}: {parameter}", False)
