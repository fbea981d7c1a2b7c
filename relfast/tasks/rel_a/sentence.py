"""What one sentence says of the choices: which it states, denies, or speaks of.

A sentence is cut into clauses. In each, a number is tied to a word for a choice ("Answer 4", "the answer is
4", "4 is correct"), and what stands before and after it in the clause decides how much is said of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from relfast.tasks.rel_a.words import Token, clean, tokens

N_CHOICES: Final = 8

STATED: Final = 5
"""It is the answer."""
FITS: Final = 4
"""It fits, it is the only one with …"""
SHORT: Final = 3
"""It is 4: whatever "it" is."""
PLACE: Final = 2
"""Panel 8 or 9 is missing: the ninth place, unless nothing else is said."""
MENTIONED: Final = 1
SUPPOSED: Final = 0
"""Spoken of in a question, a supposition, or as what it is not: never an answer."""
DENIED: Final = -1

SEVERAL: Final = 0
"""In place of a choice's number: several choices at once."""


NEVER_PLAIN: Final = frozenset("WXJMDBN")
"""Kinds of tokens that a sentence which is nothing but an answer does not have."""


class Said(NamedTuple):
    """What is said of a choice.

    ``described``: a colon or bracket follows, as the question lists its choices. ``replaces``: a word before
    it sets it above what was said before. ``offers``: a word before it makes it an alternative.
    """

    value: int
    force: int
    described: bool = False
    replaces: bool = False
    offers: bool = False
    boxed: bool = False


class Sentence(NamedTuple):
    """What a sentence says.

    Attributes
    ----------
    said
        Of which choices, in order.
    plain
        It has nothing but an answer in it: "Answer 4", "So the answer is 4."
    corrects, concludes, asks
        It begins with "wait", "no", "actually"; it has "so", "finally"; it is a question.
    """

    said: tuple[Said, ...]
    plain: bool
    corrects: bool
    concludes: bool
    asks: bool
    tokens: tuple[Token, ...]


class _Clause(NamedTuple):
    opener: str
    tokens: list[Token]


_LETTER_A: Final = re.compile(r"\ba:")
_NOTHING: Final = Sentence((), False, False, False, False, ())
_DRAFTS: Final = (
    "first thought", "first guess", "first idea", "first choice was", "first instinct", "first impression",
    "at first", "initially", "originally", "draft", "tentative", "first answer was", "previous answer",
    "earlier i", "seemed to be", "for example", "e.g.",
    "old answer", "they say", "used to be", "user said", "model said",
    "friend", "colleague", "teacher", "student", "classmate", "to the user",
    "example answer", "format:", "previous question", "last question", "were the ", "i wish",
)  # fmt: skip
_UNREAL: Final = re.compile(
    r"^\W*+(?:the |your |expected |required ){0,2}(?:answer )?format (?:is|should)\b|"
    r"^\W*+had (?:the|it|this|that|there|we|i)\b|\bif (?=[^.]{0,200} (?:were|had been|weren't)\b)"
)
"""What an answer looks like, and what would be so if something else were so."""


def read(text: str) -> Sentence:
    """Read a sentence (lower case, markup and all)."""
    cleaned = clean(text)
    if " b:" in cleaned:
        cleaned = _LETTER_A.sub("x:", cleaned)
    found = tokens(cleaned)
    if not found:
        return _NOTHING
    asks = found[-1].kind == "?"
    found = _dashes_tie(_plain_numbers(_nos(found)))
    grouped, values = _groups(found)
    clauses = list(_clauses(grouped))
    draft = any(mark in cleaned for mark in _DRAFTS) or _UNREAL.search(cleaned) is not None
    said: list[Said] = []
    subject = ""
    previous_n = 0
    for number, clause in enumerate(clauses):
        before = len(said)
        subject = _read_clause(clause, number, clauses, values, subject, said)
        if draft and not any(c.opener in "TR" and c.opener for c in clauses[: number + 1]):
            said[before:] = [s._replace(force=min(s.force, SUPPOSED)) for s in said[before:]]
        if len(said) == before and previous_n:
            if _turns_down(clause):
                said[-1] = said[-1]._replace(force=DENIED)
            elif "U" in clause.opener and any(t.text in _ANY_OTHER or t.kind == "N" for t in clause.tokens):
                said[-1] = said[-1]._replace(value=SEVERAL)
        previous_n = len(said)
    if asks:
        said = [s._replace(force=min(s.force, SUPPOSED)) for s in said]
    kinds = {token.kind for token in found}
    first = next((t.kind for t in found if t.kind not in "F,-"), "")
    return Sentence(
        tuple(said),
        bool(said) and not kinds & NEVER_PLAIN,
        first in ("R", "Z"),
        bool(kinds & {"S"}) or any(t.text == "final" for t in found),
        asks,
        tuple(found),
    )


_ANY_OTHER: Final = frozenset({"whichever", "whatever", "any", "another", "other", "none"})


