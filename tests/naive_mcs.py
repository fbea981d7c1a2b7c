"""Textbook twin of the search for common substructures: every connected set of bonds, every way to place it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import networkx as nx

Bond = tuple[int, int]


def _kinds(graph: nx.Graph, whole_rings: bool) -> tuple[dict[int, object], dict[frozenset[int], object]]:
    """What atoms and bonds must have in common with what they match; aromatic bonds (4) match single ones."""
    if not whole_rings:
        return dict(graph.nodes(data="element")), {
            frozenset((a, b)): order % 3 for a, b, order in graph.edges(data="order")
        }
    bridges = {frozenset(bond) for bond in nx.bridges(graph)}
    in_rings = {atom for bond in graph.edges if frozenset(bond) not in bridges for atom in bond}
    return {atom: (element, atom in in_rings) for atom, element in graph.nodes(data="element")}, {
        frozenset((a, b)): (order, frozenset((a, b)) in bridges) for a, b, order in graph.edges(data="order")
    }


def _connected_sets(graph: nx.Graph, whole_rings: bool) -> Iterator[tuple[Bond, ...]]:
    """All connected sets of bonds, the largest first and, of those, the ones of more atoms."""
    bridges = {frozenset(bond) for bond in nx.bridges(graph)}
    found = []
    for size in range(len(graph.edges), 0, -1):
        for bonds in combinations(graph.edges, size):
            part = graph.edge_subgraph(bonds)
            if not nx.is_connected(part):
                continue
            if whole_rings and any(frozenset(bond) not in bridges for bond in nx.bridges(part)):
                continue
            found.append((len(bonds), len(part), bonds))
    return (bonds for _, _, bonds in sorted(found, key=lambda item: (-item[0], -item[1])))


def _can_place(query: nx.Graph, bonds: tuple[Bond, ...], target: nx.Graph, whole_rings: bool) -> bool:
    """Whether these bonds of the query can be found in the target (which may have more between the same atoms)."""
    part = query.edge_subgraph(bonds)
    order = list(nx.bfs_tree(part, next(iter(part))))
    atoms, kinds = _kinds(query, whole_rings)
    atoms_there, kinds_there = _kinds(target, whole_rings)

    def place(image: dict[int, int]) -> bool:
        if len(image) == len(order):
            return True
        atom = order[len(image)]
        for there in target:
            if there in image.values() or atoms_there[there] != atoms[atom]:
                continue
            if all(
                kinds_there.get(frozenset((there, image[other]))) == kinds[frozenset((atom, other))]
                for other in part[atom]
                if other in image
            ) and place({**image, atom: there}):
                return True
        return False

    return place({})


def largest_common(query: nx.Graph, target: nx.Graph, *, whole_rings: bool = False) -> tuple[int, int]:
    """Bonds and atoms of the largest common connected substructure: the most bonds, then the most atoms.

    With ``whole_rings`` ring matches ring, orders match exactly, and each ring bond that is matched is in a ring
    that is.
    """
    for bonds in _connected_sets(query, whole_rings):
        if _can_place(query, bonds, target, whole_rings):
            return len(bonds), len(query.edge_subgraph(bonds))
    ours, theirs = (set(_kinds(graph, whole_rings)[0].values()) for graph in (query, target))
    return 0, 1 if any(not whole_rings or not kind[1] for kind in ours & theirs) else 0


def largest_motifs(query: nx.Graph, others: list[nx.Graph]) -> tuple[tuple[int, int], list[nx.Graph]]:
    """Bonds and atoms of the largest connected substructures that all have in common, whole rings in rings, and
    all sets of the query's bonds that are one."""
    size, found = (0, 0), []
    for bonds in _connected_sets(query, whole_rings=True):
        part = query.edge_subgraph(bonds)
        if found and (len(bonds), len(part)) != size:
            break
        if all(_can_place(query, bonds, other, whole_rings=True) for other in others):
            size = len(bonds), len(part)
            found.append(part)
    return size, found
