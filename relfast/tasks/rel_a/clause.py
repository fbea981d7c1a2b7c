"""The clauses of a sentence: where one begins and ends, what it is about, which numbers it speaks of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from relfast.tasks.rel_a.said import SEVERAL, STATED, SUPPOSED, Said
from relfast.tasks.rel_a.verdict import Clause, subject_of, verdict_on
from relfast.tasks.rel_a.words import Token


def clauses(found: list[Token]) -> Iterator[Clause]:
    """The words of a sentence cut where a clause begins; a number's text is its place among them."""
    clause: list[Token] = []
    opener = ""
    for at, token in enumerate(found):
        kind = token.kind
        if kind in ("J", "T", "S", "R", "Z", "U", "K", ",", "(", ")", "-", "?", "+"):
            # "either 4 or 6", "maybe 4": what opens a clause is told to it, in the strongest of its words
            if clause:
                yield Clause(opener, [*clause, Token("@", at)])
                opener, clause = "", []
            opener = (opener if kind in (",", "-", "?") else opener + ("R" if kind == "Z" else kind))[-6:]
            continue
        clause.append(token if kind != "G" else token._replace(text=str(at)))
    if clause or opener:
        yield Clause(opener, [*clause, Token("@", len(found))])


def turns_down(clause: Clause) -> bool:
    """Whether a clause that names no choice speaks against the one before it: "but not correct"."""
    kinds = [token.kind for token in clause.tokens]
    if "O" in kinds or "J" in clause.opener or ("B" in kinds) == ("N" in kinds or "n" in kinds):
        return False
    if "T" in clause.opener:
        return True
    return kinds[0] in ("I", "C", "N", "B")


_AS_WELL: Final = frozenset({"also", "too", "equally", "another", "alternative"})


def read_clause(
    clause: Clause,
    number: int,
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
        found = verdict_on(
            words[start:at],
            words[at],
            words[at + 1 : end],
            end < len(words),
            opener,
            number,
            subject,
            start == 0,
        )
        if found is not None:
            force, described, boxed = found
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
    return subject_of(words) or subject
