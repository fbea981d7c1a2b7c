"""The yes or no that a text ends with. Shared by the ``strict`` extractors of REL-B1 and REL-C1.

Every ``yes`` and ``no`` that stands as a word is looked at in its surroundings: stated as the answer
("Final answer: Yes", a tag, a box), standing where a statement begins, only mentioned, or no answer at all
(denied, a condition, the question's "Yes or No"). The last one of the highest rank is the verdict, unless
the opposite stands beside it with nothing that sets one above the other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from relfast.tasks.final import concludes, offers_alternatives, on_one_line
from relfast.tasks.reasoning import lower

ANSWERED: Final = 4
"""Named as the answer: after "answer is", in a tag or a box, or as a correction."""
STATED: Final = 3
"""Stands where a statement begins."""
ADDED: Final = 2
"""Answers a question of the text's own ("Is this expected? No."), or is a phrase without yes or no."""
MENTIONED: Final = 1
WEAK: Final = 0
"""Says nothing by itself ("with no signal")."""

MAX_TEXT: Final = 200_000
"""Characters at the end of a response within which its answer is looked for."""

_MOST: Final = 500
"""Words looked at, from the end; more are no answer but a flood."""

_BACK: Final = 120
_AHEAD: Final = 60
"""Characters around a word that decide what it is."""

_REACH: Final = 2_000
"""Characters within which two verdicts can be one statement."""


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


class Reading(NamedTuple):
    """The verdict of a text, or the reason why there is none."""

    verdict: Verdict | None
    reason: str | None
    others: tuple[Verdict, ...] = ()
    """The same said again right beside it: what goes with them is said too."""


_PLAIN: Final = str.maketrans(
    {
        **dict.fromkeys("*`\"'$“”‘’«»「」『』\u200b\u200c\u200d\ufeff\u2060\u00ad", None),
        **dict(zip("：。，；（）！？【】［］＜＞｜／＝\u00a0", ":.,;()!?[][]<>|/= ", strict=True)),
        "、": ",",
        "’": "'",
    }
)
_TAG: Final = re.compile(r"</?(?:b|i|u|em|strong|span|code|pre|mark|font|div|p|center|h[1-6]|li|td|th)\b[^<>]*>")
_LATEX: Final = re.compile(r"\\(?:text|mathrm|textbf|mathbf|textit|mbox|textsc|texttt|bf|it|rm|large|huge|langle|rangle|lt|gt|left|right)\b")
_SPACING: Final = re.compile(r"\\[,;:!~ ]|&(?:lt|gt|nbsp|quot|#39);|(?<![a-z0-9])_|_(?![a-z0-9])")


def plain(part: str) -> str:
    """A part of a lower-cased text without quotation marks, bold, LaTeX's text commands and HTML's looks."""
    part = part.translate(_PLAIN)
    if "<" in part:
        part = _TAG.sub("", part)
    if "\\" in part or "&" in part or "_" in part:
        part = _SPACING.sub(" ", _LATEX.sub("", part))
    return part