def _nos(found: list[Token]) -> list[Token]:
    """ "No" is a verdict (4: no), a denial (no answer), or a correction (no, 6)."""
    result = []
    for at, token in enumerate(found):
        if token.kind == "Z":
            after = found[at + 1].kind if at + 1 < len(found) else ""
            before = found[at - 1].kind if at else ""
            if at and (not after or (before in ("C", "(", "-", "+") and after in (")", ",", "+"))):
                token = token._replace(kind="B")
            elif (after and after in "APWXQYmL") or (after == "G" and at == 0):
                token = token._replace(kind="N")
        result.append(token)
    return result


def _plain_numbers(found: list[Token]) -> list[Token]:
    """Ordinals and number words as numbers, where they stand for a choice; else as any other word."""
    result: list[Token] = []
    skip = False
    for at, token in enumerate(found):
        if skip:
            skip = False
            continue
        after = found[at + 1] if at + 1 < len(found) else Token("")
        before = found[at - 1] if at else Token("")
        if token.kind == "#":
            if (
                (after.kind == "A" and after.text not in ("solution", "result", "output"))
                or after.kind == "P"
                or after.text == "one"
            ):
                if before.text in ("my", "our", "your"):
                    token = Token("W")
                else:
                    result.append(Token("P" if after.kind == "P" else "A", text=after.text))
                    token = Token("G", token.value)
                    skip = True
            elif (
                after.kind in ("", ",", ")")
                and token.value != 1
                and any(t.kind == "C" for t in found[max(0, at - 2) : at])
            ):
                token = Token("G", token.value)
            else:
                token = Token("W")
        elif token.kind == "G" and token.word:
            ends = after.kind in ("", ",", ")", "(", "-", "J", "U", "K", "T", "S", "?", "+")
            tied = before.kind in ("A", "P", "C", "U", "N", ",", "L", "+") or before.text in ("number", "la")
            alone = all(t.kind in "F,()" for t in found[:at])
            if not (
                (ends or after.kind in "CYBN")
                and ((before.kind in "AP" and before.kind) or (tied and ends) or (alone and ends))
            ):
                token = Token("W", text=token.text)
            elif token.value == 1 and not (
                before.kind in ("A", "P")
                or (alone and after.kind in ("", "(", ","))
                or (before.kind == "C" and after.kind in ("", ","))
                or (before.kind in (",", "U", "K", "+") and ends)
            ):
                token = Token("I", text=token.text)
        result.append(token)
    return result


def _dashes_tie(found: list[Token]) -> list[Token]:
    """The dash of "Answer - 4" is a colon, and the comma of "Answer, 4"; brackets around a tied number go."""
    if len(found) == 3 and found[0].kind == "A" and found[1].kind == "," and found[2].kind == "G":
        return [found[0], Token("C", text=":"), found[2]]
    found = [
        token
        for at, token in enumerate(found)
        if not (
            token.kind == "("
            and 0 < at < len(found) - 1
            and found[at - 1].kind == "A"
            and found[at + 1].kind == "G"
        )
    ]
    return [
        Token("C", text="-")
        if token.kind == "-"
        and 0 < at < len(found) - 1
        and found[at - 1].kind in ("A", "P")
        and (found[at + 1].kind in ("G", "A"))
        else token
        for at, token in enumerate(found)
    ]


def _groups(found: list[Token]) -> tuple[list[Token], dict[int, frozenset[int]]]:
    """Numbers that are listed ("1, 2 and 3", "Answer 4 or Answer 6") as one token; what each lists."""
    result: list[Token] = []
    values: dict[int, frozenset[int]] = {}
    at = 0
    while at < len(found):
        token = found[at]
        if token.kind != "G":
            result.append(token)
            at += 1
            continue
        members, end = [token.value], at + 1
        is_panel = _noun_before(found, at) == "P"
        joined_at, joined_members = end, [token.value]
        while True:
            nxt, joins, noun = end, False, ""
            while nxt < len(found) and (
                found[nxt].kind in (",", "+", "U", "K", "A", "P", "F", "N") or found[nxt].text in _THROUGH
            ):
                kind = found[nxt].kind
                if kind == "N" and found[nxt].text != "nor":
                    break
                if noun and kind in ("A", "P"):
                    break
                joins = joins or kind in ("+", "U", "K", "N", "W")
                if kind in ("A", "P"):
                    noun = kind
                nxt += 1
            if nxt >= len(found) or found[nxt].kind != "G" or ((noun == "P") != is_panel and noun):
                break
            if is_panel and not noun and joins is False and nxt == end:
                break
            joins = joins or [t.kind for t in found[end:nxt]] == ["A"]
            members.append(found[nxt].value)
            after_noun, end = bool(noun), nxt + 1
            if joins or not after_noun:
                joined_at, joined_members = end, list(members)
        numbers = frozenset(joined_members)
        values[len(result)] = numbers
        result.append(Token("G", joined_members[0] if len(numbers) == 1 else SEVERAL, token.word))
        at = joined_at
    return result, values


_THROUGH: Final = frozenset({"to", "through", "thru"})


def _noun_before(found: Sequence[Token], at: int) -> str:
    for token in reversed(found[max(0, at - 3) : at]):
        if token.kind in ("A", "P"):
            return token.kind
        if token.kind not in ("F", "C"):
            break
    return ""


