"""Small labelled graphs, as molecules are."""

from __future__ import annotations

import networkx as nx
from hypothesis import strategies as st
from relfast_kernels.smiles import layouts


@st.composite
def graphs(draw: st.DrawFn) -> nx.Graph:
    """Up to eight atoms and nine bonds, mostly connected."""
    n = draw(st.integers(1, 8))
    elements = draw(st.sampled_from(["C", "CO", "CCCN", "CNO"]))
    orders = draw(st.sampled_from([[1], [1, 1, 2], [1, 4], [4, 4, 1, 2, 3]]))
    graph = nx.Graph()
    for atom in range(n):
        graph.add_node(atom, element=draw(st.sampled_from(elements)))
        if atom and draw(st.integers(0, 12)):
            graph.add_edge(draw(st.integers(0, atom - 1)), atom, order=draw(st.sampled_from(orders)))
    for _ in range(draw(st.integers(0, 5))):
        a, b = draw(st.integers(0, n - 1)), draw(st.integers(0, n - 1))
        if (
            a != b
            and not graph.has_edge(a, b)
            and max(graph.degree(a), graph.degree(b)) < layouts.MAX_DEGREE
            and len(graph.edges) < 9
        ):
            graph.add_edge(a, b, order=draw(st.sampled_from(orders)))
    for atom in range(n):
        while graph.degree(atom) > layouts.MAX_DEGREE:
            graph.remove_edge(atom, max(graph[atom]))
    return graph
