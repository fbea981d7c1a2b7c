"""The numbers of a sentence: which of its tokens are numbers of choices, and which are listed together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from relfast.tasks.rel_a.said import SEVERAL
from relfast.tasks.rel_a.words import Token


def plain_numbers(found: list[Token]) -> list[Token]:
    """The tokens, with what only looks like a number or a denial of one read for what it is."""
    return _dashes_tie(_without_brackets(_sizes(_nos(found))))


def grouped_numbers(found: list[Token]) -> tuple[list[Token], dict[int, frozenset[int]]]:
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


_GIVES_REASON: Final = frozenset({"for", "by", "as"})
_THROUGH: Final = frozenset({"to", "through", "thru"})


def _noun_before(found: Sequence[Token], at: int) -> str:
    for token in reversed(found[max(0, at - 3) : at]):
        if token.kind in ("A", "P"):
            return token.kind
        if token.kind not in ("F", "C"):
            break
    return ""


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


def _sizes(found: list[Token]) -> list[Token]:
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


def _without_brackets(found: list[Token]) -> list[Token]:
    """Brackets that hold nothing but a tied number go: "the answer is (4)", "Answer (4)", "(3) or (4)"."""
    result: list[Token] = []
    tied = False  # such brackets came last, with nothing behind them but what lists their number with others
    items = _bracketed_items(found)
    at = 0
    while at < len(found):
        token = found[at]
        noun = result[-1].kind == "A" if result else False
        if token.kind == "(" and _kind_at(found, at + 1) == "G":
            behind, before = _kind_at(found, at + 3), _kind_at(result, len(result) - 1)
            if _kind_at(found, at + 2) == ")" and (
                noun
                or tied
                or (not items and _goes_on(found, at + 3) and _ties(result))
                or (behind in _JUDGES and before in _BEFORE_SUBJECT)
                or (
                    before == ","
                    and (behind in _WRONG or (behind == "C" and _kind_at(found, at + 4) in _JUDGED))
                )
            ):
                result.append(found[at + 1])
                tied = True
                at += 3
                continue
            if noun:
                at += 1
                continue
        tied = tied and token.kind in _BETWEEN_BRACKETS
        result.append(token)
        at += 1
    return result


_BEHIND_BRACKETS: Final = frozenset(["", *"JTSRUK,()-?+CDNnYB"])
"""What may follow a number in brackets that a verb ties; a word makes it an item: "are: (1) a circle"."""
_BEFORE_BRACKETS: Final = frozenset("ACLmNnE")
_JUDGES: Final = frozenset("CBNYEm")
"""What follows the subject of a clause: "because (2) breaks the rule"."""
_WRONG: Final = frozenset("BN")
_JUDGED: Final = frozenset("QBN")
_BEFORE_SUBJECT: Final = frozenset("WJKTSRUFXQYPIMDNnBEO1")
_BETWEEN_BRACKETS: Final = frozenset(",+UKA")


def _kind_at(found: Sequence[Token], at: int) -> str:
    return found[at].kind if 0 <= at < len(found) else ""


def _goes_on(found: Sequence[Token], at: int) -> bool:
    """Whether what stands behind a number in brackets does not make it the number of an item."""
    while _kind_at(found, at) == "F":
        at += 1
    return _kind_at(found, at) in _BEHIND_BRACKETS or found[at].text in _GIVES_REASON


def _ties(before: Sequence[Token]) -> bool:
    """Whether what stands before a bracket ties what is in it: "is", ":", "I choose", "not", "Answer -"."""
    at = len(before)
    while at and before[at - 1].kind == "F":
        at -= 1
    if not at:
        return False
    if before[at - 1].kind == "-":
        return at == len(before) and at > 1 and before[at - 2].kind in ("A", "P")
    return before[at - 1].kind in _BEFORE_BRACKETS


_TOLD: Final = frozenset("C-YB")


def _bracketed_items(found: Sequence[Token]) -> bool:
    """Whether several numbers in brackets are told about: "(1): a circle, (2): a square"."""
    told = [
        at
        for at, token in enumerate(found)
        if token.kind == "("
        and [t.kind for t in found[at + 1 : at + 3]] == ["G", ")"]
        and _kind_at(found, at + 3) in _TOLD
    ]
    return len(told) > 1


def _dashes_tie(found: list[Token]) -> list[Token]:
    """The dash of "Answer - 4" is a colon, and the comma of "Answer, 4"."""
    if len(found) == 3 and found[0].kind == "A" and found[1].kind == "," and found[2].kind == "G":
        return [found[0], Token("C", text=":"), found[2]]
    return [
        Token("C", text="-")
        if token.kind == "-"
        and 0 < at < len(found) - 1
        and found[at - 1].kind in ("A", "P")
        and (found[at + 1].kind in ("G", "A"))
        else token
        for at, token in enumerate(found)
    ]
