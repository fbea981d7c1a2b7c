"""The largest common substructure of two SMILES, against RDKit's ``FindMCS``."""

from __future__ import annotations

import gzip
import json
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from missing_kernels import without
from molecule_pairs import odd_pair, pair
from rdkit import Chem
from rdkit.Chem import rdFMCS
from relfast_kernels.compiled import native
from relfast_kernels.layouts import UNKNOWN
from relfast_kernels.mcs import layouts as states
from relfast_kernels.mcs.packed import N_BONDS, PACKED_SIZE, pack
from relfast_kernels.mcs.search import largest_common as search
from relfast_kernels.smiles import layouts
from seeds import fresh, rounds, share

import relfast
from relfast.chem import common_substructure, matching
from relfast.chem.common_substructure import (
    COMMON_MOTIFS,
    MAX_STEPS,
    LargestCommon,
    Pair,
    Prepared,
    constant_in,
    judge,
    largest_common,
    prepared,
)
from relfast.chem.matching import best_constant, exact_common_substructure, shared_part
from relfast.chem.molecule import Molecule, parse
from relfast.records import Extracted, Outcome, Policy, Score
from relfast.tasks import TASKS
from relfast.tasks.modules import TextJudge
from relfast.tasks.rel_c import RelCOptions, motif


def by_kernel(gold: str, response: str, options: RelCOptions) -> Outcome | None:
    """What a pair is worth, if kernels can say."""
    judge = judge_of(options)
    if judge.is_full:
        judge_of.cache_clear()
        judge = judge_of(options)
    number = judge.gold({"smiles": gold}, None)
    outcome = None if number < 0 else judge.one(number, f"<smiles>{response}</smiles>")
    return cast("Outcome | None", deepcopy(outcome))  # the judge keeps its own


@cache
def judge_of(options: RelCOptions) -> TextJudge:
    judge = TASKS["REL-C2"].text_judge(options, lambda outcome: cast("Score", outcome), lambda: None)
    assert judge is not None
    return judge


PAIRS = Path(__file__).parent.parent / "data" / "parity" / "mcs_pairs.jsonl.gz"

ORDERS = {
    Chem.BondType.SINGLE: 1,
    Chem.BondType.DOUBLE: 2,
    Chem.BondType.TRIPLE: 3,
    Chem.BondType.AROMATIC: layouts.AROMATIC_BOND,
}


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    if native.load(common_substructure.UNIT) is None:
        native.build(common_substructure.UNIT)
    assert largest_common("CC", "CC") == (1, 2)


