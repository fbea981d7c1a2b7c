"""Generate REL-C1, C2 and C3 records: `isomer_sets`, `common_motifs` and `missing_isomers`."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from relfast.chem.bank import Bank, load_bank
from relfast.chem.isomers import (
    Progress,
    RingFilter,
    formula_of,
    hill,
    is_strained,
    isomers,
    two_hydrogens_apart,
)
from relfast.chem.molecule import Molecule
from relfast.chem.motif import Motif, largest_motif
from relfast.errors import RelfastError, UsageError
from relfast.parameters import declared
from relfast.tasks import get_task
from relfast.tasks.generation import Slot, check_count, plan, record_of, stream
from relfast.tasks.rel_c import C1, C2, C3
from relfast.tasks.rel_c.parameters import (
    IsomerSetParameters,
    MissingIsomersParameters,
    MotifParameters,
    UniverseParameters,
)


def generate(
    task: str, n: int, seed: int, *, tell: Callable[[str], None] | None = None, **parameters: Any
) -> Iterator[dict[str, Any]]:
    """Records of REL-C1 or C3 (`isomer_sets`, `missing_isomers`) or of REL-C2 (`common_motifs`).

    ``parameters`` are the fields of the task's dataclass in `relfast.tasks.rel_c.parameters`. ``tell`` is
    called with the progress of isomer enumerations that are not cached.

    Raises
    ------
    UsageError
        A parameter is out of range, or no record can be made with it.
    """
    check_count(n, seed)
    name = get_task(task).name
    if name == "REL-C2":
        return common_motifs(n, seed, declared(MotifParameters, parameters))

    def progress(formula: str, found: int) -> None:
        if tell is not None:
            tell(f"isomers of {formula}: {found:,} found (kept for the next time)")

    if name == "REL-C1":
        return isomer_sets(n, seed, declared(IsomerSetParameters, parameters), progress)
    return missing_isomers(n, seed, declared(MissingIsomersParameters, parameters), progress)


# Shared by the questions of REL-C.


def numbered(molecules: Iterable[str]) -> str:
    """The numbered list of molecules in the published questions: ``1. CCO`` and so on."""
    return "\n".join(f"{i}. {smiles}" for i, smiles in enumerate(molecules, 1))


# The formulas that REL-C1 and C3 use by default.


_TEXT: Final = """
C3H3N C3H5N C3H7N C3H2N2 C3H8N2 C3H10N2 C3H11N3 C4H3N C4H7N C4H9N C4H11N C4H12N2 C5H11N C5H13N
C5H14N2 C3H2O C3H4O C3H6O C3H2O2 C3H4O2 C3H6O2 C3H8O2 C3H2O3 C3H8O3 C4H2O C4H4O C4H6O C4H8O
C4H10O2 C4H10O3 C5H10O C5H12O C5H12O2 C3H2S C3H4S C3H6S C3H2S2 C3H4S2 C3H6S2 C3H8S2 C3H2S3
C3H8S3 C4H2S C4H4S C4H6S C4H8S C4H10S2 C4H10S3 C5H10S C5H12S C5H12S2 C3H3F3 C4H3F C4H5F C4H7F
C4H2F2 C4H4F2 C4H6F2 C4H8F2 C4H3F3 C4H5F3 C4H7F3 C5H3F C5H7F C5H9F C5H11F C5H8F2 C5H10F2 C5H9F3
C3H3Cl3 C4H3Cl C4H5Cl C4H7Cl C4H2Cl2 C4H4Cl2 C4H6Cl2 C4H8Cl2 C4H3Cl3 C4H5Cl3 C4H7Cl3 C5H3Cl
C5H7Cl C5H9Cl C5H11Cl C5H8Cl2 C5H10Cl2 C5H9Cl3 C3H3Br3 C4H3Br C4H5Br C4H7Br C4H2Br2 C4H4Br2
C4H6Br2 C4H8Br2 C4H3Br3 C4H5Br3 C4H7Br3 C5H3Br C5H7Br C5H9Br C5H11Br C5H8Br2 C5H10Br2 C5H9Br3
"""

DEFAULT_FORMULAS: Final = tuple(_TEXT.split())
"""All formulas of three to five carbon atoms, one to three atoms of one other element (N, O, S, F, Cl or
Br) and at least two hydrogen atoms that have 8 to 100 isomers: the kind of formula in the published
records. A test derives this list."""


# REL-C1 and REL-C3 records, from whole universes (all constitutional isomers of a formula).


MAX_TRIES: Final = 40
"""Maximum isomers whose neighbours are searched for an odd molecule as long as one of the question's."""

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
    """``of``: formula → its isomers, for usable formulas; ``key``: what they are, for the random streams."""

    of: dict[str, tuple[str, ...]]
    key: tuple[object, ...]

    def with_isomers(self, least: int, asked: str) -> list[str]:
        """The formulas with so many isomers. Raises `UsageError`, with what was ``asked``, if none has."""
        found = [formula for formula, universe in self.of.items() if len(universe) >= least]
        if not found:
            largest = max(map(len, self.of.values()))
            raise UsageError(
                f"{asked} needs a universe of {least} isomers or more: the largest universe has {largest}"
            )
        return found


