"""Nothing that is no answer pays under ``strict``, and every rejection says why."""

from __future__ import annotations

import json
import math
import random
import re
from pathlib import Path
from typing import Any

import hacks
import pytest
from corpora import b1_names, rel_records, rows
from generated import generate
from spellings import spell

import relfast
from relfast.tasks import get_task
from relfast.tasks.rel_b.names import plain_name
from relfast.tasks.rel_b.score import measures, proven

HERE = Path(__file__).parent
RECORDS = [json.loads(line) for line in (HERE / "rel_records.jsonl").read_text("utf-8").splitlines()]


def strict(task: str, answer: Any, response: Any, question: str = "", **options: Any) -> dict[str, Any]:
    return relfast.evaluate_response(question, answer, response, task, policy="strict", **options)


def pays(task: str, result: dict[str, Any]) -> bool:
    reward = result.get(get_task(task).default_reward("strict"), 0.0)
    return bool(result["correct"]) or reward > 0


def of_task(task: str) -> list[dict[str, Any]]:
    return [record for record in RECORDS if record["task"].startswith(task)]


def report(task: str, payers: list[Any]) -> str:
    return f"{len(payers)} responses pay on {task}: " + "; ".join(f"{payer!r:.120}" for payer in payers[:10])


@pytest.mark.parametrize("target", range(8))
def test_panels(target: int) -> None:
    question = of_task("REL-A1")[0]["question"]
    payers = []
    for response in hacks.panel_hacks(question):
        result = strict("REL-A1", {"target": target}, response, question)
        assert result["pred"] is None, response
        assert result["reason"], response
        if pays("REL-A1", result):
            payers.append(response)
    assert not payers, report("REL-A1", payers)


