"""REL-B1 records: the tree, Jukes-Cantor along it, and what is planted."""

from __future__ import annotations

import math
import random
import re
from dataclasses import replace
from itertools import combinations
from typing import Any

import networkx
import numpy as np
import pytest
from generated import Rec, check_run, generate

from relfast.tasks.rel_b.generate import (
    Tree,
    evolve,
    random_tree,
)

TASK = "REL-B1"


# What a reader of the question sees, parsed without any code of the generator.


def fasta(record: Rec) -> dict[str, str]:
    pairs = re.findall(r"^[ ]*>(\d+)\n([ACGT]+)$", record["question"], re.MULTILINE)
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


def newick_graph(record: Rec) -> networkx.Graph:
    """The printed tree; leaves are their names, inner nodes numbers, edges have lengths."""
    (text,) = re.findall(r"^[ ]*(\(.*\));$", record["question"], re.MULTILINE)
    graph: networkx.Graph = networkx.Graph()
    inner: list[int] = []
    number = 0
    node: Any = None
    for token in re.findall(r"[(),]|:[0-9.]+|\d+", text):
        if token == "(":
            number += 1
            inner.append(number)
        elif token == ")":
            node = inner.pop()
        elif token.startswith(":"):
            graph.add_edge(node, inner[-1], length=float(token[1:]))
        elif token != ",":
            node = token
    assert not inner
    return graph


def is_clade_union(graph: networkx.Graph, taxa: set[str], least: int) -> bool:
    """Whether the taxa are whole clades of ``least`` leaves or more, the tree hung up at node 1."""
    rooted = networkx.bfs_tree(graph, 1)
    below = {n: {d for d in {n} | networkx.descendants(rooted, n) if isinstance(d, str)} for n in rooted}
    covered: set[str] = set()
    for leaves in below.values():
        if leaves <= taxa and len(leaves) >= least:
            covered |= leaves
    return covered == taxa


def check_yes(record: Rec, length: int, n_blocks: int) -> None:
    sequences = fasta(record)
    taxa = {str(t) for t in record["answer"]["taxa"]}
    blocks = record["metadata"]["blocks"]
    assert len(blocks) == n_blocks
    columns: set[int] = set()
    for block in blocks:
        first = block["start"] - 1
        span = set(range(first, first + length))
        assert not columns & span
        columns |= span
        assert all(sequences[t][first : first + length] == block["motif"] for t in taxa)
    carriers = {
        name
        for name, text in sequences.items()
        if all(text[b["start"] - 1 : b["start"] - 1 + length] == b["motif"] for b in blocks)
    }
    assert carriers == taxa
    # the blocks taken out, no stretch of that length joins all of gold
    rows = [sequences[t] for t in taxa]
    total = len(rows[0])
    for start in range(total - length + 1):
        window = range(start, start + length)
        if columns.isdisjoint(window):
            assert len({row[start : start + length] for row in rows}) > 1


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"n_convergent_taxa": 5},
        {"n_convergent_taxa": 12, "selection": "clades"},
        {"n_convergent_taxa": 3, "selection": "clades", "num_leaves": 20},
        {"num_leaves": 10, "seq_len": 80, "n_convergent_sites": 3, "length_convergent_block": 7},
    ],
)
def test_yes_records_show_what_gold_says(parameters: dict[str, Any]) -> None:
    for record in check_run(generate(TASK, 30, 7, yes_fraction=1.0, **parameters), 30):
        length = parameters.get("length_convergent_block", 5)
        check_yes(record, length, parameters.get("n_convergent_sites", 5))
        taxa = {str(t) for t in record["answer"]["taxa"]}
        assert len(taxa) == parameters.get("n_convergent_taxa", 2)
        graph = newick_graph(record)
        assert networkx.is_tree(graph)
        if parameters.get("selection") == "clades":
            assert is_clade_union(graph, taxa, 1 if len(taxa) < 4 else 2)
        else:
            steps = dict(networkx.all_pairs_shortest_path_length(graph))
            assert min(steps[a][b] for a, b in combinations(taxa, 2)) >= 3


@pytest.mark.parametrize("share", [0.0, 0.2, 1.0])
def test_class_balance_as_asked(share: float) -> None:
    records = generate(TASK, 40, 3, yes_fraction=share, num_leaves=10, seq_len=80)
    assert sum(r["answer"]["label"] == "yes" for r in records) == round(40 * share)
    assert all("blocks" not in r["metadata"] for r in records if r["answer"]["label"] == "no")


