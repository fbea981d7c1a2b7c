"""Which plan a response ends with under ``strict``.

The kernel's reading stands where a response holds one list, all of whose items the maze knows, and nothing
that could be another plan. Every other response is read here: in all forms, then one plan is chosen.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from typing import Final, NamedTuple

from relfast_kernels.maze.phrases import CLOSING, DENIALS, NEAR

from relfast.tasks.final import concludes, offers_alternatives, on_one_line
from relfast.tasks.reasoning import lower
from relfast.tasks.seqbench.actions import find_plans
from relfast.tasks.seqbench.forms import find_sequences, is_frame
from relfast.tasks.seqbench.mentions import as_item
from relfast.tasks.seqbench.tidy import tidy

NO_ANSWER: Final = "no_answer"
SEVERAL: Final = "several_answers"

_DENIED_BEFORE: Final = re.compile(
    r"(?:\b(?:not|never|wrong|incorrect|invalid|illegal|avoid|bad|impossible|reject(?:ed)?"
    r"|discard(?:ed)?|ignore|unlike|except|anything but|(?:rather|other) than|instead of|cannot)|n['’]t)\b"
    r"[^.!?;\n\w]*(?:(?:plan|list|answer|sequence|one|path|is|this|be|the|would|do|use|even)\b[^.!?;\n\w]*){0,6}"
    r"\n?[\s`*\"'(>•-]*(?:\d[.)]\s*)?(?:python|json|text)?\s*$"
    # "the following plan is invalid.", "if all doors were open:"
    r"|\b(?:following|below|next)\b[^.!?\n]{0,40}\b(?:not|wrong|incorrect|invalid|illegal|impossible)\b[^.!?\n]{0,20}[.:!]?\s*$"
    r"|\bif\b[^.!?\n]{0,50}\b(?:were|was|had been) (?:\w+ )?(?:open|unlocked|no|not|allowed|possible)\b[^.!?\n]{0,40}$",
    re.IGNORECASE,
)
_ASKED_BEFORE: Final = re.compile(r"\bwhether\b[^.!?\n]{0,40}$", re.IGNORECASE)
_DENIED_BEHIND: Final = re.compile(
    r"[\s`*(\])\"'.,;:–—-]*+"
    r"(?:(?:no|wait|hmm|oh|however|unfortunately|but|actually|oops|sorry|i think|on second thoughts?)\b[\s,.!:…–—-]*+)*+"
    r"(?:scratch that|(?:which )?i (?:do not|don['’]t) (?:believe|trust)|i (?:give up|was (?:wrong|mistaken))"
    r"|would (?:not|break|violate|fail)\b"
    r"|(?:was|is) (?:my|the|a|an) (?:first|initial|earlier|previous|failed) (?:try|attempt|idea|draft|guess)\b"
    r"|i (?:do not|don['’]t) think (?:this|that|it)|(?:(?:this|that|it)['’]s not\b)"
    r"|(?:(?:this|that|it)['’]s\s+)?(?:(?:this|that|it|the|above|plan|list|answer|sequence|which|but|one)\b\s*)*+"
    r"(?:(?:(?:is|was|are|would be|looks|seems|must|should|can|could|may|will)\s+"
    r"(?:(?:clearly|definitely|obviously|simply|just)\s+)?not\b"
    r"|(?:isn|wasn|aren|can|won|doesn|shouldn|mustn|couldn)['’]t\b|cannot\b|does not work)"
    r"(?!\s+(?:only|just|possible to|necessary|needed))"
    r"|(?:(?:is|was|are|would be|looks|seems|must be|should be)\s+)?"
    r"(?:(?:clearly|definitely|obviously|simply|just|all|a)\s+)?"
    r"(?:wrong|incorrect|invalid|illegal|impossible|false|mistake|avoided|rejected|discarded)\b"
    r"|fails?\b|❌|✗))"
    # what goes on with a colon speaks of what follows
    r"(?![^.\n]{0,30}:)"
    r"|[ \t`*)\"']*+(?:\w{1,12} ){0,3}\w{0,12}\?",
    re.IGNORECASE,
)
_REPLACES: Final = re.compile(
    r"\b(?:wait|wrong|mistake|incorrect|invalid|illegal|instead|actually|correct(?:ed|ion)|oops|sorry"
    r"|scratch that|does(?:n['’]t| not)|fails?|impossible|cannot|can['’]t)\b",
    re.IGNORECASE,
)
_FINAL: Final = re.compile(
    r"\b(?:final|finally|so|therefore|thus|hence|conclusion|overall|improved|revised)\b", re.I
)
_OFFERS: Final = re.compile(
    r"\b(?:or|either|alternatives?|alternatively|another|other|also|else|both|equally|backup|fallback|maybe|perhaps"
    r"|possibly|vs|versus|guess|(?:less|un)?likely)\b"
    r"|\bsecond (?:option|plan|solution|answer|route|path|candidate|variant|choice)"
    r"|\b(?:option|plan|solution|answer|route|path|candidate|variant|choice|possibility)"
    r"[ \t]*(?:#|no\.?|number)?[ \t]*(?:[a-z]|\d+|i{1,3}|two|three)\b",
    re.IGNORECASE,
)
_EITHER: Final = re.compile(
    r"\b(?:either|whichever|both|any|one|pick|choose|several|multiple|two|three|four|\d)"
    r" (?:of|one|(?:different |possible |candidate |alternative |valid )*(?:plans|answers|solutions|options"
    r"|routes|paths|candidates|possibilities|alternatives|lists))\b|\beither (?:works|plan|is)\b",
    re.IGNORECASE,
)
# of texts in lower case
_COULD_START: Final = re.compile(r"start(?![a-z])")
_COULD_START_BEFORE: Final = re.compile(r"start(?:[ _]at)?[\"'`*]*\s*[:=(,|>→]")

_FRAMES: Final = ("|", "<", "\\begin", "\\end", '{"', '"', "'", "{'")
_NO_WORDS: Final = ("", "json", "python", "text", "plaintext", "yaml")

_STRIKES: Final = re.compile(r"(?<!~)~~\s*$|<(?:del|strike)>\s*$|<!--\s*$")
_CONDITION: Final = re.compile(
    r"\b(?:if|in case|otherwise|unless|should (?:this|that|it))\b|(?<!\d)\d\d? ?%", re.IGNORECASE
)
_LABEL: Final = re.compile(r"\W*(?:[a-z]|\d+|i{1,3})\W*", re.IGNORECASE)

_PLACEHOLDER: Final = re.compile(
    r"start: (?:[<\[{].*|(?:the_)?(?:start(?:ing)?_?)?(?:room|location|position)"
    r"(?:_?(?:name|id|number|[a-z]|\d+))?|x|…|\.{2,})",
    re.IGNORECASE,
)
"""The start of a list that only shows the form of one."""

_ROOM: Final = re.compile(r"[a-z]{1,2}\d+")


class _Plan(NamedTuple):
    start: int
    end: int
    items: tuple[str, ...]

    @property
    def starts(self) -> bool:
        return self.items[0].startswith("start: ")

    @property
    def complete(self) -> bool:
        return self.items[-1].startswith("rescue: ") or any(
            item.startswith("rescue: ") for item in self.items
        )


def may_hold_one(text: str) -> bool:
    """Whether a text in which the kernel finds no list could hold a plan in another form."""
    return "start" in lower(text)


def may_differ(before: str, behind: str) -> bool:
    """Whether the text around a response's only list could hold another plan, or deny this one."""
    if behind.strip(CLOSING):
        behind = lower(behind)
        if _COULD_START.search(behind) or _DENIED_BEHIND.match(behind, 0, NEAR):
            return True
    before = lower(before)
    if "start" in before and (_COULD_START_BEFORE.search(before) or before.count("move") > 1):
        return True
    near = before[-NEAR:]
    if ("~~" in near or "<" in near) and _STRIKES.search(near):
        return True
    return any(map(near.__contains__, DENIALS)) and (
        _DENIED_BEFORE.search(near) is not None or _ASKED_BEFORE.search(near) is not None
    )


