"""What a clause says of one number in it, by the words around it: stated, fitting, denied, spoken of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from relfast.tasks.rel_a.said import DENIED, FITS, MENTIONED, PLACE, SHORT, STATED, SUPPOSED
from relfast.tasks.rel_a.words import Token


class Clause(NamedTuple):
    """The kinds of the words that open it, and its words, after them a mark of where it ends."""

    opener: str
    tokens: list[Token]


def subject_of(words: Sequence[Token]) -> str:
    """What a clause is about, by its last noun: choice, panel (missing or not), pronoun."""
    found, within = "", False
    for token in words:
        kind = token.kind
        if token.text in _PREPOSITIONS:
            within = found == "A"
            continue
        if kind == "X" and within:
            continue  # "the only choice with such a row"
        if kind in ("A", "P"):
            found = "A" if kind == "A" else "M" if found in ("Q", "M") or token.text == "index" else "P"
        elif kind == "Q":
            found = found if found == "A" else "M" if found in ("P", "M") else "Q"
        elif kind == "X":
            found = "X"
        elif kind == "Y" and found == "P":
            found = "M"  # "the panel that completes the matrix"
        elif kind == "I":
            found = found or "I"
        elif kind == "G":
            found = ""
    return found


_PREPOSITIONS: Final = frozenset({"with", "in", "by", "for"})


_LISTS: Final = frozenset({"answers", "options", "choices", "candidates", "solutions"})
"""Words for choices that are listed with a colon each."""

_BEGINS: Final = frozenset({"start", "begin"})
"""Examinations that are words for a beginning too."""


def verdict_on(
    before: Sequence[Token],
    number: Token,
    after: Sequence[Token],
    another: bool,
    opener: str,
    nth: int,
    subject: str,
    first: bool,
) -> tuple[int, bool, bool] | None:
    """How much a clause says of a number, whether it is described, and whether it is boxed; or None."""
    direct, link, rest = _tie(before)
    about = subject_of(rest) or (subject if not rest else "")
    kinds = {token.kind for token in rest}
    after_kinds = [token.kind for token in after]
    ends = (
        not after
        or after_kinds[0] in ("D", "n")
        or after[0].text in ("for", "by")
        or (after[0].text == "as" and not another)
        or after_kinds == ["F"]
        or all(k == "F" for k in after_kinds)
    )
    boxed = any(token.text in ("boxed", "a") and token.kind == "A" for token in before)
    opposed = any(t.kind in ("N", "E") for t in before)
    bad = next((n for n, t in enumerate(reversed(before)) if t.kind == "B"), None)
    if bad is not None and not _begins_anew(before[len(before) - bad :]):
        opposed = True  # "the wrong answer is 4", but not "an error: it is 4"
    is_place = direct == "P" or (not direct and about in ("P", "M"))
    if is_place and number.value in (8, 9) and not boxed:
        if opposed:
            return DENIED, False, False
        missing = (
            about in ("M", "Q")
            or any(t.kind == "Q" for t in before)
            or (all(t.kind in "FP" for t in before) and ends)
        )
        if direct and not missing and not link:
            return SUPPOSED, False, False
        if direct or (link and ends):
            return (PLACE if number.value == 8 else SUPPOSED), False, False
        return None
    if not direct and not link and not _stands(before, after, opener, nth):
        if opposed and ends and all(t.kind in "NBFQI1AC" for t in before):
            return DENIED, False, False
        return _verdict_on_bare(before, after)
    lists = another or any(t.text in _LISTS for t in rest)
    shown = about == "A" and bool(after) and after[0].text == ":" and not lists  # "the answer is 4: [[…]]"
    if not direct and link and not ends and not shown and _on(after) is None:
        return None
    if any(t.kind == "n" or t.text == "number of" for t in before):
        return SUPPOSED, False, False
    verdict = _on(after)
    if after and (after[0].kind == "X" or after[0].text in ("vs", "versus")):
        return SUPPOSED, False, False
    if (direct == "P" and another) or (direct == "P" and verdict == "fits"):
        verdict = None
    if opposed:
        if direct or ends:
            return DENIED, False, False
        return None
    if verdict == "bad":
        return DENIED, False, False
    if "D" in kinds:
        return SUPPOSED, False, False
    described = bool(after) and after_kinds[0] == "C" and after[0].text in (":", "：", "=") and direct == "A"
    if verdict == "right":
        return STATED if "J" not in opener else FITS, described, False
    if verdict == "fits":
        return FITS, described, False
    if "M" in kinds and link != "L":
        return SUPPOSED, False, False
    if any(t.text in _BEGINS for t in rest):
        return SUPPOSED, False, False
    if verdict == "not":
        return MENTIONED, False, False
    return _force(direct, link, about, rest, after, another, ends, opener, nth, first), described, boxed


def _begins_anew(tokens: Sequence[Token]) -> bool:
    """Whether a colon and a new subject stand among the words: "an error: it is 4"."""
    kinds = [":" if token.text == ":" else token.kind for token in tokens]
    return ":" in kinds and "I" in kinds[kinds.index(":") :]


def _force(
    direct: str,
    link: str,
    about: str,
    rest: Sequence[Token],
    after: Sequence[Token],
    another: bool,
    ends: bool,
    opener: str,
    nth: int,
    first: bool,
) -> int:
    """How much is said of a number by what ties it, if nothing speaks for or against it."""
    only = any(token.kind == "1" for token in rest)
    leading = all(token.kind in "FSIQLUYCK1" or token.text in ("answers", "boxed") for token in rest)
    reason = "J" in opener or "M" in opener
    if direct == "A":
        if only and not reason:
            return STATED
        if link and (ends or not after or after[0].kind in ("C", "A", "I", "F", "S")):
            return MENTIONED if reason and link != "C" else STATED
        if link:
            return FITS
        if leading and not reason:
            if ends or (after and after[0].kind == "C" and (another or after[0].text in (":", "=", "："))):
                return STATED
            if after and after[0].kind in "IFA" and not another:
                return STATED if all(t.kind in "IFACQY" for t in after) else MENTIONED
        return MENTIONED if leading or rest[-1].text in ("in", "with", "by", "as") or only else SUPPOSED
    if direct == "P":
        missing = about in ("M", "Q", "A") or any(t.text == "index" for t in rest)
        if link and (missing or link == "L" or (link == "C" and not rest)):
            return STATED if ends else SUPPOSED
        if (leading and ends and not another and nth == 0 and not rest) or link == "L":
            return STATED
        return SUPPOSED
    if not link:
        return STATED
    if reason and about != "A":
        return SUPPOSED
    if about in ("A", "M", "Q") or link == "L":
        return STATED
    if about == "I":
        return STATED if any(kind in opener for kind in "RT") else SHORT
    if first and not about and not rest and (link == "C" or any(kind in opener for kind in "RS")):
        return STATED if nth == 0 or any(kind in opener for kind in "RST") else SUPPOSED
    return STATED if about == "P" and all(token.kind in "PF" for token in rest) else SUPPOSED


def _tie(before: Sequence[Token]) -> tuple[str, str, Sequence[Token]]:
    """The noun right before a number, the verb before that, and what else stands before them."""
    direct = link = ""
    at = len(before)
    while at:
        token = before[at - 1]
        kind = token.kind
        if kind in ("A", "P") and not link and not direct:
            direct = kind
            if token.text == "index" or token.text == "result":
                direct = kind
        elif kind in ("A", "P") and not link and direct:
            # "missing panel answer 4": the nearer noun counts
            pass
        elif kind in ("C", "L", "m"):
            if link and kind != link:
                break
            link = kind
            if kind == "C" and at > 1 and before[at - 2].kind == "L":
                at -= 1  # "Choose: 4"
                link = "L"
        elif kind in ("F", "Q", "1", "Y") and not (kind == "Q" and link):
            if kind in ("1", "Y"):
                break
        else:
            break
        at -= 1
    return direct, link, before[:at]


def _stands(before: Sequence[Token], after: Sequence[Token], opener: str, nth: int) -> bool:
    """Whether a number stands alone in its clause, in a place where an answer does."""
    if after and not all(token.kind in "F" for token in after):
        return False
    if not all(token.kind in "FQYI" for token in before):
        return False
    if nth == 0 and not any(kind in opener for kind in "J"):
        return True
    return any(kind in opener for kind in "RSTU")


def _verdict_on_bare(before: Sequence[Token], after: Sequence[Token]) -> tuple[int, bool, bool] | None:
    """Of a number without a word for a choice: "4 is the answer", "4 fits best", "only 4 remains"."""
    if not after or not all(token.kind in "FQ1YSI" for token in before):
        return None
    verdict = _on(after)
    if verdict == "bad" and after[0].kind in "CBN":
        return DENIED, False, False
    if (verdict == "right" and after[0].kind in "CY") or (verdict == "right" and after[0].text == "as"):
        return STATED, False, False
    matches = after[0].kind == "m" and any(token.kind == "1" for token in before)
    if verdict == "fits" and (after[0].kind in "YC1" or matches):
        return STATED if any(t.text in ("better", "best") for t in after) else FITS, False, False
    return None


_RIGHT: Final = frozenset(
    ["completes", "complete", "completing", "better", "perfect", "perfectly", "winner", "wins", "yes"]
)


def _on(after: Sequence[Token]) -> str | None:
    """The verdict of what follows a number: right, fits, bad, not (something is denied of it), or None."""
    kinds = []
    right, before = False, Token("")
    for token in after:
        if token.kind == "O" or token.kind in ("D", "M"):
            break
        kinds.append(token.kind)
        right = (
            right
            or token.kind == "Q"
            or token.text in _RIGHT
            or token.kind == "A"
            or token.text == "one"
            or (token.text == "it" and before.kind in ("C", "1", "N") and before.text != ":")
        )
        before = token
    bad, denied = "B" in kinds or "E" in kinds, "N" in kinds
    good = "Y" in kinds or right or "1" in kinds or "m" in kinds
    if bad and denied:
        return "fits"
    if bad or ("n" in kinds and "Q" in kinds[kinds.index("n") :]):
        return "bad"
    if denied and "n" not in kinds:
        at = kinds.index("N")
        if "1" in kinds[:at]:
            return "fits"
        return "bad" if good or "Q" in kinds else "not"
    if right and kinds and kinds[0] in ("C", "Y", "I", "F", "1", "m"):
        return "right"
    if good and kinds[0] in ("Y", "C", "1", "m", "F", "I"):
        return "fits"
    return None