def test_homoplasy() -> None:
    record = next(r for r in of_task("REL-B1") if len(r["answer"]["taxa"]) > 5)
    question = record["question"]
    names = re.findall(r"^\s*>(\S+)", question, re.MULTILINE)
    assert len(names) > 20
    payers = []
    for gold in (names[:3], names[:12], names[: len(names) // 2], names[: 2 * len(names) // 3], []):
        label = "yes" if gold else "no"
        for response in hacks.homoplasy_hacks(names, question):
            result = strict("REL-B1", {"label": label, "taxa": gold}, response, question)
            if pays("REL-B1", result):
                payers.append((label, len(gold), response))
    assert not payers, report("REL-B1", payers)


@pytest.mark.parametrize("label", ["Yes", "No"])
def test_labels(label: str) -> None:
    question = of_task("REL-C1")[0]["question"]
    payers = []
    for response in hacks.label_hacks(question):
        result = strict("REL-C1", {"label": label}, response)
        assert result["reason"], response
        if pays("REL-C1", result):
            payers.append(response)
    assert not payers, report("REL-C1", payers)


@pytest.mark.parametrize("tautomers", ["apart", "joined"])
@pytest.mark.parametrize("record", of_task("REL-C2"), ids=lambda record: record["id"])
def test_motifs(record: dict[str, Any], tautomers: str) -> None:
    gold = record["answer"]["smiles"]
    payers = []
    for response in hacks.motif_hacks(gold, record["question"]):
        result = strict("REL-C2", record["answer"], response, tautomers=tautomers)
        if pays("REL-C2", result):
            payers.append(response)
    assert not payers, report("REL-C2", payers)


@pytest.mark.parametrize("record", of_task("REL-C3"), ids=lambda record: record["id"])
def test_isomers(record: dict[str, Any]) -> None:
    missing = record["answer"]["missing_smiles"]
    payers = []
    for smiles in missing[:4]:
        for text in hacks.unclean(smiles):
            if text == f"{smiles}\nC":
                continue  # a molecule a line is a list
            response = f"<smiles>{text}</smiles>"
            result = strict("REL-C3", {"missing_smiles": missing}, response)
            if pays("REL-C3", result):
                payers.append(response)
    assert not payers, report("REL-C3", payers)


def tags(smiles: list[str]) -> str:
    return "\n".join(f"<smiles>{one}</smiles>" for one in smiles)


@pytest.mark.parametrize("record", of_task("REL-C3"), ids=lambda record: record["id"])
def test_repeats_of_isomers_are_nothing(record: dict[str, Any]) -> None:
    missing = record["answer"]["missing_smiles"]
    half = missing[: max(1, len(missing) // 2)]
    once = strict("REL-C3", record["answer"], tags(half))
    for times in (2, 3, 20):
        again = strict("REL-C3", record["answer"], tags(half * times))
        assert (again["tp"], again["fp"], again["f1"]) == (once["tp"], once["fp"], once["f1"])
    whole = strict("REL-C3", record["answer"], tags([*missing, missing[0]]))
    assert whole["correct"]
    # another spelling of a molecule is that molecule
    rng = random.Random(5)
    respelt = strict(
        "REL-C3", record["answer"], tags([*missing, *(spell(smiles, rng) for smiles in missing)])
    )
    assert (respelt["tp"], respelt["fp"], respelt["correct"]) == (len(missing), 0, True)
    universe = strict("REL-C3", record["answer"], tags([*record["answer"]["molecules"], *missing] * 2))
    assert not universe["correct"]
    assert universe["fp"] == len(record["answer"]["molecules"])


@pytest.mark.parametrize("response", ["", "none", "<smiles></smiles>", "<smiles>C</smiles>", None, 5])
def test_empty_gold_is_no_free_point(response: Any) -> None:
    for answer in ({"missing_smiles": []}, {"missing_smiles": [""]}, {"missing_smiles": None}):
        result = strict("REL-C3", answer, response)
        assert result["correct"] is False
        assert result["error"]
    (row,) = relfast.score(
        [{"task": "REL-C3", "answer": {"missing_smiles": []}, "response": response}],
        policy="strict",
        workers=0,
    )
    assert (row.status, row.correct, row.reward) == ("invalid_record", None, None)


HACKS = [row for row in rows("parity/edge_cases.jsonl.gz") if "hack" in row["tags"]]


@pytest.mark.parametrize("row", HACKS, ids=lambda row: row["note"])
def test_known_hack(row: dict[str, Any]) -> None:
    assert not pays_more_than_a_guess(row, row["question"])


def pays_more_than_a_guess(row: dict[str, Any], question: str = "") -> bool:
    """Of a yes or no the last one is read: a hedge is paid for one gold, as a guess is."""
    golds = [{"label": "Yes"}, {"label": "No"}] if row["task"] == "REL-C1" else [row["answer"]]
    paid = [pays(row["task"], strict(row["task"], gold, row["response"], question)) for gold in golds]
    return all(paid)


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        ("", "empty"),
        (None, "not_text"),
        ("<think>4", "only_reasoning"),
        ("4 \ud800", "lone_surrogate"),
        ("x" * 1_000_001, "too_long"),
        ("Answer 1 or Answer 2", "several_answers"),
        ("Answer 12", "no_answer"),
        ("no idea", "no_answer"),
    ],
)
def test_reasons(response: Any, reason: str) -> None:
    result = strict("REL-A1", {"target": 3}, response)
    assert (result["correct"], result["pred"], result["reason"]) == (False, None, reason)
    with relfast.Scorer(policy="strict", workers=0) as scorer:
        row = scorer.score_one("REL-A1", {"target": 3}, response)
    assert (row.status, row.correct, row.reward) == ("no_answer", False, 0.0)
    assert row.metrics == {"reason": reason}


@pytest.mark.parametrize(
    ("smiles", "reason"),
    [
        ("C~O", "not_plain_smiles"),
        ("*CO", "not_plain_smiles"),
        ("[CH3:1]O", "not_plain_smiles"),
        ("C$C", "not_plain_smiles"),
        ("[13CH4]", "isotope"),
        ("C.O", "several_fragments"),
        ("C" * 1_001, "too_long"),
        ("C1CC", "invalid_smiles"),
        ("[H][H]", "no_heavy_atom"),
    ],
)
def test_reasons_of_molecules(smiles: str, reason: str) -> None:
    result = strict("REL-C2", {"smiles": "CCO"}, f"<smiles>{smiles}</smiles>")
    assert (result["reason"], result["overlap_metric"], result["correct"]) == (reason, 0.0, False)
    result = strict("REL-C3", {"missing_smiles": ["CCO"]}, f"<smiles>CCO</smiles><smiles>{smiles}</smiles>")
    assert (result["reason"], result["tp"], result["fp"], result["correct"]) == (reason, 1, 1, False)


@pytest.mark.parametrize("text", ["CCO name", "CCO |$a$|"])
def test_a_tag_that_holds_more_than_a_molecule_is_no_form(text: str) -> None:
    result = strict("REL-C2", {"smiles": "CCO"}, f"<smiles>{text}</smiles>")
    assert (result["reason"], result["overlap_metric"], result["correct"]) == ("no_answer", 0.0, False)


def test_tautomers() -> None:
    answer, tautomer = {"smiles": "Cc1c[nH]cn1"}, "<smiles>Cc1cnc[nH]1</smiles>"
    assert relfast.evaluate_response("", answer, tautomer, "REL-C2")["correct"]
    apart = strict("REL-C2", answer, tautomer)
    assert not apart["correct"]
    assert 0.5 < apart["overlap_metric"] < 1
    joined = strict("REL-C2", answer, tautomer, tautomers="joined")
    assert joined["correct"]
    assert joined["overlap_metric"] == 1.0


def test_joined_tautomers_in_one_gold_list_are_each_wanted() -> None:
    answer = {"missing_smiles": ["Cc1c[nH]cn1", "Cc1cnc[nH]1", "C1CO1"]}
    gold = tags(answer["missing_smiles"])
    for tautomers in ("apart", "joined"):
        assert strict("REL-C3", answer, gold, tautomers=tautomers)["correct"]
        # a set: repeats are nothing
        assert strict("REL-C3", answer, gold + tags(["Cc1c[nH]cn1"]), tautomers=tautomers)["correct"]


def test_full_overlap_means_the_same_molecule() -> None:
    """The published overlap ignores aromaticity and charge: 1.0 for a different molecule."""
    pairs = [
        ("CCN(CC)c1ccccc1", "CCN(CC)C1CCCCC1"),
        ("CC(=O)O", "CC(=O)[O-]"),
        ("CCO", "[C][C]O"),
        ("CCN", "CC[NH3+]"),
    ]
    for gold, pred in pairs:
        result = strict("REL-C2", {"smiles": gold}, f"<smiles>{pred}</smiles>")
        assert not result["correct"]
        assert result["overlap_metric"] < 1.0


def test_b1_threshold() -> None:
    answer = {"label": "yes", "taxa": [1, 2, 3, 4]}
    half = "Yes: taxon_1, taxon_2"
    assert strict("REL-B1", answer, half)["f1"] == pytest.approx(2 / 3)
    assert strict("REL-B1", answer, half)["correct"]
    assert not strict("REL-B1", answer, half, b1_min_f1=0.67)["correct"]
    assert strict("REL-B1", answer, "Yes: taxon_1, taxon_2, taxon_3, taxon_4, taxon_30")["correct"]
    for response in ("taxon_1", "taxon_1, taxon_2, taxon_30, taxon_40", "1, 2, 3, 30"):
        result = strict("REL-B1", answer, f"Yes: {response}")
        assert not result["correct"]
        assert result["reason"] == ("guessed_taxa" if result["f1"] >= 0.5 else None)


def share(n_taxa: int, n_gold: int, n_named: int) -> float:
    """Chance that a random subset of the taxa is a right claim, by the hypergeometric distribution."""
    ways = 0
    for common in range(max(1, n_named + n_gold - n_taxa), min(n_gold, n_named) + 1):
        f1 = 2 * common / (n_named + n_gold)
        if f1 >= 0.5 and proven(common, n_named, n_gold):
            ways += math.comb(n_gold, common) * math.comb(n_taxa - n_gold, n_named - common)
    return ways / math.comb(n_taxa, n_named)


@pytest.mark.parametrize(
    ("n_taxa", "n_gold", "most"),
    # the published sizes and ours, with what the documentation says of them
    [(50, 2, 0.0025), (50, 20, 0.0002), (39, 25, 0.0052), (19, 10, 0.022), (9, 2, 0.084), (11, 3, 0.055), (50, 30, 0.0007),
     (29, 15, 0.0037), (39, 20, 0.0022), (20, 12, 0.024), (10, 5, 0.084), (50, 40, 0.086)],
)  # fmt: skip
def test_no_blind_subset_of_taxa_pays(n_taxa: int, n_gold: int, most: float) -> None:
    assert max(share(n_taxa, n_gold, n) for n in range(1, n_taxa + 1)) <= most
    # listing everything, or three of four
    for n_named in (n_taxa, n_taxa - 1, round(0.74 * n_taxa)):
        assert share(n_taxa, n_gold, n_named) <= 0.002


@pytest.mark.parametrize(
    "record", [r for r in rel_records("REL-B1") if r["answer"]["label"] == "yes"], ids=lambda r: r["id"]
)
def test_b1_gold_means_names_where_the_record_says_so(record: dict[str, Any]) -> None:
    names = ", ".join(b1_names(record))
    assert strict("REL-B1", record["answer"], f"Yes: {names}", record["question"])["f1"] == 1.0
    places = ", ".join(map(str, record["answer"]["taxa"]))
    assert not strict("REL-B1", record["answer"], f"Yes: {places}", record["question"])["correct"]
    # without the question there is nothing to look names up in
    assert strict("REL-B1", record["answer"], f"Yes: {places}")["f1"] == 1.0


def test_b1_gold_can_say_itself_what_it_means() -> None:
    question = ">10\nAAAA\n>2\nCCCC\n>1\nGGGG\n"
    answer = {"label": "yes", "taxa": [1, 2]}
    assert strict("REL-B1", answer, "Yes: 1, 2", question)["f1"] == 1.0
    assert strict("REL-B1", {**answer, "taxa_as": "index"}, "Yes: 10, 2", question)["f1"] == 1.0
    assert strict("REL-B1", {**answer, "taxa_as": "name"}, "Yes: 1, 2", question)["f1"] == 1.0
    assert strict("REL-B1", {"label": "yes", "taxa": [0, 1]}, "Yes: 1, 10", question)["f1"] == 1.0


def test_b1_guard_is_the_same_with_and_without_the_question() -> None:
    for record in generate("REL-B1", 4, 5, n_convergent_taxa=20, yes_fraction=1.0):
        shown = re.findall(r"^\s*>(\S+)", record["question"], re.MULTILINE)
        for named in (shown, shown[:37], shown[::2], record["answer"]["taxa"], record["answer"]["taxa"][:12]):
            response = f"Yes: {', '.join(map(str, named))}"
            with_question = strict("REL-B1", record["answer"], response, record["question"])
            assert with_question == strict("REL-B1", record["answer"], response)
            assert with_question["correct"] == (set(named) <= set(record["answer"]["taxa"]))


@pytest.mark.parametrize("gold", [[3, 15], ["3", "15"], ["taxon_3", "taxon_15"], ["03", "015"]])
def test_b1_names_of_taxa(gold: list[Any]) -> None:
    for response in ("Yes: 3, 15", "Yes: taxon_3, taxon_15", "Yes: Taxon 03, Taxon 15"):
        assert strict("REL-B1", {"label": "yes", "taxa": gold}, response)["f1"] == 1.0


@pytest.mark.parametrize(
    ("name", "plain"),
    [("taxon_007", "7"), ("Taxon 10", "10"), ("000", "0"), ("0a", "0a"), ("A0", "a0"), ("\u0660\u0663", "\u0660\u0663"), (7, "7")],
)  # fmt: skip
def test_zeros_before_a_number_are_no_part_of_a_name(name: Any, plain: str) -> None:
    assert plain_name(name) == plain


@pytest.mark.parametrize(
    ("common", "n_pred", "n_gold", "expected"),
    [(0, 0, 2, (0, 0, 0)), (0, 3, 2, (0, 0, 0)), (1, 2, 4, (1 / 2, 1 / 4, 1 / 3)), (1, 4, 1, (1 / 4, 1, 2 / 5)), (2, 2, 2, (1, 1, 1))],
)  # fmt: skip
def test_b1_measures(common: int, n_pred: int, n_gold: int, expected: tuple[float, ...]) -> None:
    assert tuple(measures(common, n_pred, n_gold).values()) == pytest.approx(expected)
