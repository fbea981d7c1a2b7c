"""The kernels of REL-C against RDKit, without end: parse, identity, containment, overlap.

    python tests/fuzz_chemistry.py MINUTES [--seed SEED] [--pairs N] [--first PAIR] [--undecided FILE]

Every pair of texts is read by both, atom for atom; compared as the published scorers and as ``strict`` do, both
ways; and searched for its largest common substructure. What only RDKit can say, what takes the kernel too many
steps and what RDKit's own clock cuts short are counted, not compared. Each difference is printed with the seed of
its pair, and the exit status is 1 if there was one. A pair depends on the seed and its number only: ``--first``
goes on where a run has stopped, and ``--undecided`` keeps the pairs that are not compared, with the reason. One
process; `make fuzz` runs the tests of the same kind.
"""

from __future__ import annotations

import argparse
import json
import random
import secrets
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial

import aromatics
from kernel_reading import check, mutations
from molecule_pairs import FUSED, PAIR_KINDS, molecules, odd_pair, pair_of
from rdkit import Chem, RDLogger
from rdkit.Chem import rdFMCS
from relfast_kernels.compiled import native
from spellings import spell

from relfast.chem import common_substructure, smiles_table
from relfast.chem.clean import parse_clean, same_clean_molecule
from relfast.chem.common_substructure import MAX_STEPS, Pair, Prepared, judge, largest_common, prepared
from relfast.chem.matching import same_molecule, shared_part
from relfast.chem.molecule import parse
from relfast.chem.smiles_table import SmilesTable

RDKIT_SECONDS = 2
"""Time for RDKit's search; what it does not finish is compared one way only."""

REPORT_SECONDS = 300.0


def texts(rng: random.Random) -> tuple[str, str, str]:
    """A pair worth comparing, and its kind: relatives, respellings, cages, polymers, aromatic rings, ions, and
    broken text."""
    chance = rng.random()
    if chance < 0.45:
        number = rng.randrange(len(PAIR_KINDS))
        kind = PAIR_KINDS[number]
        one, other = pair_of(number, rng)
    elif chance < 0.6:
        kind = "charges, radicals, isotopes, fragments"
        one, other = odd_pair(rng)
    elif chance < 0.75:
        kind = "aromatic rings"
        one = aromatics.relative(rng, list(rng.choice((aromatics.PIECES, FUSED))))
        other = one if rng.random() < 0.4 else aromatics.relative(rng, list(aromatics.PIECES))
    else:
        kind = "one molecule, respelled"
        one = rng.choice(molecules())
        other = spell(one, rng)
    if rng.random() < 0.15:
        kind = "broken text"
        other = mutations(rng, other)
    elif rng.random() < 0.5 and Chem.MolFromSmiles(other) is not None:
        other = spell(other, rng)
    return (kind, one, other) if rng.random() < 0.5 else (kind, other, one)


def differences(
    table: SmilesTable, one: str, other: str, seen: Counter[str], undecided: Callable[[str], None]
) -> Iterator[str]:
    """What the kernels say of a pair and RDKit does not; ``undecided`` is told why an overlap is not compared."""
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
        is_read = all(isinstance(prepared(text), Prepared) for text in (one, other))
        reason = "overlap: too many steps" if is_read else "overlap: read by RDKit only"
        seen[reason] += 1
        undecided(reason)
        return
    result = rdFMCS.FindMCS([theirs.mol, ours.mol], timeout=RDKIT_SECONDS)
    limit = result.numBonds, result.numAtoms
    if result.canceled:
        seen["overlap: RDKit's search was cut short"] += 1
        undecided("overlap: RDKit's search was cut short")
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


def keep(path: str | None, pair: str, one: str, other: str, reason: str) -> None:
    """Add a pair that is not compared to a file, as a line of JSON."""
    if path is not None:
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps({"pair": pair, "first": one, "second": other, "why": reason}) + "\n")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("minutes", type=float)
    parser.add_argument("--seed", default=secrets.token_hex(4))
    parser.add_argument("--pairs", type=int, default=sys.maxsize, help="stop after so many pairs")
    parser.add_argument("--first", type=int, default=0, help="the pair to begin with")
    parser.add_argument("--undecided", help="a file to add the pairs to that are not compared")
    asked = parser.parse_args(arguments)
    for unit in (smiles_table.UNIT, common_substructure.UNIT):
        if native.load(unit) is None:
            native.build(unit)
    table = smiles_table.simple_table()
    assert table is not None
    seen: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    end, told = time.monotonic() + 60 * asked.minutes, time.monotonic()
    while time.monotonic() < end and seen["pairs"] < asked.pairs:
        here = f"{asked.seed}-{asked.first + seen['pairs']}"
        kind, one, other = texts(random.Random(here))
        RDLogger.DisableLog("rdApp.*")  # what was blocked for a while is heard again afterwards
        seen["pairs"] += 1
        kinds[kind] += 1
        for difference in differences(
            table, one, other, seen, partial(keep, asked.undecided, here, one, other)
        ):
            seen["differences"] += 1
            print(f"{here} ({kind}): {one!r} {other!r} {difference}", flush=True)
        if time.monotonic() - told > REPORT_SECONDS:
            told = time.monotonic()
            print(dict(seen), flush=True)
    print(f"kinds of pairs: {dict(kinds)}")
    print(
        f"seed {asked.seed}, goes on with --first {asked.first + seen['pairs']}: {dict(seen)};"
        f" {seen['differences']} differences"
    )
    return 1 if seen["differences"] else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