_ANSWER: Final = (
    r"(?:answers?|verdict|label|conclusion|decision|response|result|output|prediction|determination|judge?ment|"
    r"assessment|classification|final|answered|答案|回答|结论|結論|答え|respuesta|réponse|antwort|risposta|resposta|ответ)"
)
_FILLER: Final = (
    r"(?:is|are|was|be|it|would|should|must|will|has|have|to|the|this|that|these|question|then|therefore|thus|hence|so|"
    r"clearly|definitely|indeed|a|an|my|our|your|simply|just|here|as|follows|i|we|give|return|choose|in|for|word|one|"
    r"strong|clear|definite|resounding|still|now|remains|with|high|confidence|of|problem|homoplasy|list|set|molecules|"
    r"correct|and|also|based|on|present|above|detected|part|tag|format|form|required|requested|am|going|stands|"
    r"给出|是|为|est|es|ist|é|è|lautet|final|answer|correcta|finale|convergence|structured|constitutional|isomers|"
    r"isomer|是否|conclude|summary|presence)"
)
_NAMED: Final = re.compile(
    rf"(?:(?:\b|(?<=[^\W]))(?<![a-z]){_ANSWER}(?![a-z])|\\(?:f?boxed|fbox)|<(?:final_?)?answer>)"
    rf"(?:[^\w.!?;]|\b{_FILLER}\b|\byes\s?/\s?no\b|\byes\s+or\s+no\b)*+$"
)
_PICKED: Final = re.compile(
    r"\b(?:i|we|i'?ll|i'?d|id|ill)\s+(?:would\s+|will\s+|therefore\s+|must\s+|have to\s+|can\s+|now\s+|thus\s+|hereby\s+)*"
    r"(?:say|answer|choose|pick|vote|return|respond|reply|conclude|go)\b(?:\s+(?:with|for|that|is|it|the|answer))*[^\w.!?]*$"
)
_CORRECTS: Final = re.compile(
    r"(?:\b(?:wait|actually|correction|corrected|scratch that|on (?:second thoughts?|reflection)|my mistake|sorry|"
    r"i was wrong|reconsidering|revised|instead|rather|hmm|let me correct (?:that|this|myself)|apologies|oops|but)\b)"
    r"(?:[^\w.?!\n]|\b(?:it|is|its|this|that|the|should|be|must|so|i|no|yes|say|answer|a)\b|[.!]\s)*+$"
)
_CONCLUDES: Final = re.compile(
    r"\b(?:so|therefore|thus|hence|finally|overall|ultimately|in (?:conclusion|summary|short|brief)|to (?:conclude|sum up)|"
    r"tl;?dr|consequently|accordingly|(?:it|that|this) is|its|thats|it's|is a|short)\b[\s,:—–-]*+(?:a |the |clear |clearly |"
    r"definite |definitely )*$"
)
_BEGINS: Final = re.compile(r"(?:^|[\n.!?:;>|=]|<br\s*/?>)(?:[^\w\n]|\d{1,2}[.)]\s|\([a-z0-9]\))*$")
_ASKED: Final = re.compile(r"\?[^\w\n]*$")
_DENIED: Final = re.compile(
    r"(?:\b(?:not|never|neither|nor|cannot|rather than|instead of|other than|nt|isnt|wasnt|doesnt|dont|cant|against|"
    r"reject(?:ed|s|ing)?|rules? out|ruling out|excludes?|opposite of|far from|unlike|wrong)|n't)"
    r"(?:\s+(?:a|an|the|be|simply|just|merely|necessarily|to|say|answer|return|choose|been|as|call|label|it|this|that|"
    r"really|quite|exactly|clear|clearly|correct|option|write|use|output|put|pick|select|give|respond|reply|with|go|for|claim|conclude|think|believe|that|is))*[^\w.!?;:\n]*$"
)
_DENIED_AFTER: Final = re.compile(
    r"[^\w.!?\n]*(?:is|was|would be|would have been|seems|looks|can be|cannot|can't|must be|isn't|wouldn't|could not)\s+"
    r"(?:clearly\s+|definitely\s+|therefore\s+)?(?:not|wrong|incorrect|false|excluded|ruled out|be\b|the wrong|"
    r"rejected|right\?|correct\?|the (?:right |correct )?answer\?)"
)
_CONDITION: Final = re.compile(
    r"\b(?:if|whether|when|unless|in case|assuming|suppose|supposing|provided|were|had|otherwise|else|whenever)\b"
    r"(?P<clause>[^.!?\n]*)$"
)
_SETTLED: Final = re.compile(r"\w.*\b(?:so|therefore|thus|hence|since|because|then i|indeed)\b|\blist\b[^:]*:\s*$")
_EVEN: Final = re.compile(r"\b(?:even|as to|as|see|check(?:ed)?|decide|determine)\s+$")
_CONDITION_AFTER: Final = re.compile(r"[^\w.!?\n]*(?:only\s+)?(?:if|when|unless|in case|provided|otherwise|assuming)\b")
_FORM: Final = re.compile(r"[–-]|[^\w]*(?:(?:[/|]|\b(?:or|and|vs|versus|else|otherwise|oder|ou|或)\b)(?:\s+(?:maybe|perhaps|possibly|else|just|a|the|even|rather|probably|also|both|return|answer|tag|with))*)[^\w]*")
_DRAFT: Final = re.compile(
    r"\b(?:at first|initial(?:ly)?|first (?:guess|thought|impression|glance|sight|instinct)|some (?:would|might|may|people)|"
    r"about to (?:say|answer|write)|almost (?:said|answered|wrote)|going to (?:say|answer|write)|"
    r"(?:old|former|draft|wrong|incorrect|preliminary|tentative|provisional) (?:answer|guess|verdict|label)|"
    r"(?:one|you) (?:could|might|would|may) (?:say|think|answer|argue|be)|(?:may|might) (?:seem|look|appear)|tempt\w+|naive\w*|"
    r"previous(?:ly)?|earlier)\b[^.!?\n,;]*$"
)
"""An answer that is told, not given."""
_ASKS: Final = re.compile(
    r"^[\W_]*(?:so\s+|but\s+)?(?:(?:is|was|would|could|can|should|do|does|are)\s+(?:it|the (?:answer|label|verdict)|you|we|i|that|this|they)|"
    r"(?:should|had|were) (?:the|they|all|every|these)|who)\b[^:]*$"
)
"""The beginning of a question or a condition, up to the word."""
_GUESSED: Final = re.compile(
    r"\b(?:maybe|perhaps|possibly|might be|could be|may be|could as well be|doubt\w*|unsure|undecided|unclear|not sure)\b"
    r"(?:\s+(?:a|it|its|is|be|the|that|whether|answer|if|about))*[^\w\n]*$"
)
_KEY: Final = re.compile(r"\s*:\s*(?:true|false|null|[01]?\.\d|\d+\s?%)")
_IN_TAG: Final = re.compile(r"<[^<>\n]{1,20}$")
_STRUCK: Final = re.compile(r"~~[^~\n]{0,400}~~|<(del|s|strike)>.{0,400}?</\1>|<!--(?:(?!-->)[\s\S]){0,400}-->")
_LISTED: Final = re.compile(r"\b(?:options?|one of|either|between|choices?|possible answers)\b[^.!?\n]*$")
_SENTENCE_END: Final = re.compile(r"[.!?\n]")
_TAGGED: Final = re.compile(r"<\s*$")
_FORMAT: Final = re.compile(
    r"\b(?:return|answer(?:s|ed)?|format|form|asked|respond|reply|output|choose|between|exactly|one of|only|either|"
    r"options?|requires?|required|question|decide|whether|give|say|write|tags?)\b"
)
_ENDS: Final = re.compile(r"[^\w\n]*(?:$|[\n.,;:!?<>/–—-]|[0-9(\[]|taxa?o?n?\b)")
_NOT_ANY: Final = re.compile(
    r"[ \t]+(?:doubt|others?|further|more|additional|one|longer|matter|wonder|need|explanation|exceptions?|idea|taxa|"
    r"taxon|single|particular|clear|way|reason|such|problem|change|two|known|obvious|differences?|hydrogens?|rings?|"
    r"motifs?|shared|close|relationship|relation|relatives?|part|text|extra|markdown|means|signal|evidence|sign|"
    r"duplicates?|rows?|columns?|molecules?|atoms?|species|structured|homoplasy|convergence|convergent|pairs?|"
    r"groups?|isomers?|mismatch(?:es)?|odd|different|outliers?|less|significant|strong|repeated|consistent|formula|"
    r"indication|support|pattern|statistically|real|non|false|apparent|distantly|distant|explicit|answer|comment|verdict|conclusion|decision)\b"
)


