"""New REL-C1 and REL-C3 records from whole universes of constitutional isomers."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple, get_args

from relfast.chem.hydrogens import two_hydrogens_apart
from relfast.chem.isomers import Progress, RingFilter, formula_of, hill, is_strained, isomers
from relfast.errors import RelfastError, UsageError
from relfast.tasks.generation import Slot, check_count, check_range, confirm, plan, stream
from relfast.tasks.rel_c import C1, C3
from relfast.tasks.rel_c.formulas import DEFAULT_FORMULAS
from relfast.tasks.rel_c.parameters import (
    IsomerSetParameters,
    MissingIsomersParameters,
    Odd,
    UniverseParameters,
)
from relfast.tasks.rel_c.questions import numbered

MAX_SIZE: Final = 1_000
"""Molecules in a question: 1,000 are 20 kB."""

MAX_TRIES: Final = 40
"""Isomers whose neighbours are looked at for a molecule that is as long as one of the question's."""

_C1_QUESTION: Final = """\
Is this list of molecules a set of *constitutional isomers* (same molecular formula, different connectivity)?

SMILES:
{molecules}

Return exactly one of:
<Yes>
or
<No>
No explanation."""

_C3_QUESTION: Final = """\
Given the following list of constitutional isomers, complete the set by \
identifying the missing constitutional isomers.

Given SMILES:
{molecules}

Return the missing molecules as SMILES, one per line, each wrapped exactly like:
<smiles>YOUR_SMILES_HERE</smiles>
No explanation."""


class _Universes(NamedTuple):
    """Universes within the bounds, by formula, and what else decides a record."""

    of: dict[str, tuple[str, ...]]
    key: tuple[object, ...]

    def larger_than(self, size: int, sizes_name: str) -> list[str]:
        found = [formula for formula, universe in self.of.items() if len(universe) > size]
        if not found:
            largest = max(map(len, self.of.values()))
            raise UsageError(f"{sizes_name} {size}: the largest universe has {largest} isomers")
        return found


def _universes(asked: UniverseParameters, progress: Progress | None) -> _Universes:
    low, high = asked.universe_min, asked.universe_max
    check_range("universe_min", low, 2, 10**7)
    check_range("universe_max", high, low, 10**7)
    found = {}
    for formula in dict.fromkeys(map(hill, asked.formulas or DEFAULT_FORMULAS)):
        universe = isomers(formula, asked.keep, progress)
        if low <= len(universe) <= high:
            found[formula] = universe
        elif asked.formulas:
            raise UsageError(
                f"{formula} has {len(universe):,} isomers, not {low:,} to {high:,}"
                " (universe_min, universe_max)"
            )
    if not found:
        raise UsageError(f"no formula has {low:,} to {high:,} isomers")
    return _Universes(found, (*found, asked.keep))


def _check_sizes(name: str, sizes: Sequence[int], least: int) -> None:
    if not sizes:
        raise UsageError(f"{name} must name at least one size")
    for size in sizes:
        check_range(name, size, least, MAX_SIZE)


def isomer_sets(
    n: int, seed: int, asked: IsomerSetParameters, progress: Progress | None = None
) -> Iterator[dict[str, Any]]:
    """Records of REL-C1: all molecules of one formula (yes), or all but one (no).

    Parameters
    ----------
    n, seed
        Number of records and seed (a non-negative integer).
    asked
        What they are made with.
    progress
        Told about enumerations that are not cached.

    Raises
    ------
    UsageError
        A parameter is out of range, or no formula has enough isomers.
    """
    check_count(n, seed)
    _check_sizes("sizes", asked.sizes, 2)
    check_range("yes_fraction", asked.yes_fraction, 0.0, 1.0)
    if asked.odd not in get_args(Odd):
        raise UsageError(f"odd: {' or '.join(get_args(Odd))}, not {asked.odd!r}")
    universes = _universes(asked, progress)
    if asked.odd == "any" and asked.yes_fraction < 1 and len(universes.of) < 2:
        raise UsageError("a no record needs a molecule of another formula: name at least two formulas")
    for size in asked.sizes:
        universes.larger_than(size - 1, "sizes")
    return (_isomer_set(slot, seed, universes, asked) for slot in plan(n, asked.yes_fraction, asked.sizes))


