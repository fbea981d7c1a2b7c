"""New REL-B1 records: an alignment evolved along a random tree, with or without planted convergence.

In a yes record, blocks of neighbouring columns are set to one random motif each in a few taxa that are far
apart in the tree. A checker then reads the finished alignment: the blocks join exactly those taxa, and
outside of them no equally long stretch does.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from relfast.errors import UsageError
from relfast.tasks import get_task
from relfast.tasks.generation import Slot, check_count, check_range, confirm, plan, stream
from relfast.tasks.rel_b.parameters import HomoplasyParameters, Selection, TaxaAs
from relfast.tasks.rel_b.tree import Tree, distant_clades, distant_leaves, evolve, random_tree, spell

MAX_LEAVES: Final = 1_000
MAX_SEQ_LEN: Final = 10_000
"""A question of 1,000 leaves × 10,000 columns has 10 MB; no model reads more."""

MAX_TRIES: Final = 1_000
"""Trees drawn for one record until the checker is content. At the defaults three of four pass."""


class Block(NamedTuple):
    """A planted motif: its first column, 0-based, and its base codes."""

    start: int
    motif: npt.NDArray[np.uint8]


class _Case(NamedTuple):
    tree: Tree
    sequences: npt.NDArray[np.uint8]
    taxa: list[int]
    blocks: list[Block]


def generate(
    task: str, n: int, seed: int, *, tell: Callable[[str], None] | None = None, **parameters: Any
) -> Iterator[dict[str, Any]]:
    """Records of REL-B1.

    Parameters
    ----------
    task, n, seed
        Task name, number of records, seed (a non-negative integer).
    tell
        Not called: nothing here takes long.
    **parameters
        Fields of `HomoplasyParameters`.

    Raises
    ------
    UsageError
        A parameter is out of range, or `MAX_TRIES` trees gave no case that the checker accepts.
    """
    check_count(n, seed)
    asked = HomoplasyParameters(**parameters)
    _check(asked)
    name = get_task(task).name
    return (_record(name, seed, slot, asked) for slot in plan(n, asked.yes_fraction, [asked.num_leaves]))


def _check(asked: HomoplasyParameters) -> None:
    n_blocks, length = asked.n_convergent_sites, asked.length_convergent_block
    check_range("num_leaves", asked.num_leaves, 2, MAX_LEAVES)
    check_range("seq_len", asked.seq_len, 1, MAX_SEQ_LEN)
    check_range("n_convergent_sites", n_blocks, 1, asked.seq_len)
    check_range("length_convergent_block", length, 1, asked.seq_len)
    check_range("n_convergent_taxa", asked.n_convergent_taxa, 2, asked.num_leaves)
    check_range("yes_fraction", asked.yes_fraction, 0.0, 1.0)
    if n_blocks * length > asked.seq_len:
        raise UsageError(f"{n_blocks} blocks of {length} columns do not fit into {asked.seq_len}")
    if asked.selection not in get_args(Selection):
        raise UsageError(f"selection: {' or '.join(get_args(Selection))}, not {asked.selection!r}")
    if asked.taxa_as not in get_args(TaxaAs):
        raise UsageError(f"taxa_as: {' or '.join(get_args(TaxaAs))}, not {asked.taxa_as!r}")


def _record(name: str, seed: int, slot: Slot, parameters: HomoplasyParameters) -> dict[str, Any]:
    numbers = stream(name, seed, slot.place, *parameters.drawn, slot.yes)
    case = _convergent(numbers, parameters) if slot.yes else _neutral(numbers, parameters)
    tree, gold = case.tree, sorted(case.tree.name[leaf] for leaf in case.taxa)
    metadata: dict[str, Any] = {"num_leaves": parameters.num_leaves, "seq_len": parameters.seq_len}
    if slot.yes:
        metadata |= {
            "selection": parameters.selection,
            "taxa_as": parameters.taxa_as,
            "blocks": [{"start": block.start + 1, "motif": spell(block.motif)} for block in case.blocks],
        }
    named = gold
    if parameters.taxa_as == "index":
        order = sorted(map(str, tree.name.values()))
        gold = [order.index(str(taxon)) for taxon in gold]
    answer: dict[str, Any] = {"label": "yes" if slot.yes else "no", "taxa": gold}
    if parameters.taxa_as == "index":
        # few or short motifs do not tell places from names
        answer["taxa_as"] = "index"
    record = {
        "id": f"biology_{name}_s{seed}_{slot.place:05d}",
        "domain": "biology",
        "task": name,
        "question": question(tree, case.sequences),
        "answer": answer,
        "metadata": metadata,
    }
    return confirm(get_task(name), record, _stated(slot.yes, gold), _stated(slot.yes, named))


def _stated(yes: bool, taxa: Sequence[int]) -> str:
    return f"Yes: {', '.join(map(str, taxa))}" if yes else "No"


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


def _neutral(numbers: random.Random, parameters: HomoplasyParameters) -> _Case:
    tree = random_tree(numbers, parameters.num_leaves)
    return _Case(tree, evolve(numbers, tree, parameters.seq_len), [], [])


def _convergent(numbers: random.Random, parameters: HomoplasyParameters) -> _Case:
    choose = distant_leaves if parameters.selection == "distant" else distant_clades
    for _ in range(MAX_TRIES):
        tree = random_tree(numbers, parameters.num_leaves)
        taxa = choose(numbers, tree, parameters.n_convergent_taxa)
        if taxa is None:
            continue
        sequences = evolve(numbers, tree, parameters.seq_len)
        blocks = _plant(numbers, sequences, taxa, parameters)
        if joins_only(sequences, tree.leaves(), taxa, blocks, parameters.length_convergent_block):
            return _Case(tree, sequences, taxa, blocks)
    raise UsageError(
        f"no tree of {MAX_TRIES} has {parameters.n_convergent_taxa} taxa ({parameters.selection}) that share"
        f" motifs of {parameters.length_convergent_block} columns in their blocks only; longer blocks or"
        " shorter sequences help"
    )


def _plant(
    numbers: random.Random,
    sequences: npt.NDArray[np.uint8],
    taxa: Sequence[int],
    parameters: HomoplasyParameters,
) -> list[Block]:
    """Write the motifs into ``sequences``, at places drawn evenly from all that do not overlap."""
    length = parameters.length_convergent_block
    slack = parameters.seq_len - parameters.n_convergent_sites * (length - 1)
    starts = sorted(numbers.sample(range(slack), parameters.n_convergent_sites))
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