def _words(text: str) -> Iterator[tuple[int, int, bool]]:
    """Spans of yes and no as words, in order."""
    found = []
    for word, yes in (("yes", True), ("no", False)):
        size = len(word)
        at = text.find(word)
        while at >= 0:
            end = at + size
            before, after = text[at - 1 : at], text[end : end + 1]
            if after == "-" and text[end + 1 : end + 2].isalpha() and text[end + 1 : end + 3] not in ("no", "ye"):
                pass  # "yes-man"
            elif not (after.isalnum() or after == "_" and text[end + 1 : end + 2].isalnum()) and not (
                before.isalnum() or (before == "_" and text[at - 2 : at - 1].isalnum())
            ):
                found.append((at, end, yes))
            at = text.find(word, end)
    found.sort()
    return iter(found[-_MOST:])


def verdicts(text: str) -> tuple[list[Verdict], int]:
    """All verdicts of a lower-cased text in order, and where the last "yes or no" of no verdict ends (-1: none)."""
    words = [word for word in _words(text) if word[2] or not _of_a_noun(text, word[0], word[1])]
    form_end = -1
    kept: list[tuple[int, int, bool]] = []
    in_form = [False] * len(words)
    for i in range(len(words) - 1):
        first, second = words[i], words[i + 1]
        between = text[first[1] : second[0]]
        if len(between) > 40 or not (first[2] != second[2] or in_form[i]):
            continue
        between = plain(between)
        listed = between.strip(" <>/,") == "" and _LISTED.search(text, max(0, first[0] - _BACK), first[0])
        if listed or _FORM.fullmatch(between):
            in_form[i] = in_form[i + 1] = True
    for word, formal in zip(words, in_form, strict=True):
        if formal:
            line = plain(text[max(0, word[0] - _BACK) : word[0]]).rpartition("\n")[2]
            ahead = plain(text[word[1] : word[1] + 3]).lstrip(" )>]")
            if not _FORMAT.search(line) and ahead[:1] not in ("?", ":"):
                form_end = word[1]
        else:
            kept.append(word)
    found: list[Verdict] = []
    answered = -1
    for word in reversed(kept):
        if answered >= 0 and (answered - word[1] > _REACH or "\n\n" in text[word[1] : max(word[1], answered - _BACK)]):
            break  # too far from an answer to speak against it
        verdict = _verdict(text, *word)
        if verdict is not None:
            found.append(verdict)
            if answered < 0 and verdict.rank == ANSWERED:
                answered = verdict.start
    return found[::-1], form_end


