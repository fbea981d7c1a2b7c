"""Which ``<smiles>`` tags of a response are its answer: the last statement, without drafts, quotations of the
question and what is denied."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from relfast.tasks.rel_c.tags import Tag, like_smiles, plain_tail
from relfast.tasks.rel_c.tags import tags as all_tags

# nothing but marks of a list and words that set one answer beside another
_FILLER: Final = re.compile(
    r"(?:[\W\d_]++|(?:or|and|also|else|but|then|maybe|perhaps|possibly|probably|either|alternatively|it"
    r"|its|that|this"
    r"|is|are|was|could|might|may|would|be|the|a|an|i|my|if|otherwise|option|candidate|answer|motif"
    r"|smiles|possibility"
    r"|choice|alternative|another|one|first|second|third|two|three|molecule|isomer|structure|compound"
    r"|guess|tag|number"
    r"|no|part|match|result|[a-z])\b)*+",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_NOT_WORDS: Final = re.compile(r"[\W\d_]++")
_OFFERS: Final = re.compile(
    r"\b(?:or|and|also|maybe|perhaps|possibly|alternatively|alternative|another|either|else|option"
    r"|candidate|guess"
    r"|possibility|choice|second|third)\b|\bcould\b|\bmight\b",
    re.IGNORECASE,
)
_CONCLUDES: Final = re.compile(
    r"\b(?:so|therefore|thus|hence|final(?:ly)?|consequently|overall|conclu\w++|corrected|correction"
    r"|instead|revised"
    r"|wait|actually|rather|better|larger|bigger|improved|updated|oops|mistake|sorry|redo|re-?check\w*+"
    r"|re-?consider\w*+)\b"
    r"|=>|→|⇒|∴|->",
    re.IGNORECASE,
)
_CORRECTS: Final = re.compile(
    r"\b(?:wait|actually|correction|corrected|mistake|oops|sorry|redo|instead|revised|let me"
    r"|re-?check\w*+|hmm"
    r"|on reflection|scratch that|re-?consider\w*+|looking again|double.check\w*+)\b",
    re.IGNORECASE,
)
_DENIED_BEFORE: Final = re.compile(
    r"(?:(?<!\bif )\bnot|\bignore|\bdiscard|\bno(?=\s*:)|n['’]t|\bnever|\binstead\s+of"
    r"|\brather\s+than|\bunlike|\bexcept|\bwrong|\bincorrect"
    r"|\breject(?:ed)?"
    r"|\brul(?:e|ed)\s+out|\bexclud(?:e|ed|ing)|≠|!=|\binvalid|\bbad)"
    r"(?:\s+(?:be|just|simply|the|a|an|is|motif|answer|molecule|guess|as))*\s*[:`*\"'“(\[]*\s*$",
    re.IGNORECASE,
)
_DENIED_AFTER: Final = re.compile(
    r"[\s`*\"'”.)\]—–-]{0,6}(?:,\s*)?(?:which\s+|it\s+|this\s+)?(?:"
    r"(?:is|was|seems|looks|would\s+be)\s+(?:wrong|incorrect|invalid|too\s|rejected"
    r"|not\s+(?:the|a\b|an\b|present|common|shared|in\b|contained|found|correct|right|valid|it\b|my\b))"
    r"|(?:isn|wasn)['’]t\b|cannot\s+be|can['’]t\s+be|\(?(?:wrong|incorrect|invalid|rejected"
    r"|no)\b\)?\s*[.)!]?$|❌|✗|✘"
    r"|\?+\s*(?:no\b|nope|not\b|hmm|wait|but\b))",
    re.IGNORECASE,
)
_TAKEN_BACK: Final = re.compile(
    r"\b(?:that|this|it|which|answer|above)\s*(?:['’]s|is|was)\s+(?:wrong|incorrect|false|invalid"
    r"|not\s+(?:right|correct|my"
    r"|the\s+(?:answer|motif|right|correct|largest)))\b|\bscratch\s+that|\b(?:ignore"
    r"|disregard)\s+(?:that|this|the|my|it)\b"
    r"|\btake\s+(?:it|that)\s+back|\bno,?\s+wait\b|\bwait,?\s+no\b|\bnot\s+this\s+one\b",
    re.IGNORECASE,
)
_OR_ELSE: Final = re.compile(
    r"[\s`*\"'”.)\]]{0,6},?\s*(?:\(?or\b|\balternatively\b|\bor\s+else\b|\bpossibly\b|\bmaybe\b|/)"
    r"(?:\s+(?:else|maybe|perhaps|possibly|also|it|could|be|is|the))*[\s`*\"'“:,]*([^\s`*\"'”,;]{2,})",
    re.IGNORECASE,
)

_GIVEN: Final = re.compile(
    r"\b(?:given|provided|input|listed|known|existing|original)\s+(?:smiles|isomers?|molecules?"
    r"|compounds?|structures?|list"
    r"|set|ones?|strings?)\b|\b(?:already|were|are|was|is)\s+(?:given|provided|listed|known|there|present)\b"
    r"|\b(?:in|from)\s+the\s+(?:question|prompt|problem|input|list)\b|^\W*(?:given|provided|input"
    r"|question)\W*$|^\W*(?:the\s+|input\s+)?(?:molecules|compounds|structures)(?:\s+are)?\W*$",
    re.IGNORECASE,
)
_NOT_GIVEN: Final = re.compile(
    r"\b(?:miss\w*+|compar\w++|minus|leaves|not|no|answers?|absent|remaining|others?|new|beyond|besides|exclud\w++|except|final"
    r"|therefore|so|thus|left"
    r"|complete|add|without|lacks?|lacking)\b|n['’]t\b",
    re.IGNORECASE,
)
_NO_ANSWERS: Final = re.compile(
    r"\b(?:wrong|incorrect|invalid|rejected|discarded)\b[^.]{0,20}:\W*$"
    r"|\bnot\s+(?:the\s+|an?\s+|my\s+)?(?:missing|isomers?|answers?|valid|right|correct)\b[^.]{0,20}:\W*$",
    re.IGNORECASE,
)
_RULE: Final = re.compile(r"\s*(?:-{3,}|\*{3,}|_{3,}|={3,})\s*")
_STEP: Final = re.compile(r"step|iteration|attempt|round|stage")

_NOTED_GIVEN: Final = re.compile(
    r"[\s`*\"'”.,:;←<=–—\-\[({→>]{0,8}(?:(?:it|this|that|which)\s+)?(?:(?:is|was)\s+)?(?:already\s+|also\s+)?"
    r"(?:given\b|provided\b|listed\b|known\b|(?:in|from)\s+the\s+(?:given|list|question|input)"
    r"|duplicate\b|a\s+duplicate"
    r"|same\s+as\b|the\s+same\s+as\b|identical\s+to\b|repeat(?:ed)?\b|excluded?\b|wrong\b|invalid\b"
    r"|not\s+(?:valid|an?\s+isomer"
    r"|missing|counted|possible)|present\s+in\b|✗|✘|❌|skip\b|#\d+\s+(?:in|of)\s+the\s+(?:given|list))",
    re.IGNORECASE,
)
_REDONE: Final = re.compile(
    r"\b(?:right|correct|actual|true)\s+(?:lists?|answers?|set|ones)\b|"
    r"\b(?:final|corrected|revised|updated|consolidated|cleaned|verified"
    r"|deduplicated)\s+(?:\w++\s+){0,2}?(?:answers?|lists?"
    r"|sets?|output|results?|response|isomers|smiles|version|enumeration|molecules)\b"
    r"|\blet(?:['’]s|\s+me|\s+us)\s+(?:redo|restart|rewrite|start\s+over|correct|revise|recount"
    r"|try\s+again|re-?list)"
    r"|\bstart(?:ing)?\s+over\b|\bscratch\s+that\b|\bdraft\s+ends\b|^\W*(?:my\s+"
    r"|the\s+)?(?:final\s+)?(?:answers?|solution)\W*$"
    r"|^\W*(?:final|finally|answer)\s*:",
    re.IGNORECASE | re.MULTILINE,
)
_SHARED: Final = 0.8
"""Share of the tags before a heading that stand behind it once more, from which on they were a draft."""

_ANSWERS: Final = re.compile(r"\b(?:answers?|motif|final|missing|result|solution)\b", re.IGNORECASE)

_FEW: Final = 4
_SHORT: Final = 20
# looking for letters first is a tenth of the cost
_DENIALS: Final = (
    "not", "n't", "n’t", "never", "instead", "rather", "unlike", "except", "wrong", "incorrect", "reject",
    "rule", "excl", "≠", "!=", "invalid", "bad", "ignore", "discard", "no:", "no :",
)  # fmt: skip
_GIFTS: Final = (
    "given", "provided", "input", "list", "known", "existing", "original", "there", "present", "question",
    "prompt", "problem", "molecules", "compounds", "structures",
)  # fmt: skip
_NOTHING: Final = frozenset(("", " ", "\r", ".", ",", ";", "`", "**", '"', '",'))
_NEAR: Final = 60
"""Characters before a tag in which it is denied."""

_LONGEST_HEADING: Final = 120
"""Characters of a line that says what the tags below it are."""

_EDGE: Final = 200
"""Characters before and behind a tag that are looked at."""


def _about(text: str, first: int) -> bool:
    """Whether the words before the first tag may deny it, or say that it is given."""
    edge = text[max(0, first - _EDGE) : first].rstrip(" \t\r\n-*•.)0123456789")
    if not edge:
        return False
    line = edge[edge.rfind("\n") + 1 :]
    return _is_given(line) or _denied_before(line)


def _denied_before(line: str) -> bool:
    line = line[-_NEAR:]
    lowered = line.lower()
    return any(hint in lowered for hint in _DENIALS) and _DENIED_BEFORE.search(line) is not None


def _is_given(heading: str) -> bool:
    """Whether what stands below a heading is the question's, or no answer."""
    if len(heading) > _LONGEST_HEADING:
        return False
    lowered = heading.lower()
    if any(hint in lowered for hint in _DENIALS) and _NO_ANSWERS.search(heading):
        return True
    return (
        any(hint in lowered for hint in _GIFTS)
        and _GIVEN.search(heading) is not None
        and _NOT_GIVEN.search(heading) is None
        and (not heading.rstrip().endswith((".", "!")) or heading.count(" ") < _FEW)
    )