def test_taxa_as_index_is_the_published_reading() -> None:
    by_name = generate(TASK, 20, 5)
    by_index = generate(TASK, 20, 5, taxa_as="index")
    for named, numbered in zip(by_name, by_index, strict=True):
        assert named["question"] == numbered["question"]
        order = sorted(fasta(named))
        assert [order[i] for i in numbered["answer"]["taxa"]] == [str(t) for t in named["answer"]["taxa"]]


# The tree.


@pytest.mark.parametrize("n", [2, 3, 4, 17, 200])
def test_trees_are_binary_with_lengths_in_range(n: int) -> None:
    tree = random_tree(random.Random(n), n)
    leaves = tree.leaves()
    assert len(leaves) == n
    assert sorted(tree.name.values()) == list(range(1, n + 1))
    assert all(len(children) in (0, 2) for children in tree.children)
    assert all(0.1 <= tree.length[v] <= 1 for v in range(1, len(tree.parent)))
    assert sorted(tree.preorder()) == list(range(2 * n - 1))
    for v, children in enumerate(tree.children):
        assert all(tree.parent[c] == v for c in children)


def test_every_edge_is_subdivided_equally_often() -> None:
    """The third leaf joins either of two edges, the fourth any of four: 2 x 4 equally likely histories."""
    shapes: dict[str, int] = {}
    for seed in range(4000):
        tree = random_tree(random.Random(seed), 4)
        shape = re.sub(r"\d+:[0-9.]+|:[0-9.]+", "", tree.newick())
        shapes[shape] = shapes.get(shape, 0) + 1
    # of the five shapes the balanced one arises in two of eight histories, four combs in six
    balanced = shapes["((,),(,));"]
    assert abs(balanced / 4000 - 1 / 4) < 4 * math.sqrt(0.25 * 0.75 / 4000)
    assert len(shapes) == 5


# Jukes-Cantor. With S sites the standard error of a pair's divergence p is sqrt(p (1 - p) / S) <= 0.0010
# for S = 250,000; a test at 4.5 standard errors per pair (2-sided level 7e-6, fewer than 100 pairs in all)
# sees a branch that is 5 % too long with near certainty: at d = 0.8 that shifts p by 0.0103 = 10 errors.

SITES = 250_000
Z = 4.5


def divergence(d: float) -> float:
    return 0.75 * (1 - math.exp(-4 / 3 * d))


def known_tree(scale: float = 1.0) -> Tree:
    """((1:.15,2:.35):.2,(3:.1,(4:.8,5:.5):.4):.6) — pairwise distances 0.5 to 2.0."""
    parent = [-1, 0, 1, 1, 0, 4, 4, 6, 6]
    children = [[1, 4], [2, 3], [], [], [5, 6], [], [7, 8], [], []]
    length = [0.0, 0.2, 0.15, 0.35, 0.6, 0.1, 0.4, 0.8, 0.5]
    tree = Tree(parent, children, length, {2: 1, 3: 2, 5: 3, 7: 4, 8: 5})
    return replace(tree, length=[x * scale for x in length])


def path_length(tree: Tree, a: int, b: int) -> float:
    up, down = set(tree.ancestors(a)), set(tree.ancestors(b))
    return sum(tree.length[v] for v in up ^ down)


def worst_z(tree: Tree, truth: Tree, seed: int) -> float:
    """Largest deviation of a pair's divergence from what ``truth`` predicts, in standard errors."""
    sequences = evolve(random.Random(seed), tree, SITES)
    worst = 0.0
    for a, b in combinations(tree.leaves(), 2):
        p = divergence(path_length(truth, a, b))
        seen = float(np.mean(sequences[a] != sequences[b]))
        worst = max(worst, abs(seen - p) / math.sqrt(p * (1 - p) / SITES))
    return worst


@pytest.mark.parametrize("seed", range(3))
def test_pairwise_divergences_are_those_of_jukes_and_cantor(seed: int) -> None:
    assert worst_z(known_tree(), known_tree(), seed) < Z


def test_base_frequencies_and_changes_are_even() -> None:
    """Chi-squared at level 1e-5: the 4 bases of each leaf, the 12 kinds of change along a branch."""
    tree = known_tree()
    sequences = evolve(random.Random(9), tree, SITES)
    for leaf in tree.leaves():
        counts = np.bincount(sequences[leaf], minlength=4)
        assert ((counts - SITES / 4) ** 2 / (SITES / 4)).sum() < 25.9  # 3 degrees of freedom
    parent, child = sequences[6], sequences[7]
    changed = parent != child
    kinds = np.bincount(parent[changed] * 4 + child[changed], minlength=16)
    kinds = kinds[kinds > 0]
    expected = changed.sum() / 12
    assert len(kinds) == 12
    assert ((kinds - expected) ** 2 / expected).sum() < 44.0  # 11 degrees of freedom
