"""The largest common part of two graphs, and alignments, against textbook twins; similar fingerprints, against RDKit's."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Final

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_realign import align
from numpy.typing import NDArray
from rdkit import DataStructs
from relfast_kernels.layouts import UNKNOWN
from relfast_kernels.mcs import layouts as states
from relfast_kernels.mcs.layouts import PACKED_SIZE
from relfast_kernels.mcs.packed import pack
from relfast_kernels.mcs.search import largest_common
from relfast_kernels.motif.grow import similar
from relfast_kernels.smiles import layouts
from seeds import fresh

from relfast.tasks.realign.alignment import Alignment, align_matrices

# a textbook twin of the search: every connected set of bonds, every way to place it


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


def naive_largest_common(query: nx.Graph, target: nx.Graph, whole_rings: bool) -> tuple[int, int]:
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


@st.composite
def graphs(draw: st.DrawFn) -> nx.Graph:
    """Up to eight atoms and nine bonds, mostly connected."""
    n = draw(st.integers(1, 8))
    elements = draw(st.sampled_from(["C", "CO", "CCCN", "CNO"]))
    orders = draw(st.sampled_from([[1], [1, 1, 2], [1, 4], [4, 4, 1, 2, 3]]))
    graph = nx.Graph()
    for atom in range(n):
        graph.add_node(atom, element=draw(st.sampled_from(elements)))
    bonds = [(draw(st.integers(0, atom - 1)), atom) for atom in range(1, n) if draw(st.integers(0, 12))]
    atoms = st.integers(0, n - 1)
    for a, b in (*bonds, *draw(st.lists(st.tuples(atoms, atoms), max_size=5))):
        is_free = max(graph.degree(a), graph.degree(b)) < layouts.MAX_DEGREE and len(graph.edges) < 9
        if a != b and is_free and not graph.has_edge(a, b):
            graph.add_edge(a, b, order=draw(st.sampled_from(orders)))
    return graph


STATE: Final = np.zeros(states.STATE_SIZE, np.int64)


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


def packed(graph: nx.Graph, whole_rings: bool) -> np.ndarray:
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


def search_pair(one: nx.Graph, other: nx.Graph, whole_rings: bool) -> tuple[int, int] | None:
    query, target = packed(one, whole_rings), packed(other, whole_rings)
    if largest_common(query, target, STATE, 1_000_000) == UNKNOWN:
        return None
    return int(STATE[states.BEST_BONDS]), int(STATE[states.BEST_ATOMS])


@pytest.mark.slow
@pytest.mark.parametrize("whole_rings", [False, True])
@settings(max_examples=20, deadline=None)
@given(one=graphs(), other=graphs())
def test_common_parts_that_brute_force_finds(whole_rings: bool, one: nx.Graph, other: nx.Graph) -> None:
    found = naive_largest_common(one, other, whole_rings)
    assert search_pair(one, other, whole_rings) == search_pair(other, one, whole_rings) == found


# the alignment kernel against its textbook twin, in batches


# few different values, so that ties are everywhere; values next to the gap and the threshold; and one so
# small that a sum shows when it was added
TIED = np.array([-0.2, -0.1, 0.0, 0.1, 0.2, 0.7, 0.69999999, 1.0, -1.0, 8.640161e-15], np.float32)


def aligned(items: list[NDArray[np.float32]]) -> list[Alignment]:
    rows = np.array([item.shape[0] for item in items], np.int64)
    columns = np.array([item.shape[1] for item in items], np.int64)
    return list(align_matrices(np.concatenate([item.ravel() for item in items]), rows, columns))


@pytest.mark.parametrize("seed", range(20))
def test_batch_equals_the_textbook(seed: int) -> None:
    rng = np.random.default_rng(fresh(seed).getrandbits(64))
    sizes = rng.integers(0, 10, (120, 2))
    items = [
        rng.choice(TIED, size) if at % 3 else rng.uniform(-1, 1, size).astype(np.float32)
        for at, size in enumerate([*sizes, *([(65, 64), (1, 5000), (200, 30)] if seed == 0 else [])])
    ]
    for item, found in zip(items, aligned(items), strict=True):
        path, average = align(item, *item.shape)
        entries = found.entries(*(["step"] * n for n in item.shape))
        assert [(entry["type"], entry["benchmark_idx"], entry["llm_idx"]) for entry in entries] == path
        assert found.avg_score == average
        assert found.scores.tolist() == [float(item[a, b]) for kind, a, b in path if kind == "match"]
        parted = (at for at, (kind, a, b) in enumerate(path, 1) if kind != "match" or float(item[a, b]) < 0.7)
        assert found.first_divergence == next(parted, None)


def test_means_are_added_from_the_last_match_to_the_first() -> None:
    """Two ones and 8.6e-15 on the path: its mean ends in …696 so, in …695 rounded once."""
    item = np.full((7, 3), -0.2, np.float32)
    item[[3, 4, 6], [0, 1, 2]] = 1.0, 1.0, 8.640161e-15
    (found,) = aligned([item])
    assert found.avg_score == 0.6666666666666696
    first, second, last = found.scores.tolist()
    assert (last + second + first) / 3 == 0.6666666666666696
    assert (first + second + last) / 3 != 0.6666666666666696
