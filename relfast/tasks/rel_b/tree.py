"""Random binary trees, sequences evolved along them, and the choice of distant taxa."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

BASES: Final = "ACGT"
_LETTERS: Final = np.frombuffer(BASES.encode(), dtype=np.uint8)

SHORTEST, LONGEST = 0.1, 1.0
"""Branch lengths, expected substitutions a site, as in the published generator."""

ROOT: Final = 0


@dataclass(frozen=True)
class Tree:
    """A rooted binary tree of numbered nodes; node 0 is the root.

    Attributes
    ----------
    parent
        Parent of each node (-1 for the root).
    children
        Two children of each inner node, none of a leaf.
    length
        Length of the branch above each node, as it is printed (0 for the root).
    name
        Name of each leaf, a number from 1.
    """

    parent: list[int]
    children: list[list[int]]
    length: list[float]
    name: dict[int, int]

    def preorder(self) -> Iterator[int]:
        """Every node after its parent, leaves in the order of the Newick text."""
        stack = [ROOT]
        while stack:
            node = stack.pop()
            yield node
            stack += reversed(self.children[node])

    def leaves(self, below: int = ROOT) -> list[int]:
        """Leaves under a node (itself if it is one), in the order of the Newick text."""
        found, stack = [], [below]
        while stack:
            node = stack.pop()
            if not self.children[node]:
                found.append(node)
            stack += reversed(self.children[node])
        return found

    def ancestors(self, node: int) -> list[int]:
        """The node itself, its parent, … up to the root."""
        line = [node]
        while line[-1] != ROOT:
            line.append(self.parent[line[-1]])
        return line

    def edges_between(self, a: int, b: int) -> int:
        """Number of edges on the path from a to b."""
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
    """A tree of at least two leaves: each new leaf hangs on a new node in the middle of a random edge."""
    parent, children = [-1, ROOT, ROOT], [[1, 2], [], []]
    while len(parent) < 2 * num_leaves - 1:
        node = numbers.randrange(1, len(parent))
        middle, leaf = len(parent), len(parent) + 1
        above = parent[node]
        children[above][children[above].index(node)] = middle
        parent[node] = middle
        parent += [above, middle]
        children += [[node, leaf], []]
    # rounded before anything is simulated, so that the printed tree is the one the sequences evolved on
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
    """Codes 0…3 as letters."""
    return _LETTERS[sequence].tobytes().decode("ascii")


MIN_EDGES_LEAVES: Final = 3
"""Fewest edges between two convergent taxa: siblings (two edges) are no convergence."""

MIN_EDGES_CLADES: Final = 4

_SHUFFLES: Final = 20
"""Orders in which clades are tried on one tree before another tree is drawn."""


def distant_leaves(numbers: random.Random, tree: Tree, n_taxa: int) -> list[int] | None:
    """``n_taxa`` leaves, any two at least `MIN_EDGES_LEAVES` edges apart; None if this order has none."""
    chosen: list[int] = []
    leaves = tree.leaves()
    for leaf in numbers.sample(leaves, len(leaves)):
        if all(tree.edges_between(leaf, other) >= MIN_EDGES_LEAVES for other in chosen):
            chosen.append(leaf)
            if len(chosen) == n_taxa:
                return chosen
    return None


def distant_clades(numbers: random.Random, tree: Tree, n_taxa: int) -> list[int] | None:
    """All leaves of two or more clades, ``n_taxa`` in sum, tops at least `MIN_EDGES_CLADES` edges apart.

    From four taxa on each clade has two leaves or more. None if no such clades are found.
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
