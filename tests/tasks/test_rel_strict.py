"""Under ``strict`` nothing that is no answer pays, every rejection says why, and honest answers are paid in full."""

from __future__ import annotations

import json
import math
import random
import re
import tomllib
from typing import Any, Final

import pytest
from contract_records import generate
from corpora import DATA, b1_names, chemistry_responses, naughty_strings, rel_records, rows, solutions
from missing_kernels import without
from rdkit import Chem
from relfast_kernels.text.rel_b import proven

import relfast
from relfast.chem.common_substructure import COMMON_MOTIFS
from relfast.chem.molecule import parse_clean
from relfast.records import Record
from relfast.tasks import get_task
from relfast.tasks.display import Shown
from relfast.tasks.rel_b.display import exhibit
from relfast.tasks.rel_c.extract import read_molecules
from relfast.tasks.seqbench import machine


def strict(task: str, answer: Any, response: Any, question: str = "", **options: Any) -> dict[str, Any]:
    return relfast.evaluate_response(question, answer, response, task, policy="strict", **options)


def pays(task: str, result: dict[str, Any]) -> bool:
    reward = result.get(get_task(task).default_reward("strict"), 0.0)
    return bool(result["correct"]) or reward > 0


def tags(smiles: list[str]) -> str:
    return "\n".join(f"<smiles>{one}</smiles>" for one in smiles)


HACKS = [row for row in rows("parity/edge_cases.jsonl.gz") if "hack" in row["tags"]]


@pytest.mark.parametrize("row", HACKS, ids=lambda row: row["note"])
def test_known_hack(row: dict[str, Any]) -> None:
    """Of a yes or no the last one is read: a hedge is paid for one gold, as a guess is."""
    golds = [{"label": "Yes"}, {"label": "No"}] if row["task"] == "REL-C1" else [row["answer"]]
    paid = [pays(row["task"], strict(row["task"], gold, row["response"], row["question"])) for gold in golds]
    assert not all(paid)


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


def test_tautomers() -> None:
    answer, tautomer = {"smiles": "Cc1c[nH]cn1"}, "<smiles>Cc1cnc[nH]1</smiles>"
    assert relfast.evaluate_response("", answer, tautomer, "REL-C2")["correct"]
    apart, joined = (strict("REL-C2", answer, tautomer, tautomers=said) for said in ("apart", "joined"))
    assert (apart["correct"], joined["correct"], joined["overlap_metric"]) == (False, True, 1.0)
    assert 0.5 < apart["overlap_metric"] < 1
    # two of them in one gold list are each wanted, and repeats are nothing
    missing = ["Cc1c[nH]cn1", "Cc1cnc[nH]1", "C1CO1"]
    for said in ("apart", "joined"):
        for named in (missing, [*missing, missing[0]]):
            assert strict("REL-C3", {"missing_smiles": missing}, tags(named), tautomers=said)["correct"]


@pytest.mark.parametrize(
    ("gold", "other"),
    [("CCN(CC)c1ccccc1", "CCN(CC)C1CCCCC1"), ("CC(=O)O", "CC(=O)[O-]"), ("CCO", "[C][C]O"), ("CCN", "CC[NH3+]")],
)  # fmt: skip
def test_full_overlap_means_the_same_molecule(gold: str, other: str) -> None:
    """The published overlap ignores aromaticity and charge: 1.0 for a different molecule."""
    result = strict("REL-C2", {"smiles": gold}, f"<smiles>{other}</smiles>")
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


def test_b1_gold_means_names_where_the_record_says_so() -> None:
    for record in rel_records("REL-B1"):
        if record["answer"]["label"] == "yes":
            names, places = (
                ", ".join(map(str, said)) for said in (b1_names(record), record["answer"]["taxa"])
            )
            assert strict("REL-B1", record["answer"], f"Yes: {names}", record["question"])["f1"] == 1.0
            assert not strict("REL-B1", record["answer"], f"Yes: {places}", record["question"])["correct"]
            # without the question there is nothing to look names up in
            assert strict("REL-B1", record["answer"], f"Yes: {places}")["f1"] == 1.0
    question = ">10\nAAAA\n>2\nCCCC\n>1\nGGGG\n"
    for taxa, more, named in (
        ([1, 2], {}, "1, 2"),
        ([1, 2], {"taxa_as": "index"}, "10, 2"),
        ([1, 2], {"taxa_as": "name"}, "1, 2"),
        ([0, 1], {}, "1, 10"),
        (["taxon_3", "015"], {}, "Taxon 03, 15"),
    ):
        gold = {"label": "yes", "taxa": taxa, **more}
        assert strict("REL-B1", gold, f"Yes: {named}", question)["f1"] == 1.0
        record = Record(0, "x", "REL-B1", gold, f"Yes: {named}", question)
        (taxa_shown,) = exhibit(Shown(record, True, {}, strict=True)).listings
        assert [cell for _, cell in taxa_shown.rows][1:] == ["none", "none"]


