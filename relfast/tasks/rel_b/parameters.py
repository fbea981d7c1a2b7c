"""The parameters of the generator of REL-B1 records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from relfast.parameters import Choice, Number, Whole, parameter

Selection = Literal["distant", "clades"]
TaxaAs = Literal["name", "index"]


@dataclass(frozen=True, slots=True)
class HomoplasyParameters:
    """Parameters of generated REL-B1 records. Any prefix of the run keeps ``yes_fraction`` to one record."""

    about: ClassVar[str] = "Make REL-B1 records: homoplasy in an alignment evolved along a random tree."

    num_leaves: int = parameter(50, Whole(), "Taxa in the tree.")
    seq_len: int = parameter(300, Whole(), "Columns of the alignment.")
    n_convergent_sites: int = parameter(5, Whole(), "Planted blocks of a yes record.")
    length_convergent_block: int = parameter(5, Whole(), "Columns of a block.")
    n_convergent_taxa: int = parameter(2, Whole(), "Taxa that share the motifs.")
    selection: Selection = parameter(
        "distant", Choice(get_args(Selection)), "Taxa at least 3 edges apart, or whole clades at least 4."
    )
    taxa_as: TaxaAs = parameter(
        "name",
        Choice(get_args(TaxaAs)),
        "Gold taxa: names in the question, or places in their list sorted as texts, as published.",
    )
    yes_fraction: float = parameter(0.5, Number(0, 1), "Share of yes records.")

    @property
    def drawn(self) -> tuple[object, ...]:
        """The parameters that decide tree, alignment and motifs (not how gold is written)."""
        return (
            self.num_leaves,
            self.seq_len,
            self.n_convergent_sites,
            self.length_convergent_block,
            self.n_convergent_taxa,
            self.selection,
        )
