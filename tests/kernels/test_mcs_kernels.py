"""The largest common substructure, against a textbook twin and as the bits of its graphs."""

from __future__ import annotations

from typing import Final

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from molecular_graphs import graphs, relabelled
from naive_mcs import largest_common as naive_largest_common
from relfast_kernels.layouts import UNKNOWN
from relfast_kernels.mcs import state as states
from relfast_kernels.mcs.bits import n_bits, place_of
from relfast_kernels.mcs.orbits import representatives
from relfast_kernels.mcs.packed import PACKED_SIZE, USEFUL, bridges, pack, share, share_labels
from relfast_kernels.mcs.roots import largest_common
from relfast_kernels.smiles import layouts

STATE = np.zeros(states.STATE_SIZE, np.int64)
EXAMPLES: Final = 20


def packed(graph: nx.Graph, whole_rings: bool = False) -> np.ndarray:
    """A graph of atoms 0 to n - 1 as the kernel has it."""
    plain = np.zeros(layouts.GRAPH_SIZE, np.int64)
    for atom, element in graph.nodes(data="element"):
        plain[layouts.LABEL + atom] = (ord(element) - 64) * layouts.CHARGES + layouts.NEUTRAL
    for one, other, order in graph.edges(data="order"):
        for a, b in ((one, other), (other, one)):
            at = layouts.BONDS + layouts.MAX_DEGREE * a + plain[layouts.DEGREE + a]
            plain[at] = 8 * b + order
            plain[layouts.DEGREE + a] += 1
    found = np.zeros(PACKED_SIZE, np.int64)
    return found if pack(plain, len(graph), whole_rings, found) >= 0 else found[:0]


def search(
    one: nx.Graph, other: nx.Graph, limit: int = 1_000_000, whole_rings: bool = False
) -> tuple[int, int] | None:
    query, target = packed(one, whole_rings), packed(other, whole_rings)
    if largest_common(query, target, STATE, limit) == UNKNOWN:
        return None
    bonds, atoms = int(STATE[states.BEST_BONDS]), int(STATE[states.BEST_ATOMS])
    if bonds and not whole_rings:
        check_solution(one, other, bonds, atoms)
    return bonds, atoms


def check_solution(one: nx.Graph, other: nx.Graph, bonds: int, atoms: int) -> None:
    """The images that were found are a common substructure of that size."""
    image = {atom: int(STATE[states.BEST_IMAGE + atom]) for atom in one}
    image = {atom: there for atom, there in image.items() if there >= 0}
    assert len(image) == len(set(image.values())) == atoms
    assert all(one.nodes[a]["element"] == other.nodes[b]["element"] for a, b in image.items())
    common = nx.Graph(
        (a, b)
        for a, b, order in one.edges(data="order")
        if a in image
        and b in image
        and other.has_edge(image[a], image[b])
        and other.edges[image[a], image[b]]["order"] % 3 == order % 3
    )
    assert len(common.edges) == bonds
    assert len(common) == atoms
    assert nx.is_connected(common)


@pytest.mark.slow
@settings(max_examples=EXAMPLES, deadline=None)
@given(one=graphs(), other=graphs())
def test_what_brute_force_finds(one: nx.Graph, other: nx.Graph) -> None:
    found = naive_largest_common(one, other)
    assert search(one, other) == found
    assert search(other, one) == found


@pytest.mark.slow
@settings(max_examples=EXAMPLES, deadline=None)
@given(one=graphs(), other=graphs())
def test_whole_rings_as_brute_force_finds_them(one: nx.Graph, other: nx.Graph) -> None:
    found = naive_largest_common(one, other, whole_rings=True)
    assert search(one, other, whole_rings=True) == found
    assert search(other, one, whole_rings=True) == found


@settings(max_examples=EXAMPLES, deadline=None)
@given(one=graphs(30), other=graphs(30), data=st.data())
def test_the_order_of_atoms_does_not_matter(one: nx.Graph, other: nx.Graph, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(one))))
    assert search(relabelled(one, order), other) == search(one, other)
    assert search(one, one) == largest_part(one)


def largest_part(graph: nx.Graph) -> tuple[int, int]:
    parts = (graph.subgraph(atoms) for atoms in nx.connected_components(graph))
    return max((len(part.edges), len(part)) for part in parts)


def test_steps_bound_the_search() -> None:
    one, other = nx.hypercube_graph(4), nx.dodecahedral_graph()
    for graph in (one, other):
        nx.set_node_attributes(graph, "C", "element")
        nx.set_edge_attributes(graph, 1, "order")
    one = nx.convert_node_labels_to_integers(one)
    assert search(one, other, limit=100) is None
    assert STATE[states.STEPS] == 100
    steps = [search(one, other, limit=n) for n in (50, 50)] and int(STATE[states.STEPS])
    assert steps == 50


def test_too_many_bonds_are_left_to_others() -> None:
    graph = nx.circulant_graph(32, [1, 2])
    nx.set_node_attributes(graph, "C", "element")
    nx.set_edge_attributes(graph, 1, "order")
    assert packed(graph).size == 0
    graph.remove_edges_from(list(graph.edges)[:2])
    assert packed(graph).size == PACKED_SIZE


@settings(max_examples=EXAMPLES, deadline=None)
@given(graph=graphs(30))
def test_bridges(graph: nx.Graph) -> None:
    found = packed(graph)
    edges = sorted((min(bond), max(bond)) for bond in graph.edges)
    bonds = [  # numbered as `pack` does: by their lower ends, then as they come
        (a, b) for a in graph for b in graph[a] if a < b
    ]
    assert sorted(bonds) == edges
    mask = bridges(found, (1 << len(bonds)) - 1)
    assert {bond for at, bond in enumerate(bonds) if mask >> at & 1} == {
        (min(bond), max(bond)) for bond in nx.bridges(graph)
    }


@settings(max_examples=EXAMPLES, deadline=None)
@given(graph=graphs(12))
def test_orbits(graph: nx.Graph) -> None:
    """Each atom is a representative or a symmetry of its part of the graph carries one to it."""
    found = packed(graph)
    other = found.copy()
    share(found, other, STATE)
    share_labels(found, other, STATE)
    mask = representatives(found, int(found[USEFUL]), STATE[states.ORBITS :])
    chosen = {atom for atom in graph if mask >> atom & 1}
    for part in nx.connected_components(graph):
        piece = graph.subgraph(part)
        maps = nx.isomorphism.GraphMatcher(
            piece,
            piece,
            node_match=lambda a, b: a["element"] == b["element"],
            edge_match=lambda a, b: a["order"] % 3 == b["order"] % 3,
        ).isomorphisms_iter()
        orbits = nx.Graph()
        orbits.add_nodes_from(piece)
        for carried in maps:
            orbits.add_edges_from(carried.items())
        for orbit in nx.connected_components(orbits):
            assert len(orbit & chosen) == 1


def test_symmetric_atoms_are_searched_once() -> None:
    """Every atom of a cube and of a dodecahedron stands for all."""
    one, other = (
        nx.convert_node_labels_to_integers(graph) for graph in (nx.cubical_graph(), nx.dodecahedral_graph())
    )
    for graph in (one, other):
        nx.set_node_attributes(graph, "C", "element")
        nx.set_edge_attributes(graph, 1, "order")
    assert search(one, other, limit=50_000) == (8, 8)


def test_bits() -> None:
    for place in range(62):
        assert place_of(1 << place) == place
        assert n_bits((1 << place) - 1) == place