def test_b1_guard_is_the_same_with_and_without_the_question() -> None:
    for record in generate("REL-B1", 4, 5, n_convergent_taxa=20, yes_fraction=1.0):
        shown = re.findall(r"^\s*>(\S+)", record["question"], re.MULTILINE)
        for named in (shown, shown[:37], shown[::2], record["answer"]["taxa"], record["answer"]["taxa"][:12]):
            response = f"Yes: {', '.join(map(str, named))}"
            with_question = strict("REL-B1", record["answer"], response, record["question"])
            assert with_question == strict("REL-B1", record["answer"], response)
            assert with_question["correct"] == (set(named) <= set(record["answer"]["taxa"]))


STEROID = "CC12C=CC(=O)C=C1CCC1C2CCC2(C)C(C=O)CCC12"


def skill(gold: str, response: str) -> float:
    return float(strict("REL-C2", {"smiles": gold}, tags([response]))["overlap_skill"])


def test_a_part_of_gold_pays_for_what_it_has_beyond_a_constant() -> None:
    assert skill(STEROID, STEROID) == 1.0
    parts = ["CC12C=CC(=O)C=C1CCC1C2CCC2(C)CCCC12", "CC12C=CC(=O)C=C1CCC1C2CCC2CCCC12", "c1ccccc1", "CCCC"]
    rewards = [skill(STEROID, part) for part in parts]
    assert 1 > rewards[0] > rewards[1] > 0
    assert rewards[2:] == [0.0, 0.0]
    # a chain is a part of a ring, as the question has it, and so are constants
    assert [skill("C1CCCCCCCCCCC1CC", n * "C") for n in (12, 13, 14)] == [0.0, 0.5, 0.5]


