"""Textbook twin of the SMILES kernels: molecules as networkx graphs, written down at random.

Atoms have ``element``, bonds ``order``; hydrogens are no atoms. Two molecules are the same when the labelled
graphs are isomorphic.
"""

from __future__ import annotations

import random

import networkx as nx

VALENCES = {
    "C": [4],
    "N": [3],
    "O": [2],
    "S": [2, 4, 6],
    "F": [1],
    "Cl": [1],
    "Br": [1],
    "P": [3],
    "B": [3],
    "I": [1],
}
"""Valences that the kernel decides on; beyond them RDKit may rewrite an atom (N, P, halogens) or refuse (C, O)."""

_BOND_TEXT = {1: "-", 2: "=", 3: "#"}


def used_valence(graph: nx.Graph, atom: int) -> int:
    return sum(order for _, _, order in graph.edges(atom, data="order"))


def hydrogens(graph: nx.Graph, atom: int) -> int | None:
    """Implicit hydrogens by the smallest valence that has room for the bonds; None where none has."""
    used = used_valence(graph, atom)
    return next((v - used for v in VALENCES[graph.nodes[atom]["element"]] if v >= used), None)


def is_certainly_invalid(graph: nx.Graph) -> bool:
    """Whether a carbon or oxygen has too many bonds."""
    return any(
        element in ("C", "O") and hydrogens(graph, atom) is None
        for atom, element in graph.nodes(data="element")
    )


def may_be_undecided(graph: nx.Graph) -> bool:
    """Whether an atom has a valence, or a ring an appearance, that only RDKit judges."""
    for atom, element in graph.nodes(data="element"):
        if element not in ("C", "O") and hydrogens(graph, atom) is None:
            return True
        if graph.degree(atom) > 6:
            return True
    return any(all(_may_take_part(graph, atom) for atom in ring) for ring in nx.simple_cycles(graph))


def _may_take_part(graph: nx.Graph, atom: int) -> bool:
    """Whether an atom could be part of an aromatic ring: a p orbital and at most three neighbours."""
    orders = [order for _, _, order in graph.edges(atom, data="order")]
    multiple = sum(order > 1 for order in orders)
    if graph.nodes[atom]["element"] == "C" and multiple != 1:
        return False
    return multiple <= 1 and graph.degree(atom) + (hydrogens(graph, atom) or 0) <= 3


def same(a: nx.Graph, b: nx.Graph) -> bool:
    return bool(
        nx.is_isomorphic(
            a, b, lambda x, y: x["element"] == y["element"], lambda x, y: x["order"] == y["order"]
        )
    )


def write(graph: nx.Graph, rng: random.Random) -> str:
    """A SMILES of the graph: atoms in random order, brackets, explicit single bonds and ring numbers at
    random."""
    pieces = []
    for part in nx.connected_components(graph):
        pieces.append(_write_part(graph, rng.choice(sorted(part)), rng))
    rng.shuffle(pieces)
    return ".".join(pieces)


def _write_part(graph: nx.Graph, root: int, rng: random.Random) -> str:
    tree: dict[int, list[int]] = {}
    closures: dict[int, list[tuple[int, int]]] = {atom: [] for atom in graph}

    def visit(atom: int, parent: int | None) -> None:
        tree[atom] = []
        neighbours = list(graph[atom])
        rng.shuffle(neighbours)
        for other in neighbours:
            pair = (min(atom, other), max(atom, other))
            if other not in tree:
                tree[atom].append(other)
                visit(other, atom)
            elif other != parent and atom not in tree[other] and pair not in closures[atom]:
                closures[atom].append(pair)
                closures[other].append(pair)

    visit(root, None)
    numbers: dict[tuple[int, int], int] = {}
    free = list(range(60))

    def bond(a: int, b: int) -> str:
        order = graph.edges[a, b]["order"]
        return "" if order == 1 and rng.random() < 0.8 else _BOND_TEXT[order]

    def text(atom: int) -> str:
        out = _atom(graph, atom, rng)
        for pair in closures[atom]:
            if pair in numbers:
                number = numbers.pop(pair)
                free.append(number)
                mark = bond(*pair) if rng.random() < 0.5 else ""
            else:
                number = numbers[pair] = free.pop(rng.randrange(min(12, len(free))))
                mark = _BOND_TEXT[graph.edges[pair]["order"]]
                mark = "" if mark == "-" else mark
            out += mark + (str(number) if number < 10 else f"%{number}")
        children = tree[atom]
        for at, child in enumerate(children):
            inner = bond(atom, child) + text(child)
            last = at == len(children) - 1
            out += inner if last and rng.random() < 0.9 else f"({inner})"
        return out

    return text(root)


def _atom(graph: nx.Graph, atom: int, rng: random.Random) -> str:
    element = str(graph.nodes[atom]["element"])
    count = hydrogens(graph, atom)
    if count is None or rng.random() < 0.8:
        return element
    chirality = rng.choice(["", "", "@", "@@"])
    return f"[{element}{chirality}{'' if count == 0 else 'H' if count == 1 else f'H{count}'}]"