def final_plan(text: str, target: str, rooms: Container[str]) -> tuple[str, ...] | str:
    """The items of the plan that a text ends with: ``"action: param"``, and others that are no action.

    Returns
    -------
    The items, or `NO_ANSWER` or `SEVERAL`.
    """
    text = tidy(text)
    plans = [
        plan._replace(items=tuple(_known(item, rooms) for item in plan.items))
        for plan in _all_plans(text, target)
    ]
    if any(plan.starts for plan in plans):
        plans = [plan for plan in plans if plan.starts or plan.complete]
    plans = [plan for plan in plans if not _PLACEHOLDER.fullmatch(plan.items[0])]
    asserted = [plan for plan in _without_parts(plans) if not _denied(text, plan)]
    if not asserted:
        return NO_ANSWER
    begin = asserted[-1].start
    if _ASKED_BEFORE.search(text, max(0, begin - NEAR), begin):
        return NO_ANSWER
    return _last(text, asserted)


def _all_plans(text: str, target: str) -> list[_Plan]:
    """Lists of actions, and actions in sequence outside of them, in the order of the text."""
    plans = []
    blank = []
    at = 0
    for begin, end, items in find_plans(text):
        fixed = tuple(as_item(item, target) or item for item in items)
        plans.append(_Plan(begin, end, fixed))
        blank += [text[at:begin], "█" * (end - begin)]
        at = end
    outside = "".join((*blank, text[at:])) if plans else text
    plans += [_Plan(*found) for found in find_sequences(outside, target)]
    plans.sort()
    return plans