def _universes(params: UniverseParameters, progress: Progress | None) -> _Universes:
    """Enumerate the isomers of the formulas, and keep universes of a permitted size."""
    low, high = params.universe_min, params.universe_max
    if low > high:
        raise UsageError(f"universe_max must not be below universe_min, {low:,}, as {high:,} is")
    found = {}
    for formula in dict.fromkeys(map(hill, params.formulas or DEFAULT_FORMULAS)):
        universe = isomers(formula, params.keep, progress)
        if low <= len(universe) <= high:
            found[formula] = universe
        elif params.formulas:
            raise UsageError(
                f"{formula} has {len(universe):,} isomers, not {low:,} to {high:,}"
                " (universe_min, universe_max)"
            )
    if not found:
        raise UsageError(f"no formula has {low:,} to {high:,} isomers")
    return _Universes(found, (*found, params.keep))


def isomer_sets(
    n: int, seed: int, params: IsomerSetParameters, progress: Progress | None = None
) -> Iterator[dict[str, Any]]:
    """Records of REL-C1: all molecules of one formula (yes), or all but one (no).

    Raises
    ------
    UsageError
        No formula has enough isomers.
    """
    universes = _universes(params, progress)
    if params.odd == "any" and params.yes_fraction < 1 and len(universes.of) < 2:
        raise UsageError("a no record needs a molecule of another formula: name at least two formulas")
    for size in params.sizes:
        universes.with_isomers(size, f"sizes {size}")
    return (_isomer_set(slot, seed, universes, params) for slot in plan(n, params.yes_fraction, params.sizes))


def _isomer_set(slot: Slot, seed: int, universes: _Universes, params: IsomerSetParameters) -> dict[str, Any]:
    numbers = stream("REL-C1", seed, *slot, *universes.key)
    formula = numbers.choice(universes.with_isomers(slot.size, f"sizes {slot.size}"))
    if slot.yes:
        molecules = numbers.sample(universes.of[formula], slot.size)
        metadata = {"formula": formula}
    elif params.odd == "near":
        molecules = numbers.sample(universes.of[formula], slot.size)
        place, odd = _near_molecule(numbers, molecules, universes.of[formula], params.keep)
        molecules[place] = odd
        metadata = {"base_formula": formula, "odd_formula": formula_of(odd)}
    else:
        other = numbers.choice([f for f in universes.of if f != formula])
        molecules = numbers.sample(universes.of[formula], slot.size - 1)
        molecules.insert(numbers.randrange(slot.size), numbers.choice(universes.of[other]))
        metadata = {"base_formula": formula, "odd_formula": other}
    label = "Yes" if slot.yes else "No"
    # check the label against the molecules themselves, with newly computed formulas
    alike = len({formula_of(smiles) for smiles in molecules}) == 1
    if len(set(molecules)) != len(molecules) or alike != slot.yes:
        raise RelfastError(f"REL-C1: label {label} does not fit {', '.join(molecules)}")
    return record_of(
        C1,
        f"q2_n{slot.size}_s{seed}_{slot.place:05d}",
        _C1_QUESTION.format(molecules=numbered(molecules)),
        {"molecules": molecules, "label": label},
        metadata | {"constructed_label": label, "original_task": "q2_isomer_set_yes_no"},
        f"<{label}>",
    )


def _near_molecule(
    numbers: random.Random, molecules: Sequence[str], universe: Sequence[str], keep: RingFilter
) -> tuple[int, str]:
    """A place in the list and an odd molecule for it, as long (as SMILES) as the isomer there, so that its
    length does not reveal it; if none is as long, the nearest."""
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


def missing_isomers(
    n: int, seed: int, params: MissingIsomersParameters, progress: Progress | None = None
) -> Iterator[dict[str, Any]]:
    """Records of REL-C3: some isomers of a formula are given, all others are gold.

    Raises what `isomer_sets` raises.
    """
    universes = _universes(params, progress)
    for size in params.given:
        universes.with_isomers(size + 1, f"given {size}")
    return (_missing_isomers(slot, seed, universes) for slot in plan(n, 0.0, params.given))


def _missing_isomers(slot: Slot, seed: int, universes: _Universes) -> dict[str, Any]:
    numbers = stream("REL-C3", seed, slot.place, slot.size, *universes.key)
    formula = numbers.choice(universes.with_isomers(slot.size + 1, f"given {slot.size}"))
    universe = universes.of[formula]
    molecules = numbers.sample(universe, slot.size)
    shown = set(molecules)
    missing = [smiles for smiles in universe if smiles not in shown]
    metadata = {
        "formula": formula,
        "universe_size": len(universe),
        "given_size": slot.size,
        "original_task": "q3_missing_isomers",
    }
    return record_of(
        C3,
        f"q3_given{slot.size}_s{seed}_{slot.place:05d}",
        _C3_QUESTION.format(molecules=numbered(molecules)),
        {"molecules": molecules, "missing_smiles": missing},
        metadata,
        "\n".join(f"<smiles>{smiles}</smiles>" for smiles in missing),
    )