def test_parts_of_published_gold_pay_by_the_rule_in_plain_rdkit() -> None:
    """Connected ones, rings cut open too: of 400 some pay, and none pays by another rule."""
    rng, constants = random.Random(5), [Chem.MolFromSmiles(smiles) for smiles in COMMON_MOTIFS]
    golds = sorted({record["answer"]["smiles"] for record in rel_records("REL-C2")})
    paid = 0
    for gold in rng.choices(golds, k=400):
        mol = Chem.MolFromSmiles(gold)
        atoms = {rng.randrange(mol.GetNumAtoms())}
        for _ in range(rng.randrange(mol.GetNumAtoms() // 2, mol.GetNumAtoms())):
            next_to = {b.GetIdx() for a in atoms for b in mol.GetAtomWithIdx(a).GetNeighbors()} - atoms
            atoms |= {rng.choice(sorted(next_to))} if next_to else atoms
        part = Chem.MolFragmentToSmiles(mol, sorted(atoms), isomericSmiles=False)
        response = Chem.MolFromSmiles(part)
        if response is None or parse_clean(part)[0] is None or len(atoms) == mol.GetNumAtoms():
            continue
        n, most = len(atoms), mol.GetNumAtoms()
        least = max((c.GetNumAtoms() for c in constants if mol.HasSubstructMatch(c)), default=0)
        expected = (n - least) / (most - least) if n > least and mol.HasSubstructMatch(response) else 0.0
        assert skill(gold, part) == pytest.approx(expected), (gold, part)
        paid += expected > 0
    assert paid >= 20


@pytest.mark.parametrize(
    ("named", "tp", "fp"),
    [
        *((smiles, 1, 1) for smiles in ("CCCO", "OCCC", "CCCCO", "CCO", "[CH2]CO[CH3]", "[CH2-]CC[OH2+]", "C[C]O", "CCC.O", "CC(C)=O", "x")),
        ("CC(C)O", 1, 0),
    ],
)  # fmt: skip
def test_only_isomers_that_gold_lacks_cost_nothing(named: str, tp: int, fp: int) -> None:
    """And they do where the given ones are not known; alone they are worth nothing."""
    given = {"molecules": ["CCCO"], "missing_smiles": ["COCC"]}
    result = strict("REL-C3", given, tags(["COCC", named]))
    assert (result["tp"], result["fp"], result["correct"]) == (tp, fp, not fp)
    assert strict("REL-C3", {"missing_smiles": ["COCC"]}, tags(["COCC", named]))["fp"] == 1
    assert strict("REL-C3", given, tags([named]))["f1"] == 0.0


# what is read of REL-C2, C3 and SeqBench's plans: the cases of the contract, that the end decides, and that the kernels\n# say the same as plain code


def contract(name: str) -> dict[str, Any]:
    return tomllib.loads((DATA / "contract" / f"{name}.toml").read_text("utf-8"))


MOLECULES: Final = [
    (kind == "one", [case["reads"]] if kind == "one" and case["reads"] else case["reads"] or [], text)
    for kind in ("one", "set")
    for case in contract("rel_c")[kind]
    for text in case["texts"]
]
FINAL: Final = (
    "<smiles>CCO</smiles>", "**<smiles>CCO</smiles>**", "\\boxed{CCO}", "<answer>CCO</answer>", "Answer: CCO", "## Answer\n\nCCO",
    "Final answer:\n<smiles>CCO</smiles>\n<smiles>COC</smiles>",
    "**Final Answer**\n\n1. <smiles>CCO</smiles>\n2. <smiles>COC</smiles>",
    "The missing isomers are: <smiles>CCO</smiles>, <smiles>COC</smiles>",
)  # fmt: skip
BEFORE_MOLECULES: Final = (
    "<smiles>", "<smiles>CC", "<smiles>CCN</smiles>", "~~", "<del>", "<!--", "```", "\\boxed{", "<answer>", "Answer:", "Final answer:",
    "not", "Final answer:\n<smiles>CCN</smiles>\n<smiles>C", "&lt;smiles&gt;", "<smiles>CCN</smiles> or", "wrong: <smiles>CCN</smiles>,",
    "\\boxed{CCN}", "Answer: CCN", "| Answer |", "<smiles><smiles>", "<s>", "\\text{", "$", "# ", "> ", "- ", "*", "\\",
)  # fmt: skip

FACTS: Final = (
    "Room A1 and A2 are connected by an open door. Room A2 and A3 are connected by an open door. "
    "Key 7 is in room A2. Bob is in room A1. Al is in room A3."
)
PLAN: Final = ("start: A1", "move_to: A2", "pick_up_key: 7", "move_to: A3", "rescue: Al")
PAIRS: Final = [tuple(action.split(": ")) for action in PLAN]
WORDS: Final = {
    "list": str(list(PLAN)),
    "body": str(list(PLAN))[1:-1],
    "wrong": "['start: A1', 'rescue: Al']",
    "pairs": str(PAIRS),
    "calls": "\n".join(f'{name}("{to}")' for name, to in PAIRS),
    "lines": "\n".join(f"{n}. {action} (legal)" for n, action in enumerate(PLAN, 1)),
    "objects": json.dumps([{"action": name, "target": to} for name, to in PAIRS]),
    "table": "| # | Action | Target |\n|---|---|---|\n"
    + "\n".join(f"| {n} | {name} | {to} |" for n, (name, to) in enumerate(PAIRS, 1)),
}
FORMS: Final = [WORDS[name] for name in ("list", "pairs", "calls", "lines", "objects", "table")]
BEFORE_PLANS: Final = (
    "['start: A1', 'move_to: ", "['start: A1',", "[(", "~~", "<del>", "<!--", "```", "start: A1\n", "- start(A1", "\"", "'",
    "1. start: A1\n2. ", "['move_to: A2']", "[[[['start: A1'", "start: A1, move_to: A2,", "{", "|", "start: ", "\\",
    "No plan works: ['start: A1', 'rescue: Al'] is wrong", "| start | A1 |", "actions.append('start: A1')",
)  # fmt: skip


PLANS: Final = [
    (case["plan"], re.sub("«(.*?)»", lambda found: WORDS[found[1]], text))
    for case in contract("seqbench")["case"]
    for text in case["texts"]
]


def read(texts: list[str]) -> list[Any]:
    """What is told of plans: their actions, whether they are optimal, the reward."""
    asked = {"task": "SeqBench", "question": FACTS, "answer": {"actions": list(PLAN)}}
    scored = relfast.score([{**asked, "response": text} for text in texts], policy="strict", workers=0)
    return [(row.metrics["n_actions"], row.metrics["optimal"], row.reward) for row in scored]


def test_molecules_of_the_contract() -> None:
    for one, reads, text in MOLECULES:
        found, reason = read_molecules(text, one=one)
        assert found == reads, text
        assert not one or (reason is None) == bool(reads), text


def test_plans_of_the_contract() -> None:
    found = read([text for _, text in PLANS])
    for (n_actions, text), (n, optimal, _) in zip(PLANS, found, strict=True):
        # a key that is picked up and not needed is one action more than the shortest plan
        assert (n, optimal) == (n_actions, False), text


def test_the_end_decides_of_plans() -> None:
    rng = random.Random(8)
    texts = [*BEFORE_PLANS, *FORMS, *naughty_strings()]
    texts += [row["llm_solution"] for row in rng.sample(solutions(), 150)]
    texts += [row["response"] for row in rng.sample(chemistry_responses(), 150)]
    before = [text for text in texts if "<think" not in text.lower() and (text.isprintable() or "\n" in text)]
    pairs = [(text, rng.randrange(len(FORMS))) for text in before]
    pairs += [(text, form) for text in (*BEFORE_PLANS, *FORMS) for form in range(len(FORMS))]
    alone, found = read(FORMS), read([f"{text}\n\n{FORMS[form]}" for text, form in pairs])
    for (text, form), told in zip(pairs, found, strict=True):
        assert told == alone[form], (text, FORMS[form])


def test_the_kernels_say_what_plain_code_says(monkeypatch: pytest.MonkeyPatch) -> None:
    molecules = [text for _, _, text in MOLECULES] + [f"{a}\n\n{b}" for a in BEFORE_MOLECULES for b in FINAL]
    plans = [text for _, text in PLANS] + [a + b for a in BEFORE_PLANS for b in FORMS[:2]]

    def said() -> list[Any]:
        return [*(read_molecules(text, one=one) for text in molecules for one in (True, False)), *read(plans)]

    compiled = said()
    without(monkeypatch, "maze", "tags")
    monkeypatch.setattr(machine._THREADS, "machine", None)
    assert said() == compiled