def _known(item: str, rooms: Container[str]) -> str:
    """An item with a room's name in the case that the maze has it in."""
    name, colon, parameter = item.partition(": ")
    if colon and parameter not in rooms and _ROOM.fullmatch(parameter) and parameter.upper() in rooms:
        return f"{name}: {parameter.upper()}"
    return item


def _without_parts(plans: Sequence[_Plan]) -> list[_Plan]:
    """The plans without those that rescue nobody and only repeat some steps of one that does."""
    whole = [plan for plan in plans if plan.complete]
    if not whole or len(whole) == len(plans):
        return list(plans)
    holders = {plan.items for plan in (whole[0], whole[-1])}
    return [
        plan for plan in plans if plan.complete or not any(_is_part(plan.items, holder) for holder in holders)
    ]


def _is_part(items: Sequence[str], whole: Sequence[str]) -> bool:
    steps = iter(whole)
    return all(item in steps for item in items)


def _denied(text: str, plan: _Plan) -> bool:
    if _DENIED_BEHIND.match(text, plan.end, plan.end + NEAR):
        return True
    found = _DENIED_BEFORE.search(text, max(0, plan.start - NEAR), plan.start)
    if found is None:
        return False
    if found[0][:2].lower() == "if":
        return True  # "if all doors were open:"
    # "if this is wrong:" denies another one
    return (
        _CONDITION.search(text, max(text.rfind("\n", 0, found.start()), found.start() - NEAR), plan.start)
        is None
    )


def _last(text: str, plans: Sequence[_Plan]) -> tuple[str, ...] | str:
    """The last plan, unless an earlier one that differs stands beside it."""
    final = plans[-1]
    begin = final.start
    for plan in reversed(plans[:-1]):
        if plan.items != final.items and not _replaced(text[plan.end : begin]):
            return SEVERAL
        if plan.items != final.items:
            break
        begin = plan.start
    if len({plan.items for plan in plans}) > 1:
        around = text[: plans[0].start] + "\n" + text[final.end :]
        if _EITHER.search(around):
            return SEVERAL
    return final.items


def _replaced(between: str) -> bool:
    """Whether what stands between two plans sets the second in place of the first."""
    lines = [line for line in between.split("\n") if _says(line)]
    lead = lines[-1] if lines else ""
    if _CONDITION.search(lead) or _LABEL.fullmatch(lead):
        return False
    if _REPLACES.search(between):
        return True
    if _OFFERS.search(lead):
        return False
    if _FINAL.search(between):
        return True
    return (
        bool(lines) and not offers_alternatives(between) and (not on_one_line(between) or concludes(between))
    )


def _says(line: str) -> bool:
    """Whether a line says something: no fence, no head of a table, no tag, no key of an object."""
    line = line.strip()
    if line.startswith(_FRAMES) or is_frame(line):
        return False
    return line.strip(CLOSING + "[({").lower() not in _NO_WORDS
