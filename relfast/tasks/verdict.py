"""The yes or no that a text ends with. Shared by the ``strict`` extractors of REL-B1 and REL-C1.

Every ``yes`` and ``no`` that stands as a word is looked at in its surroundings: stated as the answer
("Final answer: Yes", a tag, a box), standing where a statement begins, only mentioned, or no answer at all
(denied, a condition, the question's "Yes or No"). The last one of the highest rank is the verdict, unless
the opposite stands beside it with nothing that sets one above the other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from relfast.tasks import yes_no_patterns as patterns
from relfast.tasks.final import concludes, offers_alternatives, on_one_line
from relfast.tasks.reasoning import lower
from relfast.tasks.yes_no import (
    ADDED,
    ANSWERED,
    BACK,
    MENTIONED,
    REACH,
    STATED,
    WEAK,
    Verdict,
    is_of_a_noun,
    verdicts,
    words,
)
from relfast.tasks.yes_no_patterns import plain

MAX_TEXT: Final = 200_000
"""Characters at the end of a response within which its answer is looked for."""


MAX_OTHERS: Final = 20
"""Repetitions of a verdict that are looked at."""


class Reading(NamedTuple):
    """The verdict of a text, or the reason why there is none."""

    verdict: Verdict | None
    reason: str | None
    others: tuple[Verdict, ...] = ()
    """The same said again right beside it: what goes with them is said too."""


Phrases = Callable[[str], Sequence[Verdict]]


def read_verdict(text: str, more: Sequence[Verdict] = (), phrases: Phrases | None = None) -> Reading:
    """The verdict of a lower-cased text; reasons are ``no_answer`` and ``several_answers``.

    Parameters
    ----------
    more
        What the task itself found to be verdicts ("true" of a JSON object), in order.
    phrases
        Finds statements without yes and no ("there is no homoplasy"); asked only where nothing is stated.
    """
    if "~~" in text or "<del>" in text or "<s" in text or "<!--" in text:
        text = patterns.STRUCK.sub(lambda found: " " * len(found[0]), text)
    found, form_end = verdicts(text)
    if more:
        found = sorted([*found, *more])
    best = max((verdict.rank for verdict in found), default=WEAK)
    if best <= ADDED and phrases is not None and (said := phrases(text)):
        found, best = list(said), STATED
    if best == WEAK:
        return Reading(None, "several_answers" if form_end >= 0 else "no_answer")
    pool = [verdict for verdict in found if verdict.rank == best]
    final = pool[-1]
    if pool[0].yes != final.yes or len({verdict.yes for verdict in pool}) > 1:
        chosen = _of_several(text, pool)
        if chosen is None:
            return Reading(None, "several_answers")
        final = chosen
    if final.rank == ANSWERED:
        final = _taken_back(text, found, final)
    if _contradicted(text, found, final) or form_end > final.end:
        return Reading(None, "several_answers")
    others = tuple(
        other
        for other in found[-MAX_OTHERS:]
        if other.yes == final.yes
        and other.rank >= STATED
        and other.start < final.start
        and final.start - other.end <= REACH
        and not on_one_line(text[other.end : final.start])
        and _beside(text, other, final, final)
    )
    return Reading(final, None, others)


_BARE_LINE: Final = re.compile(
    r"(?:^|\n)[ \t>#*`_]*(?:(?:the |my )?(?:final |correct )?(?:answer|"
    r"verdict)(?: is)?[*:]*[ \t]+)?[*`_]*<?(yes|no)>?$"
)

_NEAR: Final = 240


def obvious(text: str) -> str | None:
    """The ``yes`` or ``no`` that is a text's last line, with no other one near it: what most responses are.

    It reads the end of the text only, in any case of letters, and gives what `read_verdict` would; None says
    nothing.
    """
    tail = lower(text[-_NEAR:]).rstrip(" \n\t.*`_")
    if not tail.endswith(_LAST):
        return None
    found = _BARE_LINE.search(tail, max(0, len(tail) - 40))
    if found is None:
        return None
    before = tail[: found.start()].rstrip()
    if not before:
        return found[1] if len(text) < _NEAR else None
    if (
        before[-1] in "~,;"
        or "yes" in before
        or "true" in before
        or "false" in before
        or ("no" in before and not all(is_of_a_noun(before, start, end) for start, end, _ in words(before)))
    ):
        return None
    return found[1]


_LAST: Final = ("yes", "no", "yes>", "no>")


def _of_several(text: str, pool: Sequence[Verdict]) -> Verdict | None:
    """Which of differing verdicts of one rank counts; None: no reader could tell."""
    first, final = pool[0], pool[-1]
    if final.rank == MENTIONED:
        return None
    if final.rank == ANSWERED:
        return final
    opening = text.rfind("\n", 0, first.start) < 0 or not text[: first.start].strip(" \n\t*#`_<>:-")
    if not opening or first.yes == final.yes:
        return final
    against = [verdict for verdict in pool if verdict.yes != first.yes]
    if patterns.REVISES.search(text, first.end, against[-1].start) or concludes(
        text[first.end : against[-1].start][-40:]
    ):
        return final
    # an answer that opens the text; what comes later explains it, unless it stands there like an answer
    return None if any(_alone(text, verdict) for verdict in against) else first


def _taken_back(text: str, found: Sequence[Verdict], final: Verdict) -> Verdict:
    """The statement that follows "Wait, I miscounted.", though it is of a lower rank."""
    for verdict in reversed(found):
        if verdict.start <= final.start:
            break
        if verdict.rank == STATED and verdict.yes != final.yes:
            return verdict if patterns.TAKEN_BACK.search(text, final.end, verdict.start) else final
    return final


def _alone(text: str, verdict: Verdict) -> bool:
    """Whether a verdict is all that stands on its line."""
    start = text.rfind("\n", 0, verdict.start) + 1
    end = text.find("\n", verdict.end)
    line = text[start : verdict.start] + text[verdict.end : end if end >= 0 else len(text)]
    return len(line) < BACK and not any(map(str.isalnum, line))


def _contradicted(text: str, found: Sequence[Verdict], final: Verdict) -> bool:
    """Whether the opposite is said beside the final verdict with nothing that sets one above the other."""
    for other in found:
        if other.yes == final.yes or other is final:
            continue
        first, second = (other, final) if other.start < final.start else (final, other)
        if second.start - first.end <= REACH and _beside(text, first, second, final):
            return True
    return False


def _beside(text: str, first: Verdict, second: Verdict, final: Verdict) -> bool:
    between = plain(text[first.end : second.start])
    other = first if second is final else second
    if second is final and (
        final.corrects
        or patterns.REVISES.search(between)
        or (concludes(between) and not _led_to(text, first))
    ):
        return False
    said = _SAID.sub(" ", between)
    if on_one_line(between):
        if second is final and other.rank < final.rank:
            # "No, the answer is yes": an interjection; "Yes. No." says both
            return not patterns.NAMED.search(between) and (other.rank >= STATED or offers_alternatives(said))
        if other is second and other.rank == ADDED:
            return False
        if other is second and other.rank and len(between) <= 8:
            return True  # "Yes, er, no"
        return other.rank >= STATED or offers_alternatives(_LEAD_IN.sub(" ", said))
    if second is final and other.rank < STATED:
        return False
    return offers_alternatives(_LEAD_IN.sub(" ", said))


def _led_to(text: str, verdict: Verdict) -> bool:
    before = plain(text[max(0, verdict.start - 40) : verdict.start])
    return concludes(patterns.FULL_STOP.split(before)[-1])


_SAID: Final = re.compile(r"\btax(?:ons?|a)(?:[\s_]?[0-9]+)?|\b(?:yes|no|involved|f?boxed|text)\b|[0-9]+")

_LEAD_IN: Final = re.compile(
    rf"\b(?:{patterns.ANSWER}|correct|first|second|third|option|choice|candidate|possibility|one|other|"
    rf"so|therefore|thus|hence|[a-d])\b"
)
