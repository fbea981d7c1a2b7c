"""Which ``<smiles>`` tags of a response are its answer: the last statement, without drafts, quotations of the
question and what is denied."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from relfast.tasks.rel_c.stances import (
    asked,
    denied_after,
    denied_before,
    example_before,
    heads_no_answers,
    list_taken_back,
    taken_back,
)
from relfast.tasks.rel_c.tags import Tag, like_smiles, plain_list, plain_tail
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
    r"\b(?:miss\w*+|remov\w++|subtract\w*+|eliminat\w++|filter\w*+|omit\w*+|apart|other\s+than|compar\w++"
    r"|minus|leaves|not|no|answers?|absent|remaining|others?|new|beyond|besides|exclud\w++|except|final"
    r"|therefore|so|thus|left"
    r"|complete|add|without|lacks?|lacking)\b|n['’]t\b",
    re.IGNORECASE,
)
_NO_ANSWERS: Final = re.compile(
    r"\b(?:wrong|incorrect|invalid|rejected|discarded)\b[^.]{0,20}:\W*$"
    r"|\bnot\s+(?:the\s+|an?\s+|my\s+)?(?:missing|isomers?|answers?|valid|right|correct)\b[^.]{0,20}:\W*$",
    re.IGNORECASE,
)
_LISTED: Final = re.compile(r"[ \t,;/|`*\"']*(?:(?:or|and|nor)\b[ \t`*\"']*)?")
_NUMBERED: Final = re.compile(r"\b(?:molecule|compound|structure)\s+#?\d+\s*\($", re.IGNORECASE)
_RULE: Final = re.compile(r"\s*(?:-{3,}|\*{3,}|_{3,}|={3,})\s*")
_SENTENCE: Final = re.compile(r"[.!?]\s+\w{2}|\n[ \t]*\n")
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
    r"|\bon\s+second\s+thoughts?\b[^.\n]{0,20}\b(?:answer|list)\b|^\W*correction\s*:\W*$"
    r"|^\W*(?:final|finally|answer)\s*:",
    re.IGNORECASE | re.MULTILINE,
)
_SHARED: Final = 0.8
"""Share of the tags before a heading that stand behind it once more, from which on they were a draft."""

_ANSWERS: Final = re.compile(r"\b(?:answers?|motif|final|missing|result|solution)\b", re.IGNORECASE)

_FEW: Final = 4
_SHORT: Final = 20
# looking for letters first is a tenth of the cost
_GIFTS: Final = (
    "given", "provided", "input", "list", "known", "existing", "original", "there", "present", "question",
    "prompt", "problem", "molecules", "compounds", "structures",
)  # fmt: skip
_NOTHING: Final = frozenset(("", " ", "\r", ".", ",", ";", "`", "**", '"', '",'))
_LONGEST_HEADING: Final = 120
"""Characters of a line that says what the tags below it are."""

_EDGE: Final = 200
"""Characters before and behind a tag that are looked at; before the first one, twice as many."""

EDGE: Final = 2 * _EDGE + 1
"""More than anybody looks at."""


def _about(text: str, first: int) -> bool:
    """Whether the words before the first tag may say that it is no answer, or given."""
    edge = text[max(0, first - _EDGE) : first].rstrip(" \t\r\n-*•.)0123456789")
    return bool(edge) and says_no_answer(edge[edge.rfind("\n") + 1 :])


@lru_cache(1024)
def says_no_answer(line: str) -> bool:
    """Whether a line before tags may say that they are no answer, or given."""
    return _is_given(line) or denied_before(line) or asked(line, "", "")


@lru_cache(1024)
def _is_given(heading: str) -> bool:
    """Whether what stands below a heading is the question's, or no answer."""
    if len(heading) > _LONGEST_HEADING:
        return example_before(heading[-_LONGEST_HEADING:])
    lowered = heading.lower()
    if _NO_ANSWERS.search(heading) or heads_no_answers(heading):
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
    """Whether a tag is denied, an example, supposed or only asked about where it stands."""
    line = _line_before(text, before, tag.start)
    if line and (denied_before(line) or example_before(line)):
        return True
    tail = _tail(text, tag.end)
    if tail and denied_after(tail):
        return True
    return asked(line, tail, text[tag.end : tag.end + _EDGE])