def _head(text: str, start: int, end: int) -> str:
    """What introduces a tag: the last words before it, of its own line or the one above."""
    piece = text[max(start, end - _EDGE) : end].rstrip(" \t\r\n`*\"'“(")
    return piece[piece.rfind("\n") + 1 :]


def _tail(text: str, end: int) -> str:
    """What follows a tag on its line."""
    piece = text[end : end + _EDGE].split("\n", 1)[0].split("<smiles>", 1)[0]
    return "" if piece in _NOTHING else piece


def _denied(text: str, before: int, tag: Tag) -> bool:
    edge = text[max(before, tag.start - _NEAR) : tag.start]
    if _denied_before(edge[edge.rfind("\n") + 1 :]):
        return True
    tail = _tail(text, tag.end)
    return bool(tail) and _DENIED_AFTER.match(tail) is not None


def _standing(text: str, found: Sequence[Tag]) -> list[Tag]:
    """The tags that are not denied."""
    ends = [0, *(tag.end for tag in found)]
    return [tag for before, tag in zip(ends, found, strict=False) if not _denied(text, before, tag)]


def _beside(text: str, before: int, earlier: Tag, later: Tag) -> bool:
    """Whether the later of two different answers stands beside the earlier one rather than replacing it."""
    between = text[earlier.end : later.start]
    if _FILLER.fullmatch(between):
        return True
    edges = between if len(between) <= 2 * _EDGE else between[:_EDGE] + "\n" + between[-_EDGE:]
    if _CORRECTS.search(edges):
        return False
    heads = [_NOT_WORDS.sub(" ", _head(text, *span)).strip().lower()
             for span in ((before, earlier.start), (earlier.end, later.start))]  # fmt: skip
    if heads[0] and heads[0] == heads[1]:
        return _STEP.search(heads[0]) is None
    head = _head(text, earlier.end, later.start)
    if "\n" not in between and "\r" not in between:
        return _CONCLUDES.search(between) is None or _OFFERS.search(between) is not None
    return _OFFERS.search(head) is not None and _CONCLUDES.search(head) is None