def _verdict(text: str, start: int, end: int, yes: bool) -> Verdict | None:
    low = max(0, start - _BACK)
    before, after = plain(text[low:start]), plain(text[end : end + _AHEAD])
    if low:
        before = "…" + before
    tagged = before.rstrip(" ").endswith("<")
    closed = after.lstrip()[:1] == ">" or after.lstrip().startswith("/>")
    marked = tagged and closed
    if marked:
        before = before.rstrip()[:-1] if before.rstrip().endswith("<") else before
        after = after.lstrip(" /")[1:]
    elif _TAGGED.search(before) and after.lstrip()[:1].isalnum():
        return None  # <Yes No>
    sentence = _SENTENCE_END.split(before)[-1]
    if _GUESSED.search(sentence):
        return Verdict(start, end, yes, WEAK)
    if _ASKS.match(sentence) or _KEY.match(after):
        return None
    if _DENIED.search(sentence) or _DENIED_AFTER.match(after) or _CONDITION_AFTER.match(after):
        return None
    if after.lstrip(" ").startswith("?") and not _NAMED.search(before):
        return None  # "Yes?" asks
    condition = _CONDITION.search(sentence)
    if condition is not None and not (
        _SETTLED.search(condition["clause"]) or _EVEN.search(sentence[: condition.start()])
    ):
        return None
    corrects = _CORRECTS.search(before) is not None
    if not marked and not yes and _NOT_ANY.match(after) and not _NAMED.search(before):
        return None
    if closed and not marked and _IN_TAG.search(before):
        return None
    if _DRAFT.search(sentence):
        return None
    if marked or _NAMED.search(before) is not None or _PICKED.search(before) is not None:
        return Verdict(start, end, yes, ANSWERED, corrects, marked)
    ends = _ENDS.match(after) is not None
    if corrects and ends:
        return Verdict(start, end, yes, ANSWERED, True)
    if _ASKED.search(before):
        return Verdict(start, end, yes, ADDED)
    if _BEGINS.search(before) or (ends and _CONCLUDES.search(before)):
        return Verdict(start, end, yes, STATED if ends or yes or not _runs_on(after) else ADDED)
    return Verdict(start, end, yes, MENTIONED if ends else WEAK)


_LEADS: Final = frozenset(
    "is be as so say answer answered choose pick return thus therefore hence with clear clearly definite actually wait but a "
    "an instead rather hmm correction correct verdict label conclusion vote i its that and final overall still remains "
    "definitely finally ultimately indeed response result output conclude".split()
)


def _of_a_noun(text: str, start: int, end: int) -> bool:
    """Whether a "no" stands within a sentence and goes on ("with no close relation"): most of those in prose."""
    if text[start - 1 : start] != " " or text[end : end + 1] != " " or not text[end + 1 : end + 2].isalpha():
        return False
    before = text[max(0, start - 24) : start - 1]
    if not before[-1:].isalpha():
        return False
    words = before.split()
    return words[-1] not in _LEADS or (len(words) > 1 and words[-2] == "there")