def _isomer_set(slot: Slot, seed: int, universes: _Universes, asked: IsomerSetParameters) -> dict[str, Any]:
    numbers = stream("REL-C1", seed, *slot, *universes.key)
    formula = numbers.choice(universes.larger_than(slot.size - 1, "sizes"))
    if slot.yes:
        molecules = numbers.sample(universes.of[formula], slot.size)
        metadata = {"formula": formula}
    elif asked.odd == "near":
        molecules = numbers.sample(universes.of[formula], slot.size)
        place, odd = _near_molecule(numbers, molecules, universes.of[formula], asked.keep)
        molecules[place] = odd
        metadata = {"base_formula": formula, "odd_formula": formula_of(odd)}
    else:
        other = numbers.choice([f for f in universes.of if f != formula])
        molecules = numbers.sample(universes.of[formula], slot.size - 1)
        molecules.insert(numbers.randrange(slot.size), numbers.choice(universes.of[other]))
        metadata = {"base_formula": formula, "odd_formula": other}
    label = "Yes" if slot.yes else "No"
    _check_label(label, molecules)
    record = {
        "id": f"q2_n{slot.size}_s{seed}_{slot.place:05d}",
        "domain": "chemistry",
        "task": "REL-C1",
        "question": _C1_QUESTION.format(molecules=numbered(molecules)),
        "answer": {"molecules": molecules, "label": label},
        "metadata": metadata | {"constructed_label": label, "original_task": "q2_isomer_set_yes_no"},
    }
    return confirm(C1, record, f"<{label}>")


def _near_molecule(
    numbers: random.Random, molecules: Sequence[str], universe: Sequence[str], keep: RingFilter
) -> tuple[int, str]:
    """A place in the list and the odd molecule for it, as long as the isomer there: no length tells it."""
    place = numbers.randrange(len(molecules))
    nearest: list[str] = []
    for _ in range(MAX_TRIES):
        at = numbers.randrange(len(molecules))
        found = [
            smiles
            for smiles in two_hydrogens_apart(numbers.choice(universe))
            if keep == "all" or not is_strained(smiles)
        ]
        as_long = [smiles for smiles in found if len(smiles) == len(molecules[at])]
        if as_long:
            return at, numbers.choice(as_long)
        nearest += found
    if not nearest:
        raise UsageError(f"no molecule is two hydrogens apart from {molecules[0]}")
    length = len(molecules[place])
    return place, min(nearest, key=lambda smiles: (abs(len(smiles) - length), smiles))


def _check_label(label: str, molecules: Sequence[str]) -> None:
    """Hold a label against the molecules themselves, formulas counted anew."""
    alike = len({formula_of(smiles) for smiles in molecules}) == 1
    if len(set(molecules)) != len(molecules) or alike != (label == "Yes"):
        raise RelfastError(f"REL-C1: label {label} does not fit {', '.join(molecules)}")


def missing_isomers(
    n: int, seed: int, asked: MissingIsomersParameters, progress: Progress | None = None
) -> Iterator[dict[str, Any]]:
    """Records of REL-C3: some isomers of a formula are given, all others are gold.

    Parameters and what is raised are those of `isomer_sets`.
    """
    check_count(n, seed)
    _check_sizes("given", asked.given, 1)
    universes = _universes(asked, progress)
    for size in asked.given:
        universes.larger_than(size, "given")
    return (_missing_isomers(slot, seed, universes) for slot in plan(n, 0.0, asked.given))


def _missing_isomers(slot: Slot, seed: int, universes: _Universes) -> dict[str, Any]:
    numbers = stream("REL-C3", seed, slot.place, slot.size, *universes.key)
    formula = numbers.choice(universes.larger_than(slot.size, "given"))
    universe = universes.of[formula]
    molecules = numbers.sample(universe, slot.size)
    shown = set(molecules)
    missing = [smiles for smiles in universe if smiles not in shown]
    record = {
        "id": f"q3_given{slot.size}_s{seed}_{slot.place:05d}",
        "domain": "chemistry",
        "task": "REL-C3",
        "question": _C3_QUESTION.format(molecules=numbered(molecules)),
        "answer": {"molecules": molecules, "missing_smiles": missing},
        "metadata": {
            "formula": formula,
            "universe_size": len(universe),
            "given_size": slot.size,
            "original_task": "q3_missing_isomers",
        },
    }
    return confirm(C3, record, "\n".join(f"<smiles>{smiles}</smiles>" for smiles in missing))
