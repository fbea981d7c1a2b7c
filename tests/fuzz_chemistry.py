"""The kernels of REL-C against RDKit, without end: parse, identity, containment, overlap.

    python tests/fuzz_chemistry.py MINUTES [SEED]

Every pair of texts is read by both, atom for atom; compared as the published scorers and as ``strict`` do, both
ways; and searched for its largest common substructure. What only RDKit can say, what takes the kernel too many
steps and what RDKit's own clock cuts short are counted, not compared. Each difference is printed with the seed of
its pair, and the exit status is 1 if there was one. One process; `make fuzz` runs the tests of the same kind.
"""

from __future__ import annotations

import random
import secrets
import sys
import time
from collections import Counter
from collections.abc import Iterator

import aromatics
from kernel_reading import check, mutations
from molecule_pairs import FUSED, molecules, odd_pair, pair
from rdkit import Chem, RDLogger
from rdkit.Chem import rdFMCS
from relfast_kernels.compiled import native
from spellings import spell

from relfast.chem import common_substructure, simple
from relfast.chem.clean import parse_clean, same_clean_molecule
from relfast.chem.common_substructure import MAX_STEPS, Pair, Prepared, judge, largest_common, prepared
from relfast.chem.matching import same_molecule
from relfast.chem.molecule import parse
from relfast.chem.shared_part import shared_part
from relfast.chem.smiles_table import SmilesTable

RDKIT_SECONDS = 2
"""Time for RDKit's search; what it does not finish is compared one way only."""

REPORT_SECONDS = 300.0


def texts(rng: random.Random) -> tuple[str, str]:
    """A pair worth comparing: relatives, respellings, cages, aromatic rings, ions, and broken text."""
    kind = rng.random()
    if kind < 0.45:
        one, other = pair(rng)
    elif kind < 0.6:
        one, other = odd_pair(rng)
    elif kind < 0.75:
        one = aromatics.relative(rng, list(rng.choice((aromatics.PIECES, FUSED))))
        other = one if rng.random() < 0.4 else aromatics.relative(rng, list(aromatics.PIECES))
    else:
        one = rng.choice(molecules())
        other = spell(one, rng)
    if rng.random() < 0.15:
        other = mutations(rng, other)
    elif rng.random() < 0.5 and Chem.MolFromSmiles(other) is not None:
        other = spell(other, rng)
    return (one, other) if rng.random() < 0.5 else (other, one)


def differences(table: SmilesTable, one: str, other: str, seen: Counter[str]) -> Iterator[str]:
    """What the kernels say of a pair and RDKit does not."""
    for text in (one, other):
        try:
            seen["texts read"] += check(table, text)
        except AssertionError as error:
            yield f"parse: {error}"
        seen["texts"] += 1
    ours, theirs = parse(other), parse(one)
    yield from _identity(table, one, other, seen)
    if ours is None or theirs is None:
        return
    gold = prepared(one)
    compared = judge(gold, other, whole_rings=True, steps=MAX_STEPS) if isinstance(gold, Prepared) else None
    if isinstance(compared, Pair):
        seen["contained or not"] += 1
        found = compared.in_first, compared.in_second
        expected = theirs.mol.HasSubstructMatch(ours.mol), ours.mol.HasSubstructMatch(theirs.mol)
        if found != expected:
            yield f"containment: {found}, not {expected}"
        if found != (True, True) and "." not in one + other and compared.part != shared_part(theirs, ours):
            yield f"part: {compared.part}"
    elif compared == "invalid":
        yield "invalid, for RDKit it is none"
    best = largest_common(one, other)
    if best is None:
        seen["overlap left to RDKit"] += 1
        return
    result = rdFMCS.FindMCS([theirs.mol, ours.mol], timeout=RDKIT_SECONDS)
    limit = result.numBonds, result.numAtoms
    if result.canceled:
        seen["RDKit's search was cut short"] += 1
        if best < limit:
            yield f"overlap: {tuple(best)}, less than {limit}"
    else:
        seen["overlaps"] += 1
        if best != limit:
            yield f"overlap: {tuple(best)}, not {limit}"


def _identity(table: SmilesTable, one: str, other: str, seen: Counter[str]) -> Iterator[str]:
    """Whether two texts are one molecule, as published and as ``strict`` has it."""
    match = table.match([([one], [other])])[0]
    ours, theirs = parse(other), parse(one)
    if not match.unknown:
        seen["identities"] += 1
        same = ours is not None and theirs is not None and same_molecule(ours, theirs)
        if bool(match.true_positives) != same:
            yield f"identity: {bool(match.true_positives)}"
    (verdict,) = table.judge([([one], [other], ())])
    if verdict is not None:
        seen["strict identities"] += 1
        gold, flaw = parse_clean(one)
        if gold is None:
            yield f"strict: gold is unclean ({flaw})"
            return
        named, flaw = parse_clean(other)
        if verdict.flaw != flaw:
            yield f"strict: {verdict.flaw}, not {flaw}"
        same = named is not None and same_clean_molecule(named, gold, "apart")
        if bool(verdict.n_right) != same:
            yield f"strict identity: {bool(verdict.n_right)}"


def main(minutes: float, seed: str) -> int:
    for unit in (simple.UNIT, common_substructure.UNIT):
        if native.load(unit) is None:
            native.build(unit)
    table = simple.simple_table()
    assert table is not None
    seen: Counter[str] = Counter()
    end, told = time.monotonic() + 60 * minutes, time.monotonic()
    while time.monotonic() < end:
        here = f"{seed}-{seen['pairs']}"
        one, other = texts(random.Random(here))
        RDLogger.DisableLog("rdApp.*")  # what was blocked for a while is heard again afterwards
        seen["pairs"] += 1
        for difference in differences(table, one, other, seen):
            seen["differences"] += 1
            print(f"{here}: {one!r} {other!r} {difference}", flush=True)
        if time.monotonic() - told > REPORT_SECONDS:
            told = time.monotonic()
            print(dict(seen), flush=True)
    print(f"seed {seed}: {dict(seen)}")
    return 1 if seen["differences"] else 0


if __name__ == "__main__":
    raise SystemExit(main(float(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else secrets.token_hex(4)))
