"""Textbook twin of the search for common substructures: every connected set of bonds, every way to place it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import networkx as nx


def _matches(ours: nx.Graph, theirs: nx.Graph, bond: tuple[int, int], image: tuple[int, int]) -> bool:
    """Equal orders; aromatic (4) goes with single."""
    return bool(ours.edges[bond]["order"] % 3 == theirs.edges[image]["order"] % 3)


def _connected_sets(graph: nx.Graph) -> Iterator[tuple[tuple[int, int], ...]]:
    """All connected sets of bonds, the largest first and, of those, the ones of more atoms."""
    found = []
    for size in range(len(graph.edges), 0, -1):
        for bonds in combinations(graph.edges, size):
            part = graph.edge_subgraph(bonds)
            if nx.is_connected(part):
                found.append((len(bonds), len(part), bonds))
    return (bonds for _, _, bonds in sorted(found, key=lambda item: (-item[0], -item[1])))


def _can_place(query: nx.Graph, bonds: tuple[tuple[int, int], ...], target: nx.Graph) -> bool:
    """Whether these bonds of the query can be found in the target (which may have more between the same atoms)."""
    part = query.edge_subgraph(bonds)
    order = list(nx.bfs_tree(part, next(iter(part))))

    def place(image: dict[int, int]) -> bool:
        if len(image) == len(order):
            return True
        atom = order[len(image)]
        for there in target:
            if there in image.values() or target.nodes[there]["element"] != query.nodes[atom]["element"]:
                continue
            if all(
                target.has_edge(there, image[other])
                and _matches(query, target, (atom, other), (there, image[other]))
                for other in part[atom]
                if other in image
            ) and place({**image, atom: there}):
                return True
        return False

    return place({})


def largest_common(query: nx.Graph, target: nx.Graph) -> tuple[int, int]:
    """Bonds and atoms of the largest common connected substructure: the most bonds, then the most atoms."""
    for bonds in _connected_sets(query):
        if _can_place(query, bonds, target):
            return len(bonds), len(query.edge_subgraph(bonds))
    ours, theirs = ({graph.nodes[atom]["element"] for atom in graph} for graph in (query, target))
    return 0, 1 if ours & theirs else 0
