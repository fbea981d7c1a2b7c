"""The parameters of the generator of REL-B1 records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, Literal, get_args

from relfast.parameters import Choice, Number, Whole, parameter

MAX_LEAVES: Final = 1_000
MAX_SEQ_LEN: Final = 10_000
"""Maximum size: a question of 1,000 leaves × 10,000 columns has 10 MB, more than any model reads."""

Selection = Literal["distant", "clades"]
TaxaAs = Literal["name", "index"]


@dataclass(frozen=True, slots=True)
class HomoplasyParameters:
    """Parameters of generated REL-B1 records. Any prefix of the run keeps ``yes_fraction`` to one record."""

    about: ClassVar[str] = "Make REL-B1 records: homoplasy in an alignment evolved along a random tree."

    num_leaves: int = parameter(50, Whole(2, MAX_LEAVES), "Taxa in the tree.")
    seq_len: int = parameter(300, Whole(1, MAX_SEQ_LEN), "Columns of the alignment.")
    n_convergent_sites: int = parameter(5, Whole(1), "Planted blocks of a yes record.")
    length_convergent_block: int = parameter(5, Whole(1), "Columns of a block.")
    n_convergent_taxa: int = parameter(2, Whole(2), "Taxa that share the motifs.")
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