# REL-C2 records: groups of similar molecules from a bank; gold is their largest connected motif.


MCS_STEPS: Final = 4_000_000
"""Maximum steps of a motif search, some 100 ms; then the group is discarded. None of 210 groups of 5 to 50
molecules of the built-in bank needed as many; 200,000 cut off a third of them, the harder ones."""

MAX_GROUPS: Final = 20_000
"""Maximum groups drawn for a record: 50 similar molecules of the built-in bank take some 250."""

MORE_GROUPS: Final = 100
"""Maximum further groups drawn in search of a motif that is not yet as frequent as ``gold_share``."""

_QUESTION: Final = """\
Given the following list of SMILES, what is the largest *connected* common chemical motif \
(maximum common substructure) present in every molecule?
Rules:
- The motif must be a single connected fragment.
{rings}- Do NOT tautomerize molecules.
- Ignore stereochemistry unless it is explicitly encoded and required.

SMILES:
{molecules}

Return your final answer as a single SMILES wrapped exactly like:
<smiles>YOUR_SMILES_HERE</smiles>
No explanation."""


_WHOLE_RINGS: Final = """\
- Atoms and bonds in rings match only atoms and bonds in rings.
- Rings are not cut open: each bond of the motif that is in a ring of a molecule is in a ring of the motif.
"""
"""The rules of `MotifParameters.whole_rings`; the published question says nothing of rings."""


def common_motifs(n: int, seed: int, params: MotifParameters) -> Iterator[dict[str, Any]]:
    """Records of REL-C2: groups of molecules; gold is their largest connected motif.

    Raises
    ------
    UsageError
        The bank has no group with a motif.
    InputError
        The bank cannot be read.
    """
    bank = params.bank if isinstance(params.bank, Bank) else load_bank(params.bank, params.min_atoms)
    return _records(n, seed, bank, params)


def _records(n: int, seed: int, bank: Bank, params: MotifParameters) -> Iterator[dict[str, Any]]:
    """Take for each record the first group whose motif is not yet too frequent as gold, else the rarest."""
    used: Counter[str] = Counter()
    for index, _, size in plan(n, 0.0, params.sizes):
        spare: _Draw | None = None
        for draw in _draws(seed, index, size, bank, params):
            n_before = used[draw.motif.smiles]
            if n_before < 1 + params.gold_share * index:
                break
            if spare is None or n_before < used[spare.motif.smiles]:
                spare = draw._replace(attempt=spare.attempt if spare else draw.attempt)
            if draw.attempt > spare.attempt + MORE_GROUPS:
                draw = spare
                break
        else:
            if spare is None:
                raise UsageError(
                    f"{bank.source}: none of {MAX_GROUPS:,} groups of {size} molecules ({params.strategy})"
                    f" has a clear motif of {params.min_atoms} atoms or more within {MCS_STEPS:,} search"
                    " steps"
                )
            draw = spare
        used[draw.motif.smiles] += 1
        yield _record(seed, index, draw, whole_rings=params.whole_rings)


class _Draw(NamedTuple):
    """A drawn group with its motif, its strategy, and how many groups were drawn for the record so far."""

    group: list[Molecule]
    motif: Motif
    strategy: str
    attempt: int


def _draws(seed: int, index: int, size: int, bank: Bank, params: MotifParameters) -> Iterator[_Draw]:
    """Draw up to `MAX_GROUPS` groups for a record; yield those that have a clear motif."""
    strategy, min_atoms = params.strategy, params.min_atoms
    key = (strategy, min_atoms, *params.tanimoto, MCS_STEPS, params.whole_rings)
    numbers = stream("REL-C2", seed, index, size, *key)
    for attempt in range(1, MAX_GROUPS + 1):
        by_scaffold = strategy == "scaffold" or (strategy == "mixed" and numbers.random() < 0.5)
        group = (
            bank.scaffold_group(numbers, size)
            if by_scaffold
            else bank.similar_group(numbers, size, *params.tanimoto)
        )
        motif = group and largest_motif(group, min_atoms, MCS_STEPS, whole_rings=params.whole_rings)
        if group and motif:
            numbers.shuffle(group)
            yield _Draw(group, motif, "scaffold" if by_scaffold else "similarity", attempt)


def _record(seed: int, index: int, draw: _Draw, *, whole_rings: bool) -> dict[str, Any]:
    group, motif, strategy, attempt = draw
    molecules = [molecule.key for molecule in group]
    metadata = {
        "mcs_num_atoms": motif.n_atoms,
        "mcs_num_bonds": motif.n_bonds,
        "mcs_definition": "whole rings" if whole_rings else "published",
        "attempt": attempt,
        "sampling_strategy": strategy,
        "original_task": "q1a_largest_common_motif",
    }
    return record_of(
        C2,
        f"q1a_n{len(group)}_s{seed}_{index:05d}",
        _QUESTION.format(molecules=numbered(molecules), rings=_WHOLE_RINGS if whole_rings else ""),
        {"molecules": molecules, "smiles": motif.smiles},
        metadata,
        f"<smiles>{motif.smiles}</smiles>",
    )
