"""Generate REL-B1 records: an alignment evolved along a random tree, with or without planted convergence.

In a yes record, a few taxa that are far apart in the tree get the same random motif in each of some blocks
of neighbouring columns. `joins_only` then checks the finished alignment: exactly those taxa share the
blocks, and outside the blocks they share no equally long stretch.

Blind strategies, which solve nothing, and the mock model are at the end.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from relfast.errors import UsageError
from relfast.parameters import Whole, declared
from relfast.tasks import get_task
from relfast.tasks.base import BlindStrategy
from relfast.tasks.generation import MOCK_SKILL, Slot, check_count, plan, record_of, stream
from relfast.tasks.rel_b.parameters import HomoplasyParameters
from relfast.tasks.rel_b.score import alignment_in

MAX_TRIES: Final = 1_000
"""Maximum trees drawn for a record until `joins_only` holds. With default parameters three of four pass."""


class Block(NamedTuple):
    """A planted motif: its first column (0-based) and its base codes (0…3)."""

    start: int
    motif: npt.NDArray[np.uint8]


def generate(
    task: str, n: int, seed: int, *, tell: Callable[[str], None] | None = None, **parameters: Any
) -> Iterator[dict[str, Any]]:
    """Records of REL-B1 (`relfast.tasks.base.Generator`) with the fields of `HomoplasyParameters`.

    Raises
    ------
    UsageError
        A parameter is out of range, or `MAX_TRIES` trees gave no alignment that passes the check.
    """
    check_count(n, seed)
    params = declared(HomoplasyParameters, parameters)
    Whole(2, params.num_leaves).check("n_convergent_taxa", params.n_convergent_taxa)
    n_blocks, length = params.n_convergent_sites, params.length_convergent_block
    if n_blocks * length > params.seq_len:
        raise UsageError(f"{n_blocks} blocks of {length} columns do not fit into {params.seq_len}")
    name = get_task(task).name
    return (_record(name, seed, slot, params) for slot in plan(n, params.yes_fraction, [params.num_leaves]))


def _record(name: str, seed: int, slot: Slot, parameters: HomoplasyParameters) -> dict[str, Any]:
    numbers = stream(name, seed, slot.place, *parameters.drawn, slot.yes)
    if slot.yes:
        tree, sequences, taxa, blocks = _convergent(numbers, parameters)
    else:
        tree, taxa, blocks = random_tree(numbers, parameters.num_leaves), [], []
        sequences = evolve(numbers, tree, parameters.seq_len)
    gold = sorted(tree.name[leaf] for leaf in taxa)
    metadata: dict[str, Any] = {"num_leaves": parameters.num_leaves, "seq_len": parameters.seq_len}
    if slot.yes:
        metadata |= {
            "selection": parameters.selection,
            "taxa_as": parameters.taxa_as,
            "blocks": [{"start": block.start + 1, "motif": spell(block.motif)} for block in blocks],
        }
    named = gold
    if parameters.taxa_as == "index":
        order = sorted(map(str, tree.name.values()))
        gold = [order.index(str(taxon)) for taxon in gold]
    answer: dict[str, Any] = {"label": "yes" if slot.yes else "no", "taxa": gold}
    if parameters.taxa_as == "index":
        # `score.gold_names` cannot tell places from names if motifs are few or short
        answer["taxa_as"] = "index"
    id, text = f"biology_{name}_s{seed}_{slot.place:05d}", question(tree, sequences)
    stated = _stated(gold), _stated(named)
    return record_of(get_task(name), id, text, answer, metadata, *stated)


def _stated(taxa: Sequence[object]) -> str:
    return f"Yes: {', '.join(map(str, taxa))}" if taxa else "No"


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
    """The question's text, as in the published records; sequences are in the order of the tree."""
    fasta = "\n".join(f">{tree.name[leaf]}\n{spell(sequences[leaf])}" for leaf in tree.leaves())
    return _QUESTION.format(fasta=fasta, newick=tree.newick())


