"""New REL-B1 records: an alignment evolved along a random tree, with or without planted convergence.

In a yes record, blocks of neighbouring columns are set to one random motif each in a few taxa that are far
apart in the tree. A checker then reads the finished alignment: the blocks join exactly those taxa, and
outside of them no equally long stretch does.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from relfast.errors import UsageError
from relfast.tasks import get_task
from relfast.tasks.generation import Slot, check_count, check_range, confirm, plan, stream
from relfast.tasks.rel_b.tree import Tree, distant_clades, distant_leaves, evolve, random_tree, spell

MAX_LEAVES: Final = 1_000
MAX_SEQ_LEN: Final = 10_000
"""A question of 1,000 leaves × 10,000 columns has 10 MB; no model reads more."""

MAX_TRIES: Final = 1_000
"""Trees drawn for one record until the checker is content. At the defaults three of four pass."""

Selection = Literal["distant", "clades"]
TaxaAs = Literal["name", "index"]


class Block(NamedTuple):
    """A planted motif: its first column, 0-based, and its base codes."""

    start: int
    motif: npt.NDArray[np.uint8]


class _Parameters(NamedTuple):
    num_leaves: int
    seq_len: int
    n_sites: int
    block_length: int
    n_taxa: int
    selection: Selection
    taxa_as: TaxaAs


class _Case(NamedTuple):
    tree: Tree
    sequences: npt.NDArray[np.uint8]
    taxa: list[int]
    blocks: list[Block]


def generate(
    task: str,
    n: int,
    seed: int,
    *,
    num_leaves: int = 50,
    seq_len: int = 300,
    n_convergent_sites: int = 5,
    length_convergent_block: int = 5,
    n_convergent_taxa: int = 2,
    selection: Selection = "distant",
    taxa_as: TaxaAs = "name",
    yes_fraction: float = 0.5,
) -> Iterator[dict[str, Any]]:
    """Records of REL-B1.

    Parameters
    ----------
    task, n, seed
        Task name, number of records, seed (a non-negative integer).
    num_leaves, seq_len
        Taxa in the tree, columns of the alignment.
    n_convergent_sites, length_convergent_block
        Planted blocks of a yes record, and the columns of each.
    n_convergent_taxa
        Taxa that share the motifs, 2 or more.
    selection
        ``distant`` (taxa at least 3 edges apart) or ``clades`` (whole clades at least 4 edges apart).
    taxa_as
        Gold taxa as the ``name`` in the question, or, like the published generator, as the ``index`` in the
        list of names sorted as texts.
    yes_fraction
        Share of yes records, 0 to 1; kept to within one record in any prefix of the run.

    Raises
    ------
    UsageError
        A parameter is out of range, or `MAX_TRIES` trees gave no case that the checker accepts.
    """
    check_count(n, seed)
    check_range("num_leaves", num_leaves, 2, MAX_LEAVES)
    check_range("seq_len", seq_len, 1, MAX_SEQ_LEN)
    check_range("n_convergent_sites", n_convergent_sites, 1, seq_len)
    check_range("length_convergent_block", length_convergent_block, 1, seq_len)
    check_range("n_convergent_taxa", n_convergent_taxa, 2, num_leaves)
    check_range("yes_fraction", yes_fraction, 0.0, 1.0)
    if n_convergent_sites * length_convergent_block > seq_len:
        raise UsageError(
            f"{n_convergent_sites} blocks of {length_convergent_block} columns do not fit into {seq_len}"
        )
    if selection not in get_args(Selection):
        raise UsageError(f"selection: {' or '.join(get_args(Selection))}, not {selection!r}")
    if taxa_as not in get_args(TaxaAs):
        raise UsageError(f"taxa_as: {' or '.join(get_args(TaxaAs))}, not {taxa_as!r}")
    parameters = _Parameters(
        num_leaves,
        seq_len,
        n_convergent_sites,
        length_convergent_block,
        n_convergent_taxa,
        selection,
        taxa_as,
    )
    name = get_task(task).name
    return (_record(name, seed, slot, parameters) for slot in plan(n, yes_fraction, [num_leaves]))


def _record(name: str, seed: int, slot: Slot, parameters: _Parameters) -> dict[str, Any]:
    # how gold is written down does not change what is asked
    numbers = stream(name, seed, slot.place, *parameters[:-1], slot.yes)
    case = _convergent(numbers, parameters) if slot.yes else _neutral(numbers, parameters)
    tree, gold = case.tree, sorted(case.tree.name[leaf] for leaf in case.taxa)
    metadata: dict[str, Any] = {"num_leaves": parameters.num_leaves, "seq_len": parameters.seq_len}
    if slot.yes:
        metadata |= {
            "selection": parameters.selection,
            "taxa_as": parameters.taxa_as,
            "blocks": [{"start": block.start + 1, "motif": spell(block.motif)} for block in case.blocks],
        }
    if parameters.taxa_as == "index":
        order = sorted(map(str, tree.name.values()))
        gold = [order.index(str(taxon)) for taxon in gold]
    record = {
        "id": f"biology_{name}_s{seed}_{slot.place:05d}",
        "domain": "biology",
        "task": name,
        "question": question(tree, case.sequences),
        "answer": {"label": "yes" if slot.yes else "no", "taxa": gold},
        "metadata": metadata,
    }
    response = f"Yes: {', '.join(map(str, gold))}" if slot.yes else "No"
    return confirm(get_task(name), record, response)


_QUESTION: Final = """
        Homoplasy refers to structured convergence:
        pairs or groups of distantly related taxa that repeatedly share the same nucleotide motifs
        across many independent alignment columns more often than expected, while other taxa
        with similar overall sequences do not share those nucleotide motifs as consistently.

        Your job is to examine the entire alignment and provided tree and decide whether such structured
        homoplasy is likely to be present and which taxa are involved.

        Alignment (FASTA; positions indexed from 1):
        {fasta}

        Tree (Newick):
        {newick}

        Return your answer as: Yes/No and if Yes, list the taxa involved. Nothing else.

    """


def question(tree: Tree, sequences: npt.NDArray[np.uint8]) -> str:
    """The text of the published records; sequences in the order of the tree."""
    fasta = "\n".join(f">{tree.name[leaf]}\n{spell(sequences[leaf])}" for leaf in tree.leaves())
    return _QUESTION.format(fasta=fasta, newick=tree.newick())


def _neutral(numbers: random.Random, parameters: _Parameters) -> _Case:
    tree = random_tree(numbers, parameters.num_leaves)
    return _Case(tree, evolve(numbers, tree, parameters.seq_len), [], [])


def _convergent(numbers: random.Random, parameters: _Parameters) -> _Case:
    choose = distant_leaves if parameters.selection == "distant" else distant_clades
    for _ in range(MAX_TRIES):
        tree = random_tree(numbers, parameters.num_leaves)
        taxa = choose(numbers, tree, parameters.n_taxa)
        if taxa is None:
            continue
        sequences = evolve(numbers, tree, parameters.seq_len)
        blocks = _plant(numbers, sequences, taxa, parameters)
        if joins_only(sequences, tree.leaves(), taxa, blocks, parameters.block_length):
            return _Case(tree, sequences, taxa, blocks)
    raise UsageError(
        f"no tree of {MAX_TRIES} has {parameters.n_taxa} taxa ({parameters.selection}) that share motifs of"
        f" {parameters.block_length} columns in their blocks only; longer blocks or shorter sequences help"
    )


def _plant(
    numbers: random.Random, sequences: npt.NDArray[np.uint8], taxa: Sequence[int], parameters: _Parameters
) -> list[Block]:
    """Write the motifs into ``sequences``, at places drawn evenly from all that do not overlap."""
    length = parameters.block_length
    slack = parameters.seq_len - parameters.n_sites * (length - 1)
    starts = sorted(numbers.sample(range(slack), parameters.n_sites))
    blocks = []
    for earlier, start in enumerate(starts):
        first = start + earlier * (length - 1)
        motif = np.array([numbers.randrange(4) for _ in range(length)], dtype=np.uint8)
        for taxon in taxa:
            sequences[taxon, first : first + length] = motif
        blocks.append(Block(first, motif))
    return blocks


def joins_only(
    sequences: npt.NDArray[np.uint8],
    leaves: Sequence[int],
    taxa: Sequence[int],
    blocks: Sequence[Block],
    length: int,
) -> bool:
    """Whether the alignment shows what gold says.

    The taxa that carry the motif of every block are exactly ``taxa``; and no ``length`` neighbouring
    columns outside the blocks are equal in all of them.
    """
    carriers = {
        leaf
        for leaf in leaves
        if all(np.array_equal(sequences[leaf, b.start : b.start + length], b.motif) for b in blocks)
    }
    if carriers != set(taxa):
        return False
    rows = sequences[list(taxa)]
    equal = (rows == rows[0]).all(axis=0)
    for block in blocks:
        equal[block.start : block.start + length] = False
    return b"\1" * length not in equal.tobytes()
