"""The largest motifs of groups of graphs and the largest common part of two, against textbook twins; similar
fingerprints, against RDKit's."""

from __future__ import annotations

from typing import Final

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from molecular_graphs import graphs
from naive_mcs import largest_common as naive_largest_common
from naive_mcs import largest_motifs as naive_largest_motifs
from rdkit import DataStructs
from relfast_kernels.layouts import UNKNOWN
from relfast_kernels.mcs import layouts as states
from relfast_kernels.mcs.packed import PACKED_SIZE, pack
from relfast_kernels.mcs.search import largest_common
from relfast_kernels.motif import layouts as layout
from relfast_kernels.motif.entries import similar
from relfast_kernels.motif.grow import largest_motifs
from relfast_kernels.smiles import layouts

EXAMPLES: Final = 20
ENOUGH: Final = 1_000_000


STATE = np.zeros(states.STATE_SIZE, np.int64)


def row(graph: nx.Graph) -> np.ndarray:
    """A graph of atoms 0 to n - 1 as the kernel has it, rings by networkx."""
    bridges = set(map(frozenset, nx.bridges(graph)))
    made = np.zeros(layout.ATOMS + layout.ATOM_SIZE * len(graph), np.int32)
    made[0] = len(graph)
    for atom, element in graph.nodes(data="element"):
        start = layout.ATOMS + layout.ATOM_SIZE * atom
        in_ring = any(frozenset((atom, other)) not in bridges for other in graph[atom])
        made[start + layout.ATOM.label] = 2 * ord(element) + in_ring
        for other in sorted(graph[atom]):
            order = graph.edges[atom, other]["order"]
            order += 0 if frozenset((atom, other)) in bridges else layout.RING_BOND
            made[start + layout.ATOM.bonds + made[start + layout.ATOM.degree]] = 16 * other + order
            made[start + layout.ATOM.degree] += 1
    return made


def search(
    group: list[nx.Graph], least: int = 2, limit: int = ENOUGH
) -> tuple[tuple[int, int], list[nx.Graph]] | None:
    """Bonds and atoms of the largest motifs of a group, and all of them as parts of the first graph; None where
    the search was given up."""
    found, masks = np.zeros(layout.FOUND_SIZE, np.int64), np.zeros(layout.MAX_MOTIFS, np.int64)
    made, k = [row(graph) for graph in group], len(group) - 1
    starts = np.cumsum([0, *map(len, made[:-1])])
    # whatever an earlier search has left there is no matter
    work = np.full(layout.WORK_SIZE + k, 7, np.int64)
    known = np.full((k, layout.PER_MOLECULE), 7, np.int64)
    images = np.full((layout.DEPTHS, k, layout.SECTION), 7, np.int8)
    frames = np.full((layout.DEPTHS, layout.FRAME_SIZE), 7, np.int64)
    is_whole = largest_motifs(
        np.concatenate(made), starts, least, limit, work, known, images, frames, found, masks
    )
    assert is_whole == (found[layout.FOUND.steps] < limit)
    if not is_whole:
        return None
    n = int(found[layout.FOUND.motifs])
    bonds = [(a, b) for a in group[0] for b in sorted(group[0][a]) if a < b]
    parts = [
        group[0].edge_subgraph([bond for at, bond in enumerate(bonds) if mask >> at & 1])
        for mask in masks[:n].tolist()
    ]
    if not n:
        return (0, 0), []
    return (int(found[layout.FOUND.bonds]), int(found[layout.FOUND.atoms])), parts


def alike(one: nx.Graph, other: nx.Graph) -> bool:
    return bool(
        nx.is_isomorphic(
            one, other, lambda a, b: a["element"] == b["element"], lambda a, b: a["order"] == b["order"]
        )
    )


def same_kinds(some: list[nx.Graph], others: list[nx.Graph]) -> bool:
    """Whether each of the graphs is like one of the others, and the other way round."""
    return all(any(alike(one, other) for other in others) for one in some) and all(
        any(alike(one, other) for one in some) for other in others
    )


@pytest.mark.slow
@settings(max_examples=EXAMPLES, deadline=None)
@given(group=st.lists(graphs(8), min_size=2, max_size=5))
def test_motifs_that_brute_force_finds(group: list[nx.Graph]) -> None:
    size, naive = naive_largest_motifs(group[0], group[1:])
    found = search(group)
    assert found is not None
    assert found[0] == size
    assert len({frozenset(map(frozenset, part.edges)) for part in found[1]}) == len(found[1])
    assert same_kinds(found[1], naive)


@given(
    st.lists(st.sets(st.integers(0, 127), max_size=40), min_size=2, max_size=12),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_similar_fingerprints(sets: list[set[int]], lowest: float, highest: float) -> None:
    prints = [DataStructs.ExplicitBitVect(128) for _ in sets]
    for one, bits in zip(prints, sets, strict=True):
        one.SetBitsFromList(sorted(bits))
    words = np.frombuffer(b"".join(map(DataStructs.BitVectToBinaryText, prints)), np.uint64).reshape(-1, 2)
    counts = np.array([one.GetNumOnBits() for one in prints], np.int64)
    places, shares = np.zeros(len(sets), np.int64), np.zeros(len(sets))
    n = similar(words, counts, 1, lowest, highest, places, shares)
    theirs = DataStructs.BulkTanimotoSimilarity(prints[1], prints)
    expected = [(at, share) for at, share in enumerate(theirs) if at != 1 and lowest <= share <= highest]
    assert list(zip(places[:n].tolist(), shares[:n].tolist(), strict=True)) == expected


# two graphs alone


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


def search_pair(
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
@pytest.mark.parametrize("whole_rings", [False, True])
@settings(max_examples=EXAMPLES, deadline=None)
@given(one=graphs(), other=graphs())
def test_common_parts_that_brute_force_finds(whole_rings: bool, one: nx.Graph, other: nx.Graph) -> None:
    found = naive_largest_common(one, other, whole_rings=whole_rings)
    assert search_pair(one, other, whole_rings=whole_rings) == found
    assert search_pair(other, one, whole_rings=whole_rings) == found
