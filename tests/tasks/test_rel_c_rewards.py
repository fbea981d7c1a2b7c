"""What REL-C2 and C3 pay under ``strict`` for what is neither right nor wrong as a whole."""

from __future__ import annotations

import random
from typing import Any

import pytest
from corpora import rel_records
from rdkit import Chem
from spellings import spell
from strict.cases_rel_c2 import GRID, grid

import relfast
from relfast.chem.clean import NO_ISOMER, ordinary_formula
from relfast.chem.common_substructure import COMMON_MOTIFS
from relfast.chem.isomers import isomers

STEROID = "CC12C=CC(=O)C=C1CCC1C2CCC2(C)C(C=O)CCC12"


def strict(task: str, answer: Any, molecules: list[str], **options: Any) -> dict[str, Any]:
    response = "\n".join(f"<smiles>{smiles}</smiles>" for smiles in molecules)
    return relfast.evaluate_response("", answer, response, task, policy="strict", **options)


def skill(gold: str, response: str) -> float:
    return float(strict("REL-C2", {"smiles": gold}, [response])["overlap_skill"])


def test_a_part_of_gold_pays_for_what_it_has_beyond_a_constant() -> None:
    assert skill(STEROID, STEROID) == 1.0
    parts = [
        "CC12C=CC(=O)C=C1CCC1C2CCC2(C)CCCC12",
        "CC12C=CC(=O)C=C1CCC1C2CCC2CCCC12",
        "c1ccccc1",
        "CCCC",
    ]
    rewards = [skill(STEROID, part) for part in parts]
    assert 1 > rewards[0] > rewards[1] > 0
    assert rewards[2:] == [0.0, 0.0]


def test_what_is_not_in_gold_pays_nothing() -> None:
    assert skill(STEROID, STEROID + "C") == 0.0
    for record in rel_records("REL-C2")[::40]:
        gold = Chem.CanonSmiles(record["answer"]["smiles"])
        for given in record["answer"]["molecules"][:5]:
            if Chem.CanonSmiles(given, useChiral=0) != gold:
                assert skill(gold, given) == 0.0


def test_a_chain_is_no_part_of_a_ring() -> None:
    assert skill("C1CCCCCCCCCCC1CC", "CCCCCCCCCCCC") == 0.0


def test_every_constant_earns_nothing_but_where_it_is_right() -> None:
    records = rel_records("REL-C2")[::10]
    rng = random.Random(4)
    for constant in rng.sample(COMMON_MOTIFS, 12):
        same = Chem.CanonSmiles(constant)
        for record in records:
            gold = record["answer"]["smiles"]
            assert skill(gold, constant) == (1.0 if Chem.CanonSmiles(gold) == same else 0.0), gold


@pytest.mark.parametrize("smiles", [grid(4, 4), grid(6, 6), grid(7, 8), GRID, grid(10, 18)])
def test_a_search_without_end_is_worth_nothing(smiles: str) -> None:
    gold = "CC1(C)CCCC2C1CCC1(C)C(C=O)CCC21"
    with relfast.Scorer(policy="strict", timeout=10.0) as scorer:
        row = scorer.score_one("REL-C2", {"smiles": gold}, f"<smiles>{smiles}</smiles>")
    assert (row.status, row.correct, row.reward) == ("ok", False, 0.0)
    if row.metrics.get("mcs_canceled"):
        assert row.metrics["overlap_metric"] == 0.0


def test_isomers_that_gold_lacks_cost_nothing() -> None:
    answer = {"molecules": ["CCO"], "missing_smiles": ["COC"]}
    given = {"molecules": ["CCCO"], "missing_smiles": ["COCC"]}
    assert strict("REL-C3", answer, ["COC"])["correct"]
    extra = strict("REL-C3", given, ["COCC", "CC(C)O"])
    assert (extra["tp"], extra["fp"], extra["f1"], extra["correct"]) == (1, 0, 1.0, True)
    alone = strict("REL-C3", given, ["CC(C)O"])
    assert (alone["tp"], alone["fp"], alone["f1"], alone["correct"]) == (0, 0, 0.0, False)


@pytest.mark.parametrize(
    "named",
    [
        "CCCO",
        "OCCC",
        "CCCCO",
        "CCO",
        "[CH2]CO[CH3]",
        "[CH2-]CC[OH2+]",
        "C[C]O",
        "CCC.O",
        "CC(C)=O",
        "x",
    ],
)
def test_all_others_cost(named: str) -> None:
    given = {"molecules": ["CCCO"], "missing_smiles": ["COCC"]}
    result = strict("REL-C3", given, ["COCC", named])
    assert (result["tp"], result["fp"], result["correct"]) == (1, 1, False)


def test_an_isomer_is_neutral_only_where_the_given_ones_are_known() -> None:
    result = strict("REL-C3", {"missing_smiles": ["COCC"]}, ["COCC", "CC(C)O"])
    assert (result["tp"], result["fp"]) == (1, 1)


def test_all_isomers_but_the_given_ones_are_right_on_every_published_record() -> None:
    for record in rel_records("REL-C3")[::10]:
        given = {Chem.CanonSmiles(smiles) for smiles in record["answer"]["molecules"]}
        whole = isomers(record["metadata"]["formula"])
        result = strict("REL-C3", record["answer"], [smiles for smiles in whole if smiles not in given])
        assert result["correct"], record["id"]
        assert result["f1"] == 1.0


def test_formulas_of_ordinary_molecules() -> None:
    rng = random.Random(2)
    for smiles in (*isomers("C6H6"), *isomers("C4H6S"), *isomers("C3H6O2")):
        assert ordinary_formula(smiles) == ordinary_formula(spell(smiles, rng))
    assert {*map(ordinary_formula, isomers("C4H6S"))} == {"C4 S1 H6"}
    assert ordinary_formula("Cn1cccc1") == "C5 N1 H7"
    assert ordinary_formula("CS(C)(=O)=O") == ordinary_formula("C1CC") == NO_ISOMER
    assert ordinary_formula("C[N+](C)(C)C") == ordinary_formula("[CH2]C") == NO_ISOMER