def _clauses(found: list[Token]) -> Iterator[_Clause]:
    clause: list[Token] = []
    opener = ""
    for at, token in enumerate(found):
        kind = token.kind
        if kind in ("J", "T", "S", "R", "Z", "U", "K", ",", "(", ")", "-", "?", "+"):
            # "either 4 or 6", "maybe 4": what opens a clause is told to it, in the strongest of its words
            if clause:
                yield _Clause(opener, [*clause, Token("@", at)])
                opener, clause = "", []
            opener = (opener if kind in (",", "-", "?") else opener + ("R" if kind == "Z" else kind))[-6:]
            continue
        clause.append(token if kind != "G" else token._replace(text=str(at)))
    if clause or opener:
        yield _Clause(opener, [*clause, Token("@", len(found))])


def _turns_down(clause: _Clause) -> bool:
    """Whether a clause that names no choice speaks against the one before it: "but not correct"."""
    kinds = [token.kind for token in clause.tokens]
    if "O" in kinds or "J" in clause.opener or ("B" in kinds) == ("N" in kinds or "n" in kinds):
        return False
    if "T" in clause.opener:
        return True
    return kinds[0] in ("I", "C", "N", "B")


_AS_WELL: Final = frozenset({"also", "too", "equally", "another", "alternative"})


def _read_clause(
    clause: _Clause,
    number: int,
    clauses: Sequence[_Clause],
    values: dict[int, frozenset[int]],
    subject: str,
    said: list[Said],
) -> str:
    """Add what a clause says; returns its subject, for one that goes on ("the answer, I think, is 4")."""
    words = clause.tokens[:-1]
    opener = clause.opener
    places = [at for at, token in enumerate(words) if token.kind == "G"]
    begins = not words or words[0].kind != "C"
    subject = "" if begins else subject
    start = 0
    for nth, at in enumerate(places):
        end = places[nth + 1] if nth + 1 < len(places) else len(words)
        numbers = values.get(int(words[at].text), frozenset({words[at].value}))
        verdict = _verdict(
            words[start:at],
            words[at],
            words[at + 1 : end],
            end < len(words),
            opener,
            number,
            clauses,
            subject,
            start == 0,
        )
        if verdict is not None:
            force, described, boxed = verdict
            replaces = any(kind in opener for kind in "RST")
            offers = "U" in opener or any(t.text in _AS_WELL for t in words)
            if offers and force == SUPPOSED and not any(t.kind in "NnBED" for t in words):
                force = STATED
            if force <= SUPPOSED:
                said.extend(Said(value, force) for value in sorted(numbers))
            else:
                value = SEVERAL if len(numbers) > 1 else next(iter(numbers))
                said.append(Said(value, force, described, replaces, offers, boxed))
        start = at + 1
    return _subject(words) or subject


def _subject(words: Sequence[Token]) -> str:
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

_BEGINS: Final = frozenset({"start", "begin"})
"""Examinations that are words for a beginning too."""


def _verdict(
    before: Sequence[Token],
    number: Token,
    after: Sequence[Token],
    another: bool,
    opener: str,
    nth: int,
    clauses: Sequence[_Clause],
    subject: str,
    first: bool,
) -> tuple[int, bool, bool] | None:
    """How much a clause says of a number, whether it is described, and whether it is boxed; or None."""
    direct, link, rest = _tie(before)
    about = _subject(rest) or (subject if not rest else "")
    kinds = {token.kind for token in rest}
    after_kinds = [token.kind for token in after]
    ends = (
        not after
        or after_kinds[0] in ("D", "n")
        or after[0].text in ("for", "by")
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
    if not direct and not link and not _stands(before, after, opener, nth, clauses):
        if opposed and ends and all(t.kind in "NBFQI1AC" for t in before):
            return DENIED, False, False
        return _verdict_on_bare(before, after, ends, opener)
    if not direct and link and not ends and _on(after) is None:
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


def _stands(
    before: Sequence[Token], after: Sequence[Token], opener: str, nth: int, clauses: Sequence[_Clause]
) -> bool:
    """Whether a number stands alone in its clause, in a place where an answer does."""
    if after and not all(token.kind in "F" for token in after):
        return False
    if not all(token.kind in "FQYI" for token in before):
        return False
    if nth == 0 and not any(kind in opener for kind in "J"):
        return True
    return any(kind in opener for kind in "RSTU")


def _verdict_on_bare(
    before: Sequence[Token], after: Sequence[Token], ends: bool, opener: str
) -> tuple[int, bool, bool] | None:
    """Of a number without a word for a choice: "4 is the answer", "4 fits best", "only 4 remains"."""
    if not after or not all(token.kind in "FQ1YSI" for token in before):
        return None
    verdict = _on(after)
    if verdict == "bad" and after[0].kind in "CBN":
        return DENIED, False, False
    if (verdict == "right" and after[0].kind in "CY") or (verdict == "right" and after[0].text == "as"):
        return STATED, False, False
    if verdict == "fits" and after[0].kind in "YC1":
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
