"""The ``strict`` reading of a response to REL-B1: the verdict it ends with, and the taxa listed with it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from relfast.records import Extracted
from relfast.tasks.reasoning import lower, read_strictly
from relfast.tasks.rel_b.claim import NOTHING, Homoplasy
from relfast.tasks.rel_b.taxa import listed_taxa
from relfast.tasks.verdict import MAX_TEXT, obvious, read_verdict
from relfast.tasks.yes_no import ANSWERED, STATED, Verdict


def extract_strict(response: object, reasoning: tuple[tuple[str, str], ...] = ()) -> Extracted[Homoplasy]:
    """A `Homoplasy`; ``reason`` is ``no_answer``, ``several_answers`` or one of
    `relfast.tasks.reasoning.read_strictly`."""
    text, reason = read_strictly(response, reasoning)
    if reason is not None:
        return Extracted(NOTHING, found=False, reason=reason)
    if obvious(text) == "no":
        return Extracted(Homoplasy("no", []))
    text = lower(text[-MAX_TEXT:])
    reading = read_verdict(text, _truths(text), _phrases)
    if reading.verdict is None:
        return Extracted(NOTHING, found=False, reason=reading.reason)
    label = "yes" if reading.verdict.yes else "no"
    taxa = listed_taxa(text, reading.verdict.start, reading.verdict.end, yes=reading.verdict.yes)
    for other in reading.others if reading.verdict.yes else ():
        # "Answer: Yes: 15\nAnswer: Yes: 49" claims both
        line_end = text.find("\n", other.end)
        taxa += listed_taxa(text[:line_end], other.start, other.end, yes=True)
    return Extracted(Homoplasy(label, list(dict.fromkeys(taxa))))


_TRUE_FALSE: Final = re.compile(
    r"[\"'`]?\b(?:answer|label|verdict|result|(?:has_|is_|structured_?|is_structured_)?(?:homoplasy|convergence|homoplasious)"
    r"(?:_?(?:present|detected|found|likely))?|present|detected|convergent)[\"'`]?\s*[:=]\s*[\"'`]?(true|false|present|absent|detected|none)\b"
)


def _truths(text: str) -> Sequence[Verdict]:
    """``"homoplasy": true`` and the like."""
    if "true" not in text and "false" not in text and "present" not in text and "absent" not in text:
        return ()
    return [
        Verdict(found.start(1), found.end(1), found[1] in ("true", "present", "detected"), ANSWERED)
        for found in _TRUE_FALSE.finditer(text)
    ]


_SUBJECT: Final = (
    r"(?:(?:structured|such|the|any|of|for|a|an|clear|strong|real|true|significant|convincing|sufficient|compelling|"
    r"consistent|statistically|obvious|evidence|sign|signs|signal|indication|indications|support|pattern|patterns|case|"
    r"instance|instances|form|nucleotide|sequence|convincing|credible|good|definite|detectable|apparent|genuine|"
    r"unambiguous|reliable|[-,])\s+){0,8}(?:homoplasy|homoplasies|(?:structured )?convergence|"
    r"convergent (?:evolution|taxa|motifs))"
)
_PHRASE: Final = re.compile(
    r"\b(?:there\s+(?P<verb>is|was|seems to be|appears to be|are)|(?P<see>i|"
    r"we)\s+(?:can\s+)?(?:see|find|found|detect|detected|observe|observed|identify|identified|"
    r"conclude that there is)|"
    r"(?P<shows>alignment|data|tree|sequences|analysis|it)\s+(?:shows?|provides?|reveals?|contains?|has|supports?|suggests?|indicates?|exhibits?))\s+"
    rf"(?P<no>no\s+)?{_SUBJECT}"
    rf"|\b(?P<none>no\s+{_SUBJECT})"
    rf"|(?P<not>(?:\bnot|n['’]?t|\bcannot)\s+(?:any\s+|to\s+|be\s+|able\s+)*(?:see|find|detect|"
    rf"observe|show|provide|reveal|contain|support|suggest|indicate|exhibit|identify|have|a case of|"
    rf"an instance of)\s+{_SUBJECT})"
    r"|\b(?:homoplasy|convergence)[\s*_]+(?:is|seems|appears|was|(?P<isnt>is\s?n['’]?t|was\s?n['’]?t|does\s?n['’]?t\s+(?:appear|seem)|does\s+not\s+(?:appear|seem)))\s+[*_]*(?:(?:most|very|highly|quite)\s+)?(?P<nots>not\s+|unlikely|absent|lacking)?(?:to\s+be\s+)?(?:likely\s+)?(?:to\s+be\s+)?"
    r"(?P<adjective>present|detected|evident|likely|supported|found|observed|indicated|apparent)?"
)
_ASKS: Final = re.compile(
    r"\b(?:if|whether|unless|suppose|assum\w+|would|could|were|is|in case)\s+(?:\w+\s+){0,3}$"
)


def _phrases(text: str) -> Sequence[Verdict]:
    """Statements without yes and no: "There is no clear evidence of structured homoplasy."."""
    found = []
    for match in _PHRASE.finditer(text):
        if (
            match["nots"] is None
            and match["adjective"] is None
            and match[0].startswith(("homoplasy", "convergence"))
        ):
            continue
        line_end = text.find("\n", match.end())
        rest = text[match.end() : line_end if 0 <= line_end < match.end() + 100 else match.end() + 100]
        if _ASKS.search(text, max(0, match.start() - 40), match.start()) or rest.partition(".")[0].endswith(
            "?"
        ):
            continue
        no = any(match[group] is not None for group in ("no", "none", "not", "nots", "isnt"))
        found.append(Verdict(match.start(), match.end(), not no, STATED))
    return found