def _convergent(
    numbers: random.Random, parameters: HomoplasyParameters
) -> tuple[Tree, npt.NDArray[np.uint8], list[int], list[Block]]:
    """A tree and an alignment with planted motifs: (tree, sequences, convergent taxa, blocks)."""
    choose = distant_leaves if parameters.selection == "distant" else distant_clades
    for _ in range(MAX_TRIES):
        tree = random_tree(numbers, parameters.num_leaves)
        taxa = choose(numbers, tree, parameters.n_convergent_taxa)
        if taxa is None:
            continue
        sequences = evolve(numbers, tree, parameters.seq_len)
        blocks = _plant(numbers, sequences, taxa, parameters)
        if joins_only(sequences, tree.leaves(), taxa, blocks, parameters.length_convergent_block):
            return tree, sequences, taxa, blocks
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
    """Write random motifs into ``sequences`` of ``taxa``, at uniformly drawn places that do not overlap."""
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
    """Whether the alignment agrees with gold.

    Exactly ``taxa`` carry the motifs of all blocks, and outside the blocks no ``length`` neighbouring columns
    are equal in all of ``taxa``.
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


BASES: Final = "ACGT"
_LETTERS: Final = np.frombuffer(BASES.encode(), dtype=np.uint8)

SHORTEST, LONGEST = 0.1, 1.0
"""Range of branch lengths in expected substitutions per site, as in the published generator."""

ROOT: Final = 0


@dataclass(frozen=True)
class Tree:
    """A rooted binary tree of numbered nodes; node 0 is the root.

    Attributes
    ----------
    parent
        Parent of each node (-1 for the root).
    children
        The two children of each inner node; an empty list for a leaf.
    length
        Length of the branch above each node, rounded as printed (0 for the root).
    name
        Name of each leaf, a number from 1.
    """

    parent: list[int]
    children: list[list[int]]
    length: list[float]
    name: dict[int, int]

    def preorder(self, below: int = ROOT) -> Iterator[int]:
        """A node and all its descendants, parents first, leaves in the order of the Newick text."""
        stack = [below]
        while stack:
            node = stack.pop()
            yield node
            stack += reversed(self.children[node])

    def leaves(self, below: int = ROOT) -> list[int]:
        """The leaves under a node (or the node, if it is a leaf), in the order of the Newick text."""
        return [node for node in self.preorder(below) if not self.children[node]]

    def ancestors(self, node: int) -> list[int]:
        """The node itself, its parent, … up to the root."""
        line = [node]
        while line[-1] != ROOT:
            line.append(self.parent[line[-1]])
        return line

    def edges_between(self, a: int, b: int) -> int:
        """The number of edges on the path from node a to node b."""
        depth = {node: steps for steps, node in enumerate(self.ancestors(a))}
        for steps, node in enumerate(self.ancestors(b)):
            if node in depth:
                return depth[node] + steps
        raise AssertionError("every line of ancestors ends at the root")

    def newick(self) -> str:
        """The tree in Newick format, lengths with four decimals."""
        text: dict[int, str] = {}
        for node in reversed(list(self.preorder())):
            inner = ",".join(text.pop(child) for child in self.children[node])
            label = f"({inner})" if inner else str(self.name[node])
            text[node] = label if node == ROOT else f"{label}:{self.length[node]:.4f}"
        return text[ROOT] + ";"


def random_tree(numbers: random.Random, num_leaves: int) -> Tree:
    """A random tree of at least two leaves: a new leaf is attached to a new node on a random edge."""
    parent, children = [-1, ROOT, ROOT], [[1, 2], [], []]
    while len(parent) < 2 * num_leaves - 1:
        node = numbers.randrange(1, len(parent))
        middle, leaf = len(parent), len(parent) + 1
        above = parent[node]
        children[above][children[above].index(node)] = middle
        parent[node] = middle
        parent += [above, middle]
        children += [[node, leaf], []]
    # rounded before the simulation, so that the sequences evolve on exactly the printed tree
    length = [round(numbers.uniform(SHORTEST, LONGEST), 4) for _ in parent]
    length[ROOT] = 0.0
    leaves = [node for node, below in enumerate(children) if not below]
    names = numbers.sample(range(1, num_leaves + 1), num_leaves)
    return Tree(parent, children, length, dict(zip(leaves, names, strict=True)))


def evolve(numbers: random.Random, tree: Tree, seq_len: int) -> npt.NDArray[np.uint8]:
    """Sequences of all nodes under Jukes-Cantor (1969): ``(n_nodes, seq_len)`` codes 0…3 of `BASES`.

    Along a branch of length d a site is drawn anew, from all four bases, with probability
    1 - exp(-4d/3); it then differs with probability 3/4 (1 - exp(-4d/3)).
    """
    n = len(tree.parent)
    # 30 bits decide whether a site is drawn anew, 2 bits its new base
    words = np.frombuffer(numbers.randbytes(4 * n * seq_len), dtype="<u4").reshape(n, seq_len)
    bases = (words & 3).astype(np.uint8)
    limits = np.array([round(-math.expm1(-4 / 3 * length) * 2**30) for length in tree.length], np.uint32)
    kept = words >> 2 >= limits[:, None]
    for node in tree.preorder():
        if node != ROOT:
            np.copyto(bases[node], bases[tree.parent[node]], where=kept[node])
    return bases


def spell(sequence: npt.NDArray[np.uint8]) -> str:
    """A sequence of codes 0…3 as letters of `BASES`."""
    return _LETTERS[sequence].tobytes().decode("ascii")


MIN_EDGES_LEAVES: Final = 3
"""Minimum edges between two convergent taxa: siblings (two edges apart) do not count as convergence."""

MIN_EDGES_CLADES: Final = 4
"""Minimum edges between the tops of two convergent clades."""

_SHUFFLES: Final = 20
"""Random orders in which clades are tried on one tree before another tree is drawn."""


def distant_leaves(numbers: random.Random, tree: Tree, n_taxa: int) -> list[int] | None:
    """``n_taxa`` leaves, any two at least `MIN_EDGES_LEAVES` edges apart, chosen greedily in a random order;
    None if that fails."""
    chosen: list[int] = []
    leaves = tree.leaves()
    for leaf in numbers.sample(leaves, len(leaves)):
        if all(tree.edges_between(leaf, other) >= MIN_EDGES_LEAVES for other in chosen):
            chosen.append(leaf)
            if len(chosen) == n_taxa:
                return chosen
    return None


def distant_clades(numbers: random.Random, tree: Tree, n_taxa: int) -> list[int] | None:
    """All leaves of two or more clades, ``n_taxa`` in total, tops at least `MIN_EDGES_CLADES` edges apart.

    If ``n_taxa`` is four or more, each clade has at least two leaves. None if no such clades are found.
    """
    sizes = {node: len(tree.leaves(node)) for node in tree.preorder()}
    least = 1 if n_taxa < 4 else 2
    tops = [node for node, size in sizes.items() if least <= size < n_taxa]
    lines = {node: set(tree.ancestors(node)) for node in tops}
    for _ in range(_SHUFFLES):
        chosen: list[int] = []
        missing = n_taxa
        for top in numbers.sample(tops, len(tops)):
            if sizes[top] <= missing and all(
                top not in lines[other]
                and other not in lines[top]
                and tree.edges_between(top, other) >= MIN_EDGES_CLADES
                for other in chosen
            ):
                chosen.append(top)
                missing -= sizes[top]
                if not missing:
                    return [leaf for node in chosen for leaf in tree.leaves(node)]
    return None


Record = Mapping[str, Any]


def _rows(record: Record) -> list[tuple[str, str]]:
    return alignment_in(str(record.get("question", "")))


def _names(record: Record) -> list[str]:
    return [name for name, _ in _rows(record)]


def _yes(taxa: Sequence[str]) -> str:
    return f"Yes: {', '.join(taxa)}"


def _random_taxa(n: Callable[[int], int]) -> BlindStrategy:
    """A strategy that names a random subset of the taxa; ``n`` gives its size from the number of taxa."""

    def respond(record: Record, numbers: random.Random) -> str:
        names = _names(record)
        return _yes(numbers.sample(names, min(n(len(names)), len(names))))

    return respond


def _most_alike(record: Record, numbers: random.Random) -> str:
    """Name the two taxa with the most equal columns, which mostly are siblings."""
    rows = _rows(record)
    pairs = list(combinations(rows, 2))
    if not pairs:
        return "No"
    (one, _), (other, _) = max(pairs, key=lambda pair: sum(map(str.__eq__, pair[0][1], pair[1][1])))
    return _yes([one, other])


STRATEGIES: Final[dict[str, BlindStrategy]] = {
    "always No": lambda record, numbers: "No",
    "always Yes": lambda record, numbers: "Yes",
    "Yes, all taxa": lambda record, numbers: _yes(_names(record)),
    "Yes, 74 % of the taxa": _random_taxa(lambda n: round(0.74 * n)),
    "Yes, half of the taxa": _random_taxa(lambda n: round(0.5 * n)),
    "Yes, a quarter of the taxa": _random_taxa(lambda n: round(0.25 * n)),
    "Yes, two random taxa": _random_taxa(lambda n: 2),
    "Yes, three random taxa": _random_taxa(lambda n: 3),
    "Yes, five random taxa": _random_taxa(lambda n: 5),
    "Yes, the first two taxa": lambda record, numbers: _yes(_names(record)[:2]),
    "Yes, the first and the last": lambda record, numbers: _yes([*_names(record)[:1], *_names(record)[-1:]]),
    "Yes, the most similar two": _most_alike,
    "yes or no, drawn": lambda record, numbers: numbers.choice(
        ["No", _random_taxa(lambda n: 2)(record, numbers)]
    ),
    "both": lambda record, numbers: f"{_yes(_names(record))}\nNo",
    "the question": lambda record, numbers: str(record.get("question", "")),
}
"""Name → strategy."""


def answer(row: Mapping[str, Any], luck: random.Random) -> str:
    """The mock model: all gold taxa, or by chance only the first few or none."""
    taxa = row["answer"]["taxa"]
    if luck.random() >= MOCK_SKILL:
        taxa = taxa[: luck.randrange(len(taxa) + 1)]
    return _stated(taxa)
