"""The parameters of the generators of REL-C1, C2 and C3 records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, get_args

from relfast.parameters import Choice, Flag, Number, Pair, Sizes, Text, Texts, Whole, parameter

if TYPE_CHECKING:
    from relfast.chem.bank import Bank
    from relfast.chem.isomers import RingFilter

PUBLISHED_SIZES: Final = (5, 10, 15, 20, 25, 30, 35, 40, 45, 50)

MAX_SIZE: Final = 1_000
"""Maximum molecules in a question of isomers: 1,000 are 20 kB."""

MAX_GROUP_SIZE: Final = 200
"""Maximum molecules in a question for a motif."""

Odd = Literal["near", "any"]
Strategy = Literal["similarity", "scaffold", "mixed"]


@dataclass(frozen=True)
class UniverseParameters:
    """Parameters of REL-C1 and C3: the universes of isomers (all isomers of a formula) to draw from."""

    formulas: Sequence[str] | None = parameter(
        None,
        Texts(),
        "Draw from these, e.g. C5H8Br2 (repeatable).  [default: 105 small organic formulas]",
        flag="--formula",
        metavar="FORMULA",
        repeat=True,
    )
    universe_min: int = parameter(8, Whole(2), "Fewest isomers of a formula.")
    universe_max: int = parameter(100, Whole(2), "Most isomers of a formula.")
    keep: RingFilter = parameter(
        "all", Choice(("all", "unstrained")), "unstrained: no triple or cumulated double bonds in rings."
    )


@dataclass(frozen=True)
class IsomerSetParameters(UniverseParameters):
    """Parameters of REL-C1. Each class cycles through ``sizes``; any prefix of the run keeps
    ``yes_fraction`` to one record. With ``odd="any"`` comparing heteroatoms reveals 96 % of labels."""

    about: ClassVar[str] = "Make REL-C1 records: are these molecules constitutional isomers?"

    sizes: Sequence[int] = parameter(
        PUBLISHED_SIZES, Sizes(2, MAX_SIZE), f"Molecules of a question, in turn, 2 to {MAX_SIZE:,}."
    )
    yes_fraction: float = parameter(0.5, Number(0, 1), "Share of yes records.")
    odd: Odd = parameter(
        "near",
        Choice(get_args(Odd)),
        "The molecule that is no isomer: two hydrogens apart and as long, or of any other formula, as "
        "published.",
    )


@dataclass(frozen=True)
class MissingIsomersParameters(UniverseParameters):
    """Parameters of REL-C3. Each record draws a formula with more isomers than the question gives."""

    about: ClassVar[str] = "Make REL-C3 records: name the isomers that a list leaves out."

    given: Sequence[int] = parameter(
        PUBLISHED_SIZES, Sizes(1, MAX_SIZE), f"Molecules given in a question, in turn, 1 to {MAX_SIZE:,}."
    )


class _BankOrPath(Text):
    """A path, or a `Bank`, which stays as it is."""

    def check(self, name: str, value: object) -> Any:
        return value if hasattr(value, "similar_group") else super().check(name, value)


@dataclass(frozen=True)
class MotifParameters:
    """Parameters of REL-C2.

    ``bank`` may be a `Bank`, too. The molecules of a ``scaffold`` group have the same Murcko scaffold;
    ``mixed`` is half similarity, half scaffold. Defaults of ``min_atoms`` and ``tanimoto`` are those of
    the published records. A constant answer is right at most as often as ``gold_share``; a sixth of the
    published records have the same gold.
    """

    about: ClassVar[str] = "Make REL-C2 records: the largest connected motif of similar molecules."

    bank: str | Path | Bank | None = parameter(
        None,
        _BankOrPath(),
        "One SMILES a line, plain or gzip.  [default: the molecules of the published records]",
        metavar="FILE",
    )
    sizes: Sequence[int] = parameter(
        PUBLISHED_SIZES, Sizes(2, MAX_GROUP_SIZE), f"Molecules of a question, in turn, 2 to {MAX_GROUP_SIZE}."
    )
    strategy: Strategy = parameter(
        "similarity", Choice(get_args(Strategy)), "What the molecules of a group have in common."
    )
    min_atoms: int = parameter(8, Whole(1, 100), "Fewest heavy atoms of gold.")
    tanimoto: tuple[float, float] = parameter(
        (0.35, 0.90), Pair(0, 1), "Similarity to the group's first molecule, from 0 to 1.", metavar="LOW HIGH"
    )
    whole_rings: bool = parameter(
        False,
        Flag(),
        "Rings match only rings, and only whole rings; the question says so. Published: elements and bond "
        "orders match.",
    )
    gold_share: float = parameter(
        0.02, Number(0, 1), "How often a motif may be gold, as a share of the records."
    )
