"""New REL-C2 records: groups of similar molecules from a bank, gold their largest connected motif."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Literal, get_args

from relfast.chem.bank import Bank, load_bank
from relfast.chem.molecule import Molecule
from relfast.chem.motif import Motif, largest_motif
from relfast.errors import UsageError
from relfast.tasks.generation import check_count, check_range, confirm, plan, stream
from relfast.tasks.rel_c import C2
from relfast.tasks.rel_c.questions import numbered

PUBLISHED_SIZES: Final = (5, 10, 15, 20, 25, 30, 35, 40, 45, 50)
MAX_SIZE: Final = 200

MIN_ATOMS: Final = 8
TANIMOTO: Final = (0.35, 0.90)
"""Bounds of the published records."""

MCS_STEPS: Final = 500
"""Steps of a motif search before its group is given up, some 10 ms. Groups that take longer are mostly large
fused ring systems."""

MAX_GROUPS: Final = 20_000
"""Groups drawn for one record: 50 similar molecules of the built-in bank take some 250."""

Strategy = Literal["similarity", "scaffold", "mixed"]

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


def common_motifs(
    n: int,
    seed: int,
    *,
    bank: str | Path | Bank | None = None,
    sizes: Sequence[int] = PUBLISHED_SIZES,
    strategy: Strategy = "similarity",
    min_atoms: int = MIN_ATOMS,
    tanimoto: tuple[float, float] = TANIMOTO,
    mcs_steps: int = MCS_STEPS,
) -> Iterator[dict[str, Any]]:
    """Records of REL-C2.

    Parameters
    ----------
    n, seed
        Number of records and seed (a non-negative integer).
    bank
        File of one SMILES a line (plain or gzip), or a bank already read; default: the molecules of the
        published records.
    sizes
        Molecules of a question, gone through in turn.
    strategy
        ``similarity`` (to one of the group), ``scaffold`` (one Murcko scaffold) or ``mixed``, half and half.
    min_atoms
        Fewest heavy atoms of gold.
    tanimoto
        Lowest and highest similarity to that molecule.
    mcs_steps
        Steps after which a motif search is given up and its group with it: more steps, larger motifs.

    Raises
    ------
    UsageError
        A parameter is out of range, or the bank has no group with a motif.
    InputError
        The bank cannot be read.
    """
    check_count(n, seed)
    if not sizes:
        raise UsageError("sizes must name at least one size")
    for size in sizes:
        check_range("sizes", size, 2, MAX_SIZE)
    check_range("min_atoms", min_atoms, 1, 100)
    check_range("mcs_steps", mcs_steps, 1, 10**9)
    lowest, highest = tanimoto
    check_range("tanimoto", lowest, 0.0, 1.0)
    check_range("tanimoto", highest, lowest, 1.0)
    if strategy not in get_args(Strategy):
        raise UsageError(f"strategy: {', '.join(get_args(Strategy))}, not {strategy!r}")
    molecules = bank if isinstance(bank, Bank) else load_bank(bank, min_atoms)
    return _records(n, seed, molecules, sizes, strategy, min_atoms, (lowest, highest), mcs_steps)


def _records(
    n: int,
    seed: int,
    bank: Bank,
    sizes: Sequence[int],
    strategy: Strategy,
    min_atoms: int,
    tanimoto: tuple[float, float],
    mcs_steps: int,
) -> Iterator[dict[str, Any]]:
    for index, _, size in plan(n, 0.0, sizes):
        numbers = stream("REL-C2", seed, index, size, strategy, min_atoms, *tanimoto, mcs_steps)
        for attempt in range(1, MAX_GROUPS + 1):
            by_scaffold = strategy == "scaffold" or (strategy == "mixed" and numbers.random() < 0.5)
            group = (
                bank.scaffold_group(numbers, size)
                if by_scaffold
                else bank.similar_group(numbers, size, *tanimoto)
            )
            motif = group and largest_motif(group, min_atoms, mcs_steps)
            if group and motif:
                used = "scaffold" if by_scaffold else "similarity"
                numbers.shuffle(group)
                yield _record(seed, index, group, motif, used, attempt)
                break
        else:
            raise UsageError(
                f"{bank.source}: none of {MAX_GROUPS:,} groups of {size} molecules ({strategy}) has a clear"
                f" motif of {min_atoms} atoms or more within {mcs_steps:,} search steps"
            )


def _record(
    seed: int, index: int, group: Sequence[Molecule], motif: Motif, strategy: str, attempt: int
) -> dict[str, Any]:
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
