"""What gold's taxa are under ``strict``: names in the question, or places in the sorted list of names.

The published generator writes places, while its question shows names and asks for the taxa; ours writes
names. A record decides once, by itself and never by a response: what can only be one of the two is that;
where both fit, the alignment shows which reading joins taxa that share motifs. Without an alignment, or
where it does not tell, gold is as it is written. ``answer.taxa_as`` settles it for a record that has it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

_PREFIX: Final = re.compile(r"^tax(?:on|a)[\s_#:-]*", re.IGNORECASE)
_FASTA: Final = re.compile(r"^[ \t]*>[ \t]*(\S+)[^\n]*\n[ \t]*([A-Za-z-]+)[ \t]*$", re.MULTILINE)

WINDOW: Final = 4
"""Columns of a shared stretch; motifs are as long or longer."""

MARGIN: Final = 2.0
"""By how much the evidence for places must exceed nothing and that for names; see `_evidence`."""


def plain_name(taxon: object) -> str:
    """``taxon_015``, ``15`` and 15 are one taxon under strict; the published scorer compares texts."""
    if type(taxon) is int and taxon >= 0:
        return str(taxon)
    text = taxon if type(taxon) is str else str(taxon)
    return _known_name(text) if len(text) <= _SHORT else _plain(text)


def _plain(text: str) -> str:
    name = _PREFIX.sub("", text).lower()
    return (name.lstrip("0") or "0") if name.isascii() and name.isdigit() else name


_SHORT: Final = 32
_known_name: Final = lru_cache(maxsize=1 << 12)(_plain)


def gold_names(taxa: Sequence[object], question: object, taxa_as: object = None) -> frozenset[str]:
    """Gold's taxa as the names that a right answer lists.

    Parameters
    ----------
    taxa, taxa_as
        Gold's; ``taxa_as`` is ``name`` or ``index`` where a record says itself what they are.
    question
        The question's text, if it is known.
    """
    written = tuple(map(plain_name, taxa))
    if not isinstance(question, str) or ">" not in question:
        return frozenset(written)
    return _named(written, question, taxa_as if isinstance(taxa_as, str) else None)


@lru_cache(maxsize=512)
def _named(written: tuple[str, ...], question: str, taxa_as: str | None) -> frozenset[str]:
    """Found out once for all rollouts of a question, which takes 15 kB."""
    as_written = frozenset(written)
    if taxa_as == "name" or not all(name.isdigit() and len(name) < 10 for name in written):
        return as_written
    shown = _FASTA.findall(question)
    rows = {plain_name(name): sequence.upper() for name, sequence in shown}
    order = sorted(name for name, _ in shown)
    if len(rows) != len(shown) or any(int(place) >= len(order) for place in written):
        return as_written
    by_place = frozenset(plain_name(order[int(place)]) for place in written)
    if taxa_as == "index" or not all(name in rows for name in written):
        return by_place
    if by_place == as_written:
        return as_written
    here, there = _evidence(as_written, rows), _evidence(by_place, rows)
    return by_place if there >= MARGIN and there >= here + MARGIN else as_written


def _evidence(taxa: frozenset[str], rows: Mapping[str, str]) -> float:
    """How much more often all taxa share `WINDOW` columns in a row than their likeness lets expect.

    Log likelihood ratio of the number seen to the number expected, as if stretches were independent: close
    relatives share many, but no more than their likeness says; 5 blocks of 5 columns in two taxa
    give 10 or more.
    """
    columns = bytes(
        len(set(column)) == 1 and column[0] != "-" for column in zip(*(rows[t] for t in taxa), strict=False)
    )
    windows = len(columns) - WINDOW + 1
    if windows < 1:
        return 0.0
    run = b"\1" * WINDOW
    seen, at = 0, columns.find(run)
    while at >= 0:
        seen += 1
        at = columns.find(run, at + 1)
    expected = windows * (sum(columns) / len(columns)) ** WINDOW
    return seen * math.log(seen / expected) - (seen - expected) if seen > expected else 0.0