def _line_before(text: str, before: int, start: int) -> str:
    edge = text[max(before, start - _LONGEST_HEADING) : start]
    return edge[edge.rfind("\n") + 1 :]


def _standing(text: str, found: Sequence[Tag]) -> list[Tag]:
    """The tags that are not denied. What is listed beside an example is one, too."""
    standing = []
    before = 0
    example = False
    for tag in found:
        example = (example and _LISTED.fullmatch(text, before, tag.start) is not None) or _is_example(
            text, before, tag
        )
        if not example and not _denied(text, before, tag):
            standing.append(tag)
        before = tag.end
    return standing


def _is_example(text: str, before: int, tag: Tag) -> bool:
    head = _head(text, before, tag.start)
    return bool(head) and (
        heads_no_answers(head) or _NUMBERED.search(_line_before(text, before, tag.start)) is not None
    )


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


def stands(text: str, start: int, end: int, *, one: bool) -> bool:
    """Whether the first tag of an unescaped text is an answer for all that is said of it, alone (``one``) or
    at the head of a list.

    With nothing but marks behind each tag none of them is taken back, and all stand as the first one does.
    What is `EDGE` before it and behind it is all that counts.
    """
    tag = Tag(start, end, ())
    if one:
        return not (_is_example(text, 0, tag) or _denied(text, 0, tag))
    headings = _headings(text[:start], first=True)
    return not (headings and _is_given(headings[-1])) and not _denied(text, 0, tag)


def final_molecule(text: str) -> tuple[str | None, str | None]:
    """The one molecule of an unescaped text, or the reason why there is none."""
    plain = plain_tail(text) or plain_list(text)
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
        if taken_back(behind):
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
    plain = plain_tail(text) or plain_list(text)
    if plain is not None and not _about(text, plain[0]):
        return plain[1]
    return _final_list(text)


def _final_list(text: str) -> list[str]:
    found = all_tags(text)
    if found and list_taken_back(text[found[-1].end :]):
        return []
    kept: list[Tag] = []
    given = own = False
    before = 0
    drafted = _Drafted(found)
    for tag in found:
        gap = text[before : tag.start]
        headings = _headings(gap, first=before == 0)
        if headings:
            given = _is_given(headings[-1])
            own = gap[-1:] not in "\r\n"
            if kept and (any(map(_REDONE.search, headings)) or drafted.again()):
                kept.clear()
                drafted.forget()
        elif own and given and _SENTENCE.search(gap):
            # what was said of tags in a sentence ends with it
            line = _line_before(text, before, tag.start)
            given = bool(line) and _is_given(line)
        tail = _tail(text, tag.end)
        noted = bool(tail) and _NOTED_GIVEN.match(tail) is not None
        is_kept = not (given or noted or _denied(text, before, tag))
        if is_kept and drafted.has(tag) and _is_remark(text, before, tag, tail):
            before = tag.end
            drafted.passed(tag, is_kept=False)
            continue
        if is_kept:
            kept.append(tag)
        drafted.passed(tag, is_kept=is_kept)
        before = tag.end
    return [line for tag in kept for line in tag.lines]


def _is_remark(text: str, before: int, tag: Tag, tail: str) -> bool:
    """Whether a line speaks of a tag among other words, not as a list does."""
    line = _line_before(text, before, tag.start)
    return "\n\n" in text[before : tag.start] and len(_WORD.findall(line + " " + tail)) >= _FEW


class _Drafted:
    """How many of the lines that were kept come once more, counted as the tags go by."""

    def __init__(self, found: Sequence[Tag]) -> None:
        self._ahead = Counter(line for tag in found for line in tag.lines)
        self.forget()

    def forget(self) -> None:
        self._kept: Counter[str] = Counter()
        self._n = self._n_again = 0

    def has(self, tag: Tag) -> bool:
        """Whether all of a tag was kept already."""
        return all(self._kept[line] for line in tag.lines)

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
