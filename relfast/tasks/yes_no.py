"""Every yes and no of a text, and how much of an answer each is."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final, NamedTuple

from relfast.tasks import yes_no_patterns as patterns
from relfast.tasks.yes_no_patterns import plain

ANSWERED: Final = 4
"""Named as the answer: after "answer is", in a tag or a box, or as a correction."""

STATED: Final = 3
"""Stands where a statement begins."""

ADDED: Final = 2
"""Answers a question of the text's own ("Is this expected? No."), or is a phrase without yes or no."""

MENTIONED: Final = 1

WEAK: Final = 0
"""Says nothing by itself ("with no signal")."""

_MOST: Final = 500
"""Words looked at, from the end; more are no answer but a flood."""

BACK: Final = 120

_AHEAD: Final = 60
"""Characters around a word that decide what it is."""


REACH: Final = 2_000
"""Characters within which two verdicts can be one statement."""

_FORM_CHARS: Final = 40
"""Most characters between the words of a "yes or no"."""

Word = tuple[int, int, bool]
"""Span of a yes (true) or no."""


class Verdict(NamedTuple):
    """A yes or no: its span in the text, and how much it is one."""

    start: int
    end: int
    yes: bool
    rank: int
    corrects: bool = False
    """Takes back what was said before it ("Wait, no")."""
    marked: bool = False
    """Stands in a tag (``<yes>``)."""


def words(text: str) -> Iterator[Word]:
    """Spans of yes and no as words, in order."""
    found = []
    for word, yes in (("yes", True), ("no", False)):
        size = len(word)
        at = text.find(word)
        while at >= 0:
            end = at + size
            before, after = text[at - 1 : at], text[end : end + 1]
            if (
                after == "-"
                and text[end + 1 : end + 2].isalpha()
                and text[end + 1 : end + 3] not in ("no", "ye")
            ):
                pass  # "yes-man"
            elif not (after.isalnum() or (after == "_" and text[end + 1 : end + 2].isalnum())) and not (
                before.isalnum() or (before == "_" and text[at - 2 : at - 1].isalnum())
            ):
                found.append((at, end, yes))
            at = text.find(word, end)
    found.sort()
    return iter(found[-_MOST:])


def verdicts(text: str) -> tuple[list[Verdict], int]:
    """All verdicts of a lower-cased text in order, and where its last "yes or no" ends (-1: none)."""
    kept, form_end = _without_forms(
        text, [word for word in words(text) if word[2] or not is_of_a_noun(text, word[0], word[1])]
    )
    found: list[Verdict] = []
    answered = -1
    for start, end, yes in reversed(kept):
        if answered >= 0 and (answered - end > REACH or "\n\n" in text[end : max(end, answered - BACK)]):
            break  # too far from an answer to speak against it
        verdict = _verdict(text, start, end, yes)
        if verdict is not None:
            found.append(verdict)
            if answered < 0 and verdict.rank == ANSWERED:
                answered = start
    return found[::-1], form_end


def _without_forms(text: str, found: list[Word]) -> tuple[list[Word], int]:
    """The words that are in no "yes or no", and where the last of those ends that asks nothing."""
    in_form = [False] * len(found)
    for at, (first, second) in enumerate(pairwise(found)):
        if second[0] - first[1] > _FORM_CHARS or not (first[2] != second[2] or in_form[at]):
            continue
        between = plain(text[first[1] : second[0]])
        listed = not between.strip(" <>/,") and patterns.LISTED.search(
            text, max(0, first[0] - BACK), first[0]
        )
        if listed or patterns.FORM.fullmatch(between):
            in_form[at] = in_form[at + 1] = True
    form_end = -1
    for (start, end, _), formal in zip(found, in_form, strict=True):
        if formal:
            line = plain(text[max(0, start - BACK) : start]).rpartition("\n")[2]
            ahead = plain(text[end : end + 3]).lstrip(" )>]")
            if not patterns.FORMAT.search(line) and ahead[:1] not in ("?", ":"):
                form_end = end
    return [word for word, formal in zip(found, in_form, strict=True) if not formal], form_end


def _verdict(text: str, start: int, end: int, yes: bool) -> Verdict | None:
    low = max(0, start - BACK)
    before, after = plain(text[low:start]), plain(text[end : end + _AHEAD])
    if low:
        before = "…" + before
    tagged = before.rstrip(" ").endswith("<")
    closed = after.lstrip()[:1] == ">" or after.lstrip().startswith("/>")
    marked = tagged and closed
    if marked:
        before = before.rstrip()[:-1] if before.rstrip().endswith("<") else before
        after = after.lstrip(" /")[1:]
    elif patterns.TAGGED.search(before) and after.lstrip()[:1].isalnum():
        return None  # <Yes No>
    sentence = patterns.SENTENCE_END.split(before)[-1]
    if patterns.GUESSED.search(sentence):
        return Verdict(start, end, yes, WEAK)
    if not yes and patterns.NUMBER_AFTER.match(after) and patterns.NUMBERED.search(sentence):
        return None  # "taxa no. 15 and no. 49"
    if patterns.ASKS.match(sentence) or patterns.KEY.match(after):
        return None
    if (
        patterns.DENIED.search(sentence)
        or patterns.DENIED_AFTER.match(after)
        or patterns.CONDITION_AFTER.match(after)
    ):
        return None
    if after.lstrip(" ").startswith("?") and not patterns.NAMED.search(before):
        return None  # "Yes?" asks
    condition = patterns.CONDITION.search(sentence)
    if condition is not None and not (
        patterns.SETTLED.search(condition["clause"]) or patterns.EVEN.search(sentence[: condition.start()])
    ):
        return None
    corrects = patterns.CORRECTS.search(before) is not None
    if not marked and not yes and patterns.NOT_ANY.match(after) and not patterns.NAMED.search(before):
        return None
    if closed and not marked and patterns.IN_TAG.search(before):
        return None
    if patterns.DRAFT.search(sentence):
        return None
    if marked or patterns.NAMED.search(before) is not None or patterns.PICKED.search(before) is not None:
        return Verdict(start, end, yes, ANSWERED, corrects, marked)
    ends = patterns.ENDS.match(after) is not None
    if corrects and ends:
        return Verdict(start, end, yes, ANSWERED, True)
    if patterns.ASKED.search(before):
        return Verdict(start, end, yes, ADDED)
    if patterns.BEGINS.search(before) or (ends and patterns.CONCLUDES.search(before)):
        return Verdict(start, end, yes, STATED if ends or yes or not _runs_on(after) else ADDED)
    return Verdict(start, end, yes, MENTIONED if ends else WEAK)


def is_of_a_noun(text: str, start: int, end: int) -> bool:
    """Whether a "no" goes on within a sentence ("with no close relation"): most of those in prose."""
    if text[start - 1 : start] != " " or text[end : end + 1] != " " or not text[end + 1 : end + 2].isalpha():
        return False
    before = text[max(0, start - 24) : start - 1]
    if not before[-1:].isalpha():
        return False
    words = before.split()
    return words[-1] not in patterns.LEADS or (len(words) > 1 and words[-2] == "there")


def _runs_on(after: str) -> bool:
    """Whether a "no" goes on as "no <noun>", which may be anything."""
    return patterns.RUNS_ON.match(after) is not None