def final_molecule(text: str) -> tuple[str | None, str | None]:
    """The one molecule of an unescaped text, or the reason why there is none."""
    plain = plain_tail(text)
    if plain is not None and len(set(plain[1])) == 1 and not _about(text, plain[0]):
        return plain[1][0], None
    found = all_tags(text)
    tags = _standing(text, found)
    if len(tags) > 1:
        quoted = _quoted(text, found)
        tags = [tag for tag in tags if tag.start not in quoted] or tags
    if not tags:
        return None, "no_answer"
    last = tags[-1]
    behind = text[last.end :]
    if behind and not behind.isspace():
        if _TAKEN_BACK.search(behind):
            return None, "no_answer"
        other = _OR_ELSE.match(_tail(text, last.end))
        if other is not None and like_smiles(other[1].rstrip(".)")):
            return None, "several_answers"
    for place in range(len(tags) - 1, 0, -1):
        earlier, later = tags[place - 1], tags[place]
        before = tags[place - 2].end if place > 1 else 0
        if not _beside(text, before, earlier, later):
            break
        if earlier.lines != last.lines:
            return None, "several_answers"
    return "\n".join(last.lines), None


def final_molecules(text: str) -> list[str]:
    """All molecules of an unescaped text's final list, in order, repeats kept."""
    plain = plain_tail(text)
    if plain is not None and not _about(text, plain[0]):
        return plain[1]
    found = all_tags(text)
    kept: list[Tag] = []
    given = False
    before = 0
    drafted = _Drafted(found)
    for tag in found:
        gap = text[before : tag.start]
        headings = _headings(gap, first=before == 0)
        if headings:
            given = _is_given(headings[-1])
            if kept and (any(map(_REDONE.search, headings)) or drafted.again()):
                kept.clear()
                drafted.forget()
        tail = _tail(text, tag.end)
        noted = bool(tail) and _NOTED_GIVEN.match(tail) is not None
        is_kept = not (given or noted or _denied(text, before, tag))
        if is_kept:
            kept.append(tag)
        drafted.passed(tag, is_kept=is_kept)
        before = tag.end
    return [line for tag in kept for line in tag.lines]


