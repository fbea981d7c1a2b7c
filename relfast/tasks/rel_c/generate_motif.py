"""New REL-C2 records: groups of similar molecules from a bank, gold their largest connected motif."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final, NamedTuple, get_args

from relfast.chem.bank import Bank, load_bank
from relfast.chem.molecule import Molecule
from relfast.chem.motif import Motif, largest_motif
from relfast.errors import UsageError
from relfast.tasks.generation import check_count, check_range, confirm, plan, stream
from relfast.tasks.rel_c import C2
from relfast.tasks.rel_c.parameters import MotifParameters, Strategy
from relfast.tasks.rel_c.questions import numbered

MAX_SIZE: Final = 200

MAX_GROUPS: Final = 20_000
"""Groups drawn for one record: 50 similar molecules of the built-in bank take some 250."""

MORE_GROUPS: Final = 100
"""Groups drawn in search of a motif that is not yet as frequent as ``gold_share``."""

_QUESTION: Final = """\
Given the following list of SMILES, what is the largest *connected* common chemical motif \
(maximum common substructure) present in every molecule?
Rules:
- The motif must be a single connected fragment.
- Do NOT tautomerize molecules.
- Ignore stereochemistry unless it is explicitly encoded and required.

SMILES:
{molecules}

Return your final answer as a single SMILES wrapped exactly like:
<smiles>YOUR_SMILES_HERE</smiles>
No explanation."""


def common_motifs(n: int, seed: int, asked: MotifParameters) -> Iterator[dict[str, Any]]:
    """Records of REL-C2.

    Parameters
    ----------
    n, seed
        Number of records and seed (a non-negative integer).
    asked
        What they are made with.

    Raises
    ------
    UsageError
        A parameter is out of range, or the bank has no group with a motif.
    InputError
        The bank cannot be read.
    """
    check_count(n, seed)
    if not asked.sizes:
        raise UsageError("sizes must name at least one size")
    for size in asked.sizes:
        check_range("sizes", size, 2, MAX_SIZE)
    check_range("min_atoms", asked.min_atoms, 1, 100)
    check_range("mcs_steps", asked.mcs_steps, 1, 10**9)
    check_range("gold_share", asked.gold_share, 0.0, 1.0)
    lowest, highest = asked.tanimoto
    check_range("tanimoto", lowest, 0.0, 1.0)
    check_range("tanimoto", highest, lowest, 1.0)
    if asked.strategy not in get_args(Strategy):
        raise UsageError(f"strategy: {', '.join(get_args(Strategy))}, not {asked.strategy!r}")
    bank = asked.bank if isinstance(asked.bank, Bank) else load_bank(asked.bank, asked.min_atoms)
    return _records(n, seed, bank, asked)


def _records(n: int, seed: int, bank: Bank, asked: MotifParameters) -> Iterator[dict[str, Any]]:
    used: Counter[str] = Counter()
    for index, _, size in plan(n, 0.0, asked.sizes):
        spare: _Draw | None = None
        for draw in _draws(seed, index, size, bank, asked):
            n_before = used[draw.motif.smiles]
            if n_before < 1 + asked.gold_share * index:
                break
            if spare is None or n_before < used[spare.motif.smiles]:
                spare = draw._replace(attempt=spare.attempt if spare else draw.attempt)
            if draw.attempt > spare.attempt + MORE_GROUPS:
                draw = spare
                break
        else:
            if spare is None:
                raise UsageError(
                    f"{bank.source}: none of {MAX_GROUPS:,} groups of {size} molecules ({asked.strategy}) has"
                    f" a clear motif of {asked.min_atoms} atoms or more within {asked.mcs_steps:,} search"
                    " steps"
                )
            draw = spare
        used[draw.motif.smiles] += 1
        yield _record(seed, index, draw)


class _Draw(NamedTuple):
    """A group with its motif, how it was drawn, and which group of its record it is, from 1."""

    group: list[Molecule]
    motif: Motif
    strategy: str
    attempt: int


def _draws(seed: int, index: int, size: int, bank: Bank, asked: MotifParameters) -> Iterator[_Draw]:
    """The groups of a record that have a motif, up to `MAX_GROUPS` groups."""
    strategy, min_atoms, mcs_steps = asked.strategy, asked.min_atoms, asked.mcs_steps
    numbers = stream("REL-C2", seed, index, size, strategy, min_atoms, *asked.tanimoto, mcs_steps)
    for attempt in range(1, MAX_GROUPS + 1):
        by_scaffold = strategy == "scaffold" or (strategy == "mixed" and numbers.random() < 0.5)
        group = (
            bank.scaffold_group(numbers, size)
            if by_scaffold
            else bank.similar_group(numbers, size, *asked.tanimoto)
        )
        motif = group and largest_motif(group, min_atoms, mcs_steps)
        if group and motif:
            numbers.shuffle(group)
            yield _Draw(group, motif, "scaffold" if by_scaffold else "similarity", attempt)


def _record(seed: int, index: int, draw: _Draw) -> dict[str, Any]:
    group, motif, strategy, attempt = draw
    molecules = [molecule.key for molecule in group]
    record = {
        "id": f"q1a_n{len(group)}_s{seed}_{index:05d}",
        "domain": "chemistry",
        "task": "REL-C2",
        "question": _QUESTION.format(molecules=numbered(molecules)),
        "answer": {"molecules": molecules, "smiles": motif.smiles},
        "metadata": {
            "mcs_num_atoms": motif.n_atoms,
            "mcs_num_bonds": motif.n_bonds,
            "attempt": attempt,
            "sampling_strategy": strategy,
            "original_task": "q1a_largest_common_motif",
        },
    }
    return confirm(C2, record, f"<smiles>{motif.smiles}</smiles>")
