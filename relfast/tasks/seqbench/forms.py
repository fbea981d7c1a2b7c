"""Plans in other forms than the published ones: actions that follow each other in a text.

`find_sequences` reads actions with nothing but list marks, punctuation and remarks between them. The other
way to a plan is `tidy.tidy`, which brings what is nearly a list of actions into that form, so that the kernel
reads it, with everything in it that is no action. Both are for ``strict``; linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from relfast.tasks.seqbench.mentions import GLUE, Mention, as_item, find_mentions

_HEADING: Final = re.compile(r"[#*\s]*(?:phase|part|stage|section|leg|segment)\b", re.IGNORECASE)
_REMARK_IN_LINE: Final = re.compile(r"\([^()\n]{0,120}\)")
_ITEM_LINE: Final = re.compile(
    r"[ \t]*(?:(?:\d+|[a-z])[.)]|[-*•+–])[ \t]{1,8}\W{0,8}(\w++(?:[ \t]{0,3}[:(][ \t]{0,3}\S+)?)\W{0,8}$"
)
_NEXT_ITEM: Final = re.compile(
    r"[ \t\"'`)}]*,[ \t]*(\n?[ \t]*[\"'][^\"'\n]{1,80}[\"']|[\w.-]+(?:\([^()\n]{0,40}\))?)"
    r"(?=[ \t]*\n?[ \t]*[,\])}])"
)


class Sequence(NamedTuple):
    """Actions that follow each other: where they stand, ``"action: param"`` each, and other items."""

    start: int
    end: int
    items: tuple[str, ...]


def is_frame(line: str) -> bool:
    """Whether a line only leads up to actions: marks, words of objects, a part's heading, an empty list."""
    return GLUE.fullmatch(line) is not None or _HEADING.match(line) is not None or line.endswith("= []")


def find_sequences(text: str, target: str) -> Iterator[Sequence]:
    """Actions in a text that follow each other, from a start on.

    Between two of them stand list marks, punctuation and the words of objects; a line that begins with an
    action may end with a remark, and indented lines below it are remarks too.
    """
    begin = end = 0
    items: list[str] = []
    last: Mention | None = None
    for mention in find_mentions(text, target):
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


def _follows(text: str, before: Mention, after: Mention) -> bool:
    """Whether nothing of weight stands between two actions."""
    between = text[before.end : after.start]
    if GLUE.fullmatch(between):
        return True
    first, newline, rest = between.partition("\n")
    if not newline:
        return GLUE.fullmatch(_REMARK_IN_LINE.sub("", between)) is not None
    if not (before.first_of_line and after.first_of_line) and not GLUE.fullmatch(
        _REMARK_IN_LINE.sub("", first)
    ):
        return False
    lines = rest.split("\n")
    return all(
        line[:2] in ("  ", "\t", "> ") or GLUE.fullmatch(line) or _HEADING.match(line) for line in lines[:-1]
    ) and (after.first_of_line or GLUE.fullmatch(lines[-1]) is not None)


def _with_junk(
    text: str, begin: int, end: int, items: list[str], last: Mention | None, limit: int
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