class _Drafted:
    """How many of the lines that were kept come once more, counted as the tags go by."""

    def __init__(self, found: Sequence[Tag]) -> None:
        self._ahead = Counter(line for tag in found for line in tag.lines)
        self.forget()

    def forget(self) -> None:
        self._kept: Counter[str] = Counter()
        self._n = self._n_again = 0

    def passed(self, tag: Tag, *, is_kept: bool) -> None:
        for line in tag.lines:
            self._ahead[line] -= 1
            if not self._ahead[line]:
                self._n_again -= self._kept[line]
            if is_kept:
                self._kept[line] += 1
                self._n += 1
                self._n_again += self._ahead[line] > 0

    def again(self) -> bool:
        """Whether nearly all of them do."""
        return self._n_again >= _SHARED * self._n


def _headings(gap: str, *, first: bool) -> list[str]:
    """The lines between two tags that say something; what follows a tag on its own line is a note on it."""
    if len(gap) < _SHORT and not _WORD.search(gap) and "\n\n" not in gap:
        return []
    if first:
        gap = gap[-2 * _EDGE :]
    if "\n" not in gap and not first:
        return [gap] if len(gap) > 3 and _REDONE.search(gap) else []
    lines = gap.splitlines() if first else gap.splitlines()[1:]
    if not lines:
        return []
    own = lines.pop() if gap[-1:] not in "\r\n" else ""
    found = [line for line in lines if _is_heading(line)]
    if own and _WORD.search(own) and (_ANSWERS.search(own) or not _FILLER.fullmatch(own)):
        found.append(own)
    return found


def _is_heading(line: str) -> bool:
    if not _WORD.search(line):
        return _RULE.fullmatch(line) is not None
    label = line.rstrip("* \t").endswith((":", "：")) or line.lstrip().startswith(("#", "**"))
    return label or not _FILLER.fullmatch(line)


def _quoted(text: str, found: Sequence[Tag]) -> set[int]:
    """Where tags begin that stand under a heading which says that the question gave them."""
    quoted = set()
    given = False
    before = 0
    for tag in found:
        headings = _headings(text[before : tag.start], first=before == 0)
        if headings:
            given = _is_given(headings[-1])
        if given:
            quoted.add(tag.start)
        before = tag.end
    return quoted
