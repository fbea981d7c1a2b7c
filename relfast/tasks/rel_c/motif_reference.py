"""REL-C2 as published, and remembered: what a pair (gold, response) is worth is found out once.

Looked up in this order: the pair of texts; the pair of canonical codes, for molecules that a kernel can read;
and, when the toolkit has to search for a maximum common substructure, the pair of canonical SMILES.
"""

from __future__ import annotations

from functools import lru_cache
from struct import Struct
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

from relfast.memo import memo
from relfast.records import Extracted, Options, Outcome

if TYPE_CHECKING:
    from relfast.chem.simple import SmilesTable

_RIGHT: Final = 1
"""The vote of every response that names the motif, however it is written."""

_OUTCOME: Final = Struct("<dIB")
_COMMON: Final = Struct("<I")

CACHED_CODES: Final = 20_000
"""Distinct SMILES whose code is kept, 200 bytes each."""


def metrics_of(in_gold: bool, in_response: bool, overlap: float) -> dict[str, Any]:
    """The published measures by name."""
    return {
        "response_is_substructure_of_correct": in_gold,
        "correct_is_substructure_of_response": in_response,
        "overlap_metric": overlap,
    }


def recall(gold: Any, extracted: Extracted, options: Options) -> Outcome | None:
    """The outcome of a pair, if it can be had without the toolkit."""
    response = extracted.value
    if not isinstance(gold, str) or not isinstance(response, str):
        return None
    value = memo().get(_by_text(gold, response, options))
    if value is not None:
        return _unpack(value)
    codes = _codes(gold, response)
    if codes is None:
        return None
    if codes[0] == codes[1]:
        return Outcome(True, metrics_of(True, True, 1.0), vote=_RIGHT)
    value = memo().get(_by_code(codes, options))
    return None if value is None else _unpack(value)


def judge(gold: Any, extracted: Extracted, options: Options) -> Outcome:
    """The outcome of a pair."""
    response = extracted.value
    pair = (gold, response) if isinstance(gold, str) and isinstance(response, str) else None
    if pair is not None:
        # a record just before this one may have had the same pair
        value = memo().get_near(_by_text(*pair, options))
        if value is not None:
            return _unpack(value)
    outcome = _judge(gold, extracted, options)
    # how far a search that was cut short came depends on the machine's load: not for others to repeat
    if pair is not None and isinstance(outcome.vote, int) and "mcs_canceled" not in outcome.metrics:
        in_gold, in_response, overlap = outcome.metrics.values()
        value = _OUTCOME.pack(overlap, outcome.vote, outcome.correct | in_gold << 1 | in_response << 2)
        memo().put(_by_text(*pair, options), value)
        codes = _codes(*pair)
        if codes is not None:
            memo().put(_by_code(codes, options), value)
    return outcome


def _judge(gold: Any, extracted: Extracted, options: Options) -> Outcome:
    from relfast.chem.matching import contains, same_molecule
    from relfast.chem.mcs import common_substructure
    from relfast.chem.molecule import parse

    ours, theirs = parse(extracted.value), parse(gold)
    if ours is None or theirs is None:
        vote = _vote(extracted.value) if extracted.found else None
        return Outcome(False, metrics_of(False, False, 0.0), vote=vote)
    correct = same_molecule(ours, theirs)
    vote = _RIGHT if correct else _vote(ours.key)
    in_gold, in_response = contains(theirs, ours), contains(ours, theirs)
    heavy = (ours.heavy_atoms, theirs.heavy_atoms)
    canceled = False
    if in_gold or in_response:
        common = min(heavy)
    else:
        # the search depends on the graphs alone: 858 pairs in four spellings each had one result each
        known = f"REL-C2 common {theirs.key} {ours.key}".encode()
        value = memo().get(known)
        if value is not None:
            (common,) = _COMMON.unpack_from(value)
        else:
            common, canceled = common_substructure(ours, theirs, options.mcs_timeout)
            if not canceled:
                memo().put(known, _COMMON.pack(common))
    metrics = metrics_of(in_gold, in_response, common / max(heavy) if max(heavy) else 0.0)
    if canceled:
        metrics["mcs_canceled"] = True
    return Outcome(correct, metrics, vote=vote)


def _by_text(gold: str, response: str, options: Options) -> bytes:
    text = f"REL-C2 texts {options.mcs_timeout} {len(gold)} {gold}{response}"
    return text.encode("utf-8", "surrogatepass")


def _by_code(codes: tuple[bytes, bytes], options: Options) -> bytes:
    return b"REL-C2 codes %d %d %b%b" % (options.mcs_timeout, len(codes[0]), *codes)


def _codes(gold: str, response: str) -> tuple[bytes, bytes] | None:
    from relfast.chem.simple import simple_table

    table = simple_table()
    if table is None:
        return None
    gold_code = _code_of(table, gold)
    code = None if gold_code is None else _code_of(table, response)
    return None if gold_code is None or code is None else (gold_code, code)


@lru_cache(maxsize=CACHED_CODES)
def _code_of(table: SmilesTable, smiles: str) -> bytes | None:
    return table.code_of(smiles, by_toolkit=False)


def _unpack(value: bytes) -> Outcome:
    overlap, vote, bits = _OUTCOME.unpack_from(value)
    return Outcome(bool(bits & 1), metrics_of(bool(bits & 2), bool(bits & 4), overlap), vote=vote)


def _vote(text: str) -> int:
    return max(_RIGHT + 1, crc32(text.encode("utf-8", "surrogatepass")))