@cache
def pairs() -> list[dict[str, Any]]:
    with gzip.open(PAIRS, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def as_packed(mol: Chem.Mol, whole_rings: bool = False) -> np.ndarray | None:
    """A molecule of RDKit's as the kernel has it, None if it is too large or has other bonds."""
    graph = np.zeros(layouts.GRAPH_SIZE, np.int64)
    if mol.GetNumAtoms() > layouts.MAX_ATOMS:
        return None
    for atom in mol.GetAtoms():
        if atom.GetDegree() > layouts.MAX_DEGREE:
            return None
        graph[layouts.LABEL + atom.GetIdx()] = (
            atom.GetAtomicNum() * layouts.CHARGES + layouts.NEUTRAL + atom.GetFormalCharge()
        )
        for bond in atom.GetBonds():
            if bond.GetBondType() not in ORDERS:
                return None
            degree = graph[layouts.DEGREE + atom.GetIdx()]
            place = layouts.BONDS + layouts.MAX_DEGREE * atom.GetIdx() + degree
            graph[place] = 8 * bond.GetOtherAtomIdx(atom.GetIdx()) + ORDERS[bond.GetBondType()]
            graph[layouts.DEGREE + atom.GetIdx()] += 1
    found = np.zeros(PACKED_SIZE, np.int64)
    return found if pack(graph, mol.GetNumAtoms(), whole_rings, found) >= 0 else None


def of_graphs(one: Chem.Mol, other: Chem.Mol, whole_rings: bool = False) -> tuple[int, int] | str:
    """What the search says of two molecules as RDKit sees them."""
    query, target = as_packed(one, whole_rings), as_packed(other, whole_rings)
    if query is None or target is None:
        return "not read"
    if query[N_BONDS] > target[N_BONDS]:
        query, target = target, query
    state = np.zeros(states.STATE_SIZE, np.int64)
    if search(query, target, state, MAX_STEPS) == UNKNOWN:
        return "unknown"
    return int(state[states.BEST_BONDS]), int(state[states.BEST_ATOMS])


@pytest.mark.slow
@pytest.mark.fuzz
def test_what_rdkit_found() -> None:
    """Of published pairs, as RDKit reads them and as the kernel does."""
    seen: Counter[str] = Counter()
    rows = share(pairs())
    for row in rows:
        one, other = row["a"], row["b"]
        of_texts = largest_common(one, other)
        found = of_graphs(Chem.MolFromSmiles(one), Chem.MolFromSmiles(other))
        of_molecules = exact_common_substructure(
            *map(Molecule, map(Chem.MolFromSmiles, (one, other)), (one, other))
        )
        seen["texts decided"] += of_texts is not None
        seen["molecules decided"] += of_molecules is not None
        seen[found if isinstance(found, str) else "graphs decided"] += 1
        assert of_molecules is None or of_molecules == found[1]
        if row["default"] is None:
            seen["RDKit was cut short"] += 1
            assert of_texts is None or of_texts == found
            continue
        expected = tuple(row["default"])
        assert of_texts in (None, expected), (one, other)
        assert isinstance(found, str) or found == expected, (one, other)
    print(dict(seen))
    assert seen["unknown"] <= 6
    assert seen["graphs decided"] >= 0.98 * len(rows)
    assert seen["texts decided"] >= 0.85 * len(rows)


@pytest.mark.slow
@pytest.mark.fuzz
def test_whole_rings_are_nearly_what_rdkit_found() -> None:
    """RDKit's search is not complete, and it lets bonds of fused rings dangle: cages differ, drugs hardly."""
    seen: Counter[str] = Counter()
    for row in share(pairs()):
        if row["strict"] is None:
            continue
        one, other = Chem.MolFromSmiles(row["a"]), Chem.MolFromSmiles(row["b"])
        found = of_graphs(one, other, whole_rings=True)
        of_texts = largest_common(row["a"], row["b"], whole_rings=True)
        assert isinstance(found, str) or of_texts in (None, found), row
        if isinstance(found, str):
            seen[found] += 1
            continue
        kind = "cages" if row["group"].startswith("cage") else "others"
        expected = tuple(row["strict"])
        size = "same" if found == expected else "larger" if found > expected else "smaller"
        seen[f"{kind}: {size} than RDKit's"] += 1
    print(dict(seen))
    assert seen["unknown"] <= 4
    assert seen["others: larger than RDKit's"] <= 4
    assert seen["others: smaller than RDKit's"] <= 3


@pytest.mark.slow
@pytest.mark.fuzz
def test_pairs_as_rdkit_compares_them() -> None:
    """Containment both ways and with whole rings, the constants in gold, and what policies make of that."""
    rng = fresh(15)
    seen: Counter[str] = Counter()
    strict = RelCOptions(policy="strict")
    for _ in range(rounds(2_000)):
        gold, response = pair(rng)
        if rng.random() < 0.3:
            gold, response = rng.choice(COMMON_MOTIFS), gold
        if rng.random() < 0.5:
            gold, response = response, gold
        extracted: Extracted[str | None] = Extracted(response, found=True)
        found = by_kernel(gold, response, strict)
        if found is not None:
            seen["strict"] += 1
            slow = motif.judge_strictly(gold, extracted, strict)
            assert (found.metrics, found.vote, found.correct) == (slow.metrics, slow.vote, slow.correct), (
                gold,
                response,
            )
        theirs = prepared(gold)
        if not isinstance(theirs, Prepared):
            continue
        ours, whole = parse(response), parse(gold)
        compared = judge(theirs, response, whole_rings=True)
        if compared == "invalid":
            assert ours is None
        if not isinstance(compared, Pair):
            continue
        assert ours is not None
        assert whole is not None
        seen["compared"] += 1
        assert compared.in_first == whole.mol.HasSubstructMatch(ours.mol), (gold, response)
        assert compared.in_second == ours.mol.HasSubstructMatch(whole.mol), (gold, response)
        if not (compared.in_first and compared.in_second) and "." not in gold + response:
            assert compared.part == shared_part(whole, ours), (gold, response)
            seen["parts"] += compared.part
            assert constant_in(theirs) == best_constant(gold), gold
            assert (compared.atoms,) == ((largest_common(gold, response, whole_rings=True) or (0, -1))[1],)
    print(dict(seen))
    assert min(seen["strict"], seen["compared"]) > rounds(2_000) // 2
    assert seen["parts"] > rounds(2_000) // 100


@pytest.mark.slow
@pytest.mark.fuzz
def test_charges_radicals_isotopes_and_fragments(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the kernel says of them, and what policies make of it, against RDKit alone."""
    rng = fresh(16)
    seen: Counter[str] = Counter()
    strict, reference = RelCOptions(policy="strict"), RelCOptions(policy="reference")
    for _ in range(rounds(4_000)):
        one, other = odd_pair(rng)
        first, second = Chem.MolFromSmiles(one), Chem.MolFromSmiles(other)
        extracted: Extracted[str | None] = Extracted(other, found=True)
        theirs = prepared(one)
        compared = judge(theirs, other, steps=MAX_STEPS) if isinstance(theirs, Prepared) else None
        if isinstance(compared, Pair):
            seen["fragments" if "." in one + other else "compared"] += 1
            assert not any(atom.GetIsotope() for mol in (first, second) for atom in mol.GetAtoms())
            assert compared.in_first == first.HasSubstructMatch(second), (one, other)
            assert compared.in_second == second.HasSubstructMatch(first), (one, other)
        found = largest_common(one, other)
        expected = rdFMCS.FindMCS([first, second], timeout=1)
        if found is not None and not expected.canceled:
            assert found == (expected.numBonds, expected.numAtoms), (one, other)
        fast = {
            "reference": by_kernel(one, other, reference),
            "strict": by_kernel(one, other, strict),
        }
        with monkeypatch.context() as patch:
            without(patch, "smiles")
            patch.setattr(motif, "prepared", lambda text: None)
            patch.setattr(matching, "largest_common", lambda *texts, **how: None)
            slow = {
                "reference": motif._judge_as_published(one, extracted, reference),
                "strict": motif.judge_strictly(one, extracted, strict),
            }
        for policy, outcome in fast.items():
            alone = slow[policy]
            if outcome is None or "mcs_canceled" in alone.metrics:
                continue
            seen[policy] += 1
            assert (outcome.correct, outcome.vote) == (alone.correct, alone.vote), (policy, one, other)
            if policy == "strict":
                # RDKit's search with whole rings can miss the optimum, and lets bonds of fused rings dangle
                del outcome.metrics["overlap_metric"], alone.metrics["overlap_metric"]
            assert outcome.metrics == alone.metrics, (policy, one, other)
    print(dict(seen))
    assert min(seen.values()) > rounds(4_000) // 10
    assert len(seen) == 4


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("C", "C", (0, 1)),
        ("C", "O", (0, 0)),
        ("CC", "OC", (0, 1)),
        ("c1ccccc1", "C1CCCCC1", (6, 6)),
        ("c1ccccc1", "C1=CCCCC1", (5, 6)),
        ("CCO.CCN", "OCCN", (2, 3)),
        ("C1CC1", "CCCC", (2, 3)),
        ("", "C", None),
        ("C", "", None),
        ("[NH4+]", "N", (0, 1)),
        ("[13CH4]", "C", None),
        ("C(", "C", None),
        ("Ä", "C", None),
        ("C" * 61, "C", None),
        ("C" * 300, "C", None),
    ],
)
def test_small_ones(one: str, other: str, expected: tuple[int, int] | None) -> None:
    assert largest_common(one, other) == expected
    assert largest_common(other, one) == expected


def test_a_search_ends() -> None:
    one, other = "C12C3C4C5C1C6C2C7C3C8C4C9C5C6C7C89", "C1CC2CCC3CCCC4CCC(C1)C2C34"
    assert largest_common(one, other, max_steps=10) is None
    found = [largest_common(one, other) for _ in range(3)]
    assert found[0] == found[1] == found[2]


def test_many_threads() -> None:
    """Each search has its own workspace, whoever holds the interpreter's lock."""
    rows = [(row["a"], row["b"]) for row in pairs()][::28]
    expected = [largest_common(*row) for row in rows]
    found: list[list[LargestCommon | None]] = [[] for _ in range(8)]

    def work(at: int) -> None:
        found[at] = [largest_common(*row) for row in rows]

    threads = [threading.Thread(target=work, args=(at,)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(one == expected for one in found)


@pytest.mark.parametrize("policy", ["reference", "strict"])
def test_no_worker_for_what_the_kernel_decides(policy: Policy) -> None:
    """From 64 threads: the same scores as one by one, and no process is started."""
    options = RelCOptions(policy=policy)
    rows = [
        ({"smiles": row["a"]}, f"<smiles>{row['b']}</smiles>")
        for row in pairs()[::40]
        if by_kernel(row["a"], row["b"], options) is not None
    ]
    rows += [({"smiles": "CCO"}, response) for response in ("I cannot tell", "<smiles>C1CC</smiles>")]
    assert len(rows) > 100
    with relfast.Scorer(policy=policy, workers=0) as alone:
        expected = [alone.score_one("REL-C2", *row).to_row() for row in rows]
    with relfast.Scorer(policy=policy, workers=2) as scorer:
        with ThreadPoolExecutor(64) as threads:
            found = list(threads.map(lambda row: scorer.score_one("REL-C2", *row).to_row(), rows))
        assert scorer.stats()["workers"] == 0
    assert found == expected


@pytest.mark.parametrize("whole_rings", [True, False])
def test_plain_python_says_the_same(whole_rings: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    some = pairs()[::200]

    def said() -> list[Any]:
        common_substructure._prepared.cache_clear()
        found = [prepared(row["a"]) for row in some]
        return [
            (
                largest_common(row["a"], row["b"], whole_rings=whole_rings),
                judge(one, row["b"], whole_rings=whole_rings) if isinstance(one, Prepared) else one,
            )
            for row, one in zip(some, found, strict=True)
        ]

    compiled = said()
    without(monkeypatch, "mcs")
    assert said() == compiled
    assert any(isinstance(found, Pair) for _, found in compiled)
