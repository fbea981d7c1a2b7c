"""Textbook twin of the search for common substructures: every connected set of bonds, every way to place it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import networkx as nx


def _bridges(graph: nx.Graph) -> set[frozenset[int]]:
    return {frozenset(bond) for bond in nx.bridges(graph)}


def _kinds(graph: nx.Graph, whole_rings: bool) -> nx.Graph:
    """The graph with what atoms and bonds must have in common with what they match; aromatic bonds (4) match single
    ones, but with whole rings."""
    made, bridges = graph.copy(), _bridges(graph)
    for bond in graph.edges:
        is_chain = frozenset(bond) in bridges
        order = graph.edges[bond]["order"]
        made.edges[bond]["kind"] = (order, is_chain) if whole_rings else order % 3
    for atom, element in graph.nodes(data="element"):
        in_ring = any(frozenset((atom, other)) not in bridges for other in graph[atom])
        made.nodes[atom]["kind"] = (element, whole_rings and in_ring)
    return made


def _connected_sets(graph: nx.Graph, whole_rings: bool) -> Iterator[nx.Graph]:
    """All connected sets of bonds, the largest first and, of those, the ones of more atoms."""
    bridges = _bridges(graph)
    for size in range(len(graph.edges), 0, -1):
        parts = [graph.edge_subgraph(bonds) for bonds in combinations(graph.edges, size)]
        for part in sorted(filter(nx.is_connected, parts), key=len, reverse=True):
            if not whole_rings or _bridges(part) <= bridges:
                yield part


def largest_common(query: nx.Graph, target: nx.Graph, *, whole_rings: bool = False) -> tuple[int, int]:
    """Bonds and atoms of the largest common connected substructure: the most bonds, then the most atoms.

    With ``whole_rings`` ring matches ring, orders match exactly, and each ring bond that is matched is in a ring
    that is.
    """
    ours, theirs = _kinds(query, whole_rings), _kinds(target, whole_rings)
    alike = nx.isomorphism.categorical_node_match("kind", None)
    for part in _connected_sets(ours, whole_rings):
        if nx.isomorphism.GraphMatcher(theirs, part, alike, alike).subgraph_is_monomorphic():
            return len(part.edges), len(part)
    common = {kind for _, kind in ours.nodes(data="kind")} & {kind for _, kind in theirs.nodes(data="kind")}
    return 0, int(any(not in_ring for _, in_ring in common))