_RUNS_ON: Final = re.compile(r"\s+[a-z]+")


def _runs_on(after: str) -> bool:
    """Whether a "no" goes on as "no <noun>", which may be anything."""
    return _RUNS_ON.match(after) is not None


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
        text = _STRUCK.sub(lambda found: " " * len(found[0]), text)
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
    if _contradicted(text, found, final) or form_end > final.end:
        return Reading(None, "several_answers")
    others = tuple(
        other
        for other in found
        if other.yes == final.yes
        and other.rank >= STATED
        and other.start < final.start
        and final.start - other.end <= _REACH
        and not on_one_line(text[other.end : final.start])
        and _beside(text, other, final, final)
    )
    return Reading(final, None, others)


_BARE_LINE: Final = re.compile(
    r"(?:^|\n)[ \t>#*`_]*(?:(?:the |my )?(?:final |correct )?(?:answer|verdict)(?: is)?[*:]*[ \t]+)?[*`_]*<?(yes|no)>?$"
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
        or ("no" in before and not all(_of_a_noun(before, start, end) for start, end, _ in _words(before)))
    ):
        return None
    return found[1]


_LAST: Final = ("yes", "no", "yes>", "no>")


_REVISES: Final = re.compile(
    r"\b(?:wait|actually|correct(?:ion|ed|ing)|re-?check\w*|re-?consider\w*|re-?examin\w*|second thoughts?|on reflection|"
    r"mistake\w*|let me|however|looking (?:again|closer|more)|double-?check\w*|sorry|oops|hmm|revis\w+|verif\w+|"
    r"but on|in fact|hold on|not right|wrong)\b"
)


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
    if _REVISES.search(text, first.end, against[-1].start) or concludes(text[first.end : against[-1].start][-40:]):
        return final
    # an answer that opens the text; what comes later explains it, unless it stands there like an answer
    return None if any(_alone(text, verdict) for verdict in against) else first


def _alone(text: str, verdict: Verdict) -> bool:
    """Whether a verdict is all that stands on its line."""
    start = text.rfind("\n", 0, verdict.start) + 1
    end = text.find("\n", verdict.end)
    line = text[start : verdict.start] + text[verdict.end : end if end >= 0 else len(text)]
    return len(line) < _BACK and not any(map(str.isalnum, line))


def _contradicted(text: str, found: Sequence[Verdict], final: Verdict) -> bool:
    """Whether the opposite is said beside the final verdict with nothing that sets one above the other."""
    for other in found:
        if other.yes == final.yes or other is final:
            continue
        first, second = (other, final) if other.start < final.start else (final, other)
        if second.start - first.end <= _REACH and _beside(text, first, second, final):
            return True
    return False


def _beside(text: str, first: Verdict, second: Verdict, final: Verdict) -> bool:
    between = plain(text[first.end : second.start])
    other = first if second is final else second
    if second is final and (
        final.corrects or _REVISES.search(between) or (concludes(between) and not _led_to(text, first))
    ):
        return False
    said = _SAID.sub(" ", between)
    if on_one_line(between):
        if second is final and other.rank < final.rank:
            # "No, the answer is yes": an interjection; "Yes. No." says both
            return not _NAMED.search(between) and (other.rank >= STATED or offers_alternatives(said))
        if other is second and other.rank == ADDED:
            return False
        if other is second and other.rank and len(between) <= 8:
            return True  # "Yes, er, no"
        return other.rank >= STATED or offers_alternatives(said)
    if second is final and other.rank < STATED:
        return False
    return offers_alternatives(_LEAD_IN.sub(" ", said))


def _led_to(text: str, verdict: Verdict) -> bool:
    return concludes(plain(text[max(0, verdict.start - 40) : verdict.start]))


_SAID: Final = re.compile(r"\btax(?:ons?|a)(?:[\s_]?[0-9]+)?|\b(?:yes|no|involved)\b|[0-9]+")
_LEAD_IN: Final = re.compile(rf"\b(?:{_ANSWER}|correct|first|second|third|option|choice|candidate|possibility|one|other|[a-d])\b")
