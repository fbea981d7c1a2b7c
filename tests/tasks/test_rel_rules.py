"""The scoring document, sentence by sentence, for the reference policy (`test_rel_strict.py` has the other).

Each case quotes the rule it stands for and gives what the published scorers' results come to.
"""

from __future__ import annotations

from typing import Any

import pytest

import relfast

A: list[tuple[str, Any, int]] = [
    ("falsy response: index 0", "", 0),
    ("falsy response: index 0", None, 0),
    ("falsy response: index 0", [], 0),
    ("falsy response: index 0", 0, 0),
    ("falsy response: index 0", False, 0),
    ("falsy response: index 0", {}, 0),
    ("the first Answer N counts", "Answer 5, not Answer 2", 4),
    ("optional space, optional #, optional space", "Answer \t\n # \n 5", 4),
    ("only one #", "Answer ##5 then 3", 4),
    ("no colon", "Answer: 5", 4),
    ("case-insensitive", "aNSWER5", 4),
    ("no word boundary before", "Nonanswer5", 4),
    ("no word boundary after", "Answer5th", 4),
    ("Unicode digits count", "Answer \u0665", 4),
    ("Unicode digits count, mixed", "Answer \u0660\uff15", 4),
    ("Unicode spaces count", "Answer\u2003\u00a0#\u30005", 4),
    ("\u017f folds to s", "An\u017fwer 5", 4),
    ("outside 1-8: index 0", "Answer 9, then 5", 0),
    ("outside 1-8: index 0", "Answer 0, then 5", 0),
    ("all digits belong to the number", "Answer 55", 0),
    ("leading zeros are the number's", "Answer 005", 4),
    ("else the first lone 1-8", "I take 5 and 3", 4),
    ("lone: as a word", "x5 5y 55 _5 5_ 5", 4),
    ("lone: signs and points are boundaries", "-5.3", 4),
    ("ASCII digits only", "\u0665 6", 5),
    ("a word boundary is Unicode's", "\u00e95 6", 5),
    ("else the first lone 0-7", "9 0", 0),
    ("else 0", "nothing", 0),
    ("Answer wins over an earlier digit", "3 is wrong. Answer 5", 4),
    ("stripped text, inner newlines kept", " \n Answer\n5 \n", 4),
]


@pytest.mark.parametrize(("rule", "response", "pred"), A)
def test_a(rule: str, response: Any, pred: int) -> None:
    for task in ("REL-A1", "REL-A7", "rel-a3"):
        assert relfast.evaluate_response("", {"target": pred}, response, task) == {
            "correct": True,
            "pred": pred,
            "gold": pred,
        }
        wrong = (pred + 1) % 8
        assert relfast.evaluate_response("", {"target": wrong}, response, task)["correct"] is False


@pytest.mark.parametrize("digits", [4_300, 4_301, 100_000])
def test_a_number_too_long_for_python(digits: int) -> None:
    """The published scorer raises ValueError from 4,301 digits on: an error here."""
    result = relfast.evaluate_response("", {"target": 0}, "Answer " + "1" * digits, "REL-A1")
    assert ("error" in result) is (digits > 4_300)
    assert result["correct"] is (digits <= 4_300)


@pytest.mark.parametrize("target", ["3", 3.0, [3], {"a": 3}])
def test_a_target_that_is_no_integer(target: Any) -> None:
    result = relfast.evaluate_response("", {"target": target}, "Answer 4", "REL-A1")
    assert result == {
        "correct": False,
        "pred": None,
        "gold": target,
        "error": f"Target must be an integer, got {type(target)}",
    }


def test_a_bool_passes_as_an_integer() -> None:
    assert relfast.evaluate_response("", {"target": True}, "Answer 2", "REL-A1")["correct"] is True
    assert relfast.evaluate_response("", {"target": False}, "Answer 1", "REL-A1")["correct"] is True
    assert relfast.evaluate_response("", {"target": True}, "Answer 2", "REL-A1", policy="strict")["error"]


@pytest.mark.parametrize("target", [-1, 8, 10**30])
def test_a_target_out_of_range(target: int) -> None:
    assert relfast.evaluate_response("", {"target": target}, "Answer 1", "REL-A1")["correct"] is False
    assert relfast.evaluate_response("", {"target": target}, "Answer 1", "REL-A1", policy="strict")["error"]


@pytest.mark.parametrize("response", [4, 4.5, True, ["Answer 4"], {"a": 1}, b"4", object()])
def test_a_response_of_another_type(response: Any) -> None:
    result = relfast.evaluate_response("", {"target": 3}, response, "REL-A1")
    assert result["correct"] is False
    assert "not text" in result["error"]


B: list[tuple[str, str, str | None, list[str]]] = [
    ("yes is a substring", "eyes", "yes", []),
    ("no is a substring", "canopy", "no", []),
    ("both: no label", "yes, I know", None, []),
    ("neither: no label", "maybe", None, []),
    ("lower-cased", "YES TAXON_3", "yes", ["3"]),
    ("lower-casing is Unicode's", "NO\u0130", "no", []),
    ("full-width letters stay", "\uff39\uff25\uff33", None, []),
    ("all digits after taxon", "yes taxon_3, taxon 4, taxon5", "yes", ["3", "4", "5"]),
    ("one _ or space only", "yes taxon__3 taxon  4 taxon_ 5 6", "yes", ["4", "5", "6"]),
    ("any space character", "yes taxon\n3 taxon\u00a04", "yes", ["3", "4"]),
    ("taxon anywhere in a word", "yes mytaxon_3x", "yes", ["3"]),
    ("with taxon forms, bare numbers are not read", "yes taxon_3, 4, 5", "yes", ["3"]),
    ("taxa is no taxon", "yes taxa 3, 4", "yes", ["3", "4"]),
    ("else every run of digits that is a word", "yes 3x x4 5_ 6-7 8.9", "yes", ["6", "7", "8", "9"]),
    ("Unicode digits", "yes \u0663 \uff14", "yes", ["\u0663", "\uff14"]),
    ("duplicates and order are kept", "yes 5 3 5", "yes", ["5", "3", "5"]),
    ("leading zeros are kept", "yes taxon_003", "yes", ["003"]),
    ("empty", "", None, []),
    ("reasoning counts", "<think>no</think>yes", None, []),
]


@pytest.mark.parametrize(("rule", "response", "label", "taxa"), B)
def test_b_reading(rule: str, response: str, label: str | None, taxa: list[str]) -> None:
    result = relfast.evaluate_response("", {"label": "yes", "taxa": [1]}, response, "REL-B1")
    assert (result["pred_label"], result["pred_taxa"]) == (label, taxa)


@pytest.mark.parametrize(
    ("gold", "response", "expected"),
    [
        ({"label": "yes", "taxa": [3, 4]}, "yes 3 5 3", (True, 0.5, 0.5, 0.5)),
        ({"label": "yes", "taxa": [3, 4, 4, "4"]}, "yes 3 4", (True, 1.0, 1.0, 1.0)),
        ({"label": "yes", "taxa": [3]}, "yes 03", (False, 0.0, 0.0, 0.0)),
        ({"label": "yes", "taxa": [3.0]}, "yes 3", (False, 0.0, 0.0, 0.0)),
        ({"label": "yes", "taxa": [3]}, "yes", (False, 0.0, 0.0, 0.0)),
        ({"label": "yes", "taxa": [3]}, "no 3", (False, 1.0, 1.0, 1.0)),
        ({"label": "yes", "taxa": [3]}, "3", (False, 1.0, 1.0, 1.0)),
        ({"label": "yes", "taxa": []}, "yes", (True, -1, -1, -1)),
        ({"label": "yes", "taxa": []}, "yes 5", (True, -1, -1, -1)),
        ({"label": "yes"}, "yes", (True, -1, -1, -1)),
        ({"label": "yes", "taxa": "34"}, "yes 3 4", (True, 1.0, 1.0, 1.0)),
        ({"label": "no", "taxa": []}, "no", (True, -1, -1, -1)),
        ({"label": "no", "taxa": [3]}, "no", (True, -1, -1, -1)),
        ({"label": "No"}, "no", (True, -1, -1, -1)),
        ({"label": "no", "taxa": []}, "no 3", (False, -1, -1, -1)),
        ({"label": "no", "taxa": []}, "yes", (False, -1, -1, -1)),
        ({"label": "no", "taxa": []}, "", (False, -1, -1, -1)),
        ({"label": "yes", "taxa": ["A", "a", 1]}, "yes 1", (True, 1.0, 0.5, 2 / 3)),
        ({"label": "no", "taxa": None}, "no", (True, -1, -1, -1)),
        ({"label": "no", "taxa": 3}, "no 3", (False, -1, -1, -1)),
        ({"label": "no", "taxa": True}, "no", (True, -1, -1, -1)),
        ({"label": "yes", "taxa": None}, "no", (False, -1, -1, -1)),
        ({"label": "yes", "taxa": 0}, "", (False, -1, -1, -1)),
        ({"label": "yes", "taxa": False}, "15", (False, -1, -1, -1)),
    ],
)
def test_b_scoring(gold: dict[str, Any], response: str, expected: tuple[Any, ...]) -> None:
    result = relfast.evaluate_response("", gold, response, "REL-B1")
    assert (result["correct"], result["precision"], result["recall"], result["f1"]) == expected


@pytest.mark.parametrize(
    ("taxa", "response"),
    [(None, "yes 15"), (0, "yes"), (False, "yes"), (15, "yes 15"), (15, "no"), (True, "")],
)
def test_b_taxa_that_are_no_list_are_an_error_where_they_are_asked_for(taxa: Any, response: str) -> None:
    result = relfast.evaluate_response("", {"label": "yes", "taxa": taxa}, response, "REL-B1")
    assert result["correct"] is False
    assert result["error"] == f"taxa must be a list, got {type(taxa).__name__}"


def test_b_strict_refuses_taxa_that_are_no_list() -> None:
    for taxa in (0, 3, False, True):
        for label in ("yes", "no"):
            gold = {"label": label, "taxa": taxa}
            assert relfast.evaluate_response("", gold, "no", "REL-B1", policy="strict")["error"]
    gold = {"label": "no", "taxa": None}
    assert relfast.evaluate_response("", gold, "no", "REL-B1", policy="strict")["correct"] is True


@pytest.mark.parametrize("label", [None, "", "maybe", " yes", 1, True, ["yes"], {"a": 1}])
def test_b_unusable_label(label: Any) -> None:
    result = relfast.evaluate_response("", {"label": label, "taxa": []}, "yes", "REL-B1")
    assert result["correct"] is False
    assert result["error"]


@pytest.mark.parametrize(
    ("rule", "response", "pred"),
    [
        ("the first tag", "<No> <Yes>", "No"),
        ("any case", "<yES>", "Yes"),
        ("spaces inside", "< \t\n\u00a0Yes\u2003>", "Yes"),
        ("no other characters inside", "<Yes.> <a Yes> <Yes/> </Yes>", None),
        ("the inner one of two brackets", "<<Yes>>", "Yes"),
        ("pred is capitalised", "<NO>", "No"),
        ("\u017f matches and stays", "<ye\u017f>", "Ye\u017f"),
        ("no tag", "Yes", None),
        ("empty", "", None),
        ("no text", None, None),
        ("no text", 5, None),
        ("reasoning counts", "<think><Yes></think><No>", "Yes"),
    ],
)
def test_c1(rule: str, response: Any, pred: str | None) -> None:
    for gold in ("Yes", "No", "yes", True, ["Yes"], "Ye\u017f"):
        result = relfast.evaluate_response("", {"label": gold}, response, "REL-C1")
        # equality with the label as it stands
        assert result == {"correct": pred == gold, "pred": pred, "gold": gold}


@pytest.mark.parametrize(
    ("rule", "response", "pred"),
    [
        ("the first tag", "<smiles>C</smiles><smiles>N</smiles>", "C"),
        ("any case", "<SmIlEs>C", "C"),
        ("\u017f and \u0131 fold", "<\u017fm\u0131les>C", "C"),
        ("white space after it is skipped, line ends included", "<smiles> \r\n\t\u00a0C</smiles>", "C"),
        ("up to <, CR, LF", "<smiles>C\nN</smiles>", "C"),
        ("up to <, CR, LF", "<smiles>C\rN</smiles>", "C"),
        ("other line ends are characters", "<smiles>C\u2028N</smiles>", "C\u2028N"),
        ("stripped", "<smiles> C N \u3000</smiles>", "C N"),
        ("the closing tag is not required", "<smiles>CCO", "CCO"),
        ("directly followed by <: no match", "<smiles></smiles><smiles>C</smiles>", "C"),
        ("directly followed by <: no match", "<smiles><smiles>C</smiles>", "C"),
        ("only blanks on its line: empty", "<smiles>  </smiles><smiles>C</smiles>", ""),
        ("only line ends: no match", "<smiles>\n\n</smiles><smiles>C</smiles>", "C"),
        ("blanks and line ends: empty", "<smiles>\n \n</smiles><smiles>C</smiles>", ""),
        ("no attribute, no space", "<smiles a=1>C</smiles>", None),
        ("no tag", "CCO", None),
        ("no text", None, None),
        ("no text", ["<smiles>C</smiles>"], None),
    ],
)
def test_c2_reading(rule: str, response: Any, pred: str | None) -> None:
    result = relfast.evaluate_response("", {"smiles": "C"}, response, "REL-C2")
    assert result["pred"] == pred
    assert result["correct"] is (pred in ("C", "C N"))  # what follows a blank is a name


@pytest.mark.parametrize(
    ("gold", "pred", "correct", "in_gold", "in_response", "overlap"),
    [
        ("CCO", "OCC", True, True, True, 1.0),
        ("CCO", "CC", False, True, False, 2 / 3),
        ("CC", "CCO", False, False, True, 2 / 3),
        ("CCO", "CCN", False, False, False, 2 / 3),
        ("CCO", "FF", False, False, False, 0.0),
        # stereo is dropped for identity, not for containment
        ("C[C@H](N)O", "C[C@@H](N)O", True, True, True, 1.0),
        ("C/C=C/C", "CC=CC", True, True, True, 1.0),
        # hydrogen positions and atom maps are ignored
        ("Cc1c[nH]cn1", "Cc1cnc[nH]1", True, True, True, 1.0),
        ("CCO", "[CH3:1][CH2:2][OH:3]", True, True, True, 1.0),
        # radicals and charges count in one direction only
        ("CCO", "[C][C][O]", False, False, True, 1.0),
        ("CCN", "CC[NH3+]", False, False, True, 1.0),
        # text after a blank is a name, CXSMILES is read, bytes above 127 at the ends fall off
        ("CCO", "CCO is my answer", True, True, True, 1.0),
        ("CCO", "CCO |$a;b;c$|", True, True, True, 1.0),
        ("CCO", "CCO\U0001f600", True, True, True, 1.0),
        # a skeleton of any-bonds matches
        ("CCO", "C~C~O", True, True, True, 1.0),
        # the overlap of an MCS ignores aromaticity and charge
        ("c1ccccc1", "C1CCCCC1", False, False, False, 1.0),
        # what does not parse is nothing
        ("CCO", "C1CC(", False, False, False, 0.0),
        ("not one", "CCO", False, False, False, 0.0),
        ("", "CCO", False, False, False, 0.0),
        (5, "CCO", False, False, False, 0.0),
        # nor is what no encoding has
        ("CCO", "CCO\ud800", False, False, False, 0.0),
        ("CCO", "CCO \udfff", False, False, False, 0.0),
        ("CC\ud800O", "CCO", False, False, False, 0.0),
        # disconnected answers are substructures too
        ("CCO", "C.O", False, True, False, 2 / 3),
    ],
)
def test_c2_scoring(
    gold: Any, pred: str, correct: bool, in_gold: bool, in_response: bool, overlap: float
) -> None:
    result = relfast.evaluate_response("", {"smiles": gold}, f"<smiles>{pred}</smiles>", "REL-C2")
    assert result == {
        "correct": correct, "pred": pred, "gold": gold, "response_is_substructure_of_correct": in_gold,
        "correct_is_substructure_of_response": in_response, "overlap_metric": pytest.approx(overlap),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "gold", "pred", "tp"),
    [
        ("all tags, in order", ["C", "N"], ["N", "C"], 2),
        ("each gold is taken once", ["C"], ["C", "C"], 1),
        ("a gold listed twice is wanted twice", ["C", "C"], ["C", "C"], 2),
        ("invalid SMILES are false positives", ["C"], ["C", "C1CC(", ""], 1),
        ("lone surrogates are invalid", ["CC"], ["CC", "\ud800"], 1),
        ("lone surrogates are invalid", ["CC", "C\udfff"], ["C\udfff", "CC \ud800"], 0),
        ("same molecule as in C2", ["CCO"], ["OCC"], 1),
        ("greedy: the first unmatched gold", ["CC", "C~C"], ["C~C", "CC"], 2),
        ("greedy: the order of predictions matters", ["CN", "C~N"], ["C~N", "C~N"], 2),
        ("nothing named", ["C"], [], 0),
        ("nothing wanted", [], ["C"], 0),
        ("nothing wanted, nothing named", [], [], 0),
    ],
)
def test_c3(rule: str, gold: list[str], pred: list[str], tp: int) -> None:
    response = "\n".join(f"<smiles>{smiles or ' '}</smiles>" for smiles in pred)
    result = relfast.evaluate_response("", {"missing_smiles": gold}, response, "REL-C3")
    precision = tp / len(pred) if pred else 0.0
    recall = tp / len(gold) if gold else 0.0
    assert result == {
        "correct": tp == len(gold) == len(pred), "pred": pred, "gold": gold, "tp": tp, "fp": len(pred) - tp, "fn": len(gold) - tp,
        "precision": precision, "recall": recall, "f1": 2 * precision * recall / (precision + recall) if tp else 0.0,
    }  # fmt: skip


@pytest.mark.parametrize("missing", [None, "C", 5, {"a": "C"}, ("C",)])
def test_c3_gold_that_is_no_list(missing: Any) -> None:
    result = relfast.evaluate_response("", {"missing_smiles": missing}, "<smiles>C</smiles>", "REL-C3")
    assert result["error"] == "Missing or invalid missing_smiles in answer"
    assert (result["correct"], result["gold"], result["pred"]) == (False, [], ["C"])
    assert (result["tp"], result["fp"], result["fn"]) == (0, 1, 0)


def test_c3_missing_key_counts_as_an_empty_list() -> None:
    result = relfast.evaluate_response("", {}, "", "REL-C3")
    assert "error" not in result
    assert result["correct"] is True


BOMB = "<smiles>CC |atomProp:0.molAtomMapNumber.x|</smiles>"


@pytest.mark.parametrize(
    ("missing", "fails"),
    [(["CC"], True), (["C", "CC"], True), ([], False), (["C1CC("], False)],
)
def test_c3_where_rdkit_raises(missing: list[str], fails: bool) -> None:
    """RDKit reads this molecule and cannot write it: the published scorer raises once it compares it."""
    result = relfast.evaluate_response("", {"missing_smiles": missing}, BOMB, "REL-C3")
    assert ("error" in result) is fails
    assert result["correct"] is False
    if not fails:
        assert (result["tp"], result["fp"]) == (0, 1)


def test_default_reward_metrics() -> None:
    from relfast.tasks import TASKS

    rewards = {name: task.default_reward("reference") for name, task in TASKS.items()}
    assert rewards == {
        **{f"REL-A{n}": "correct" for n in range(1, 8)}, "REL-B1": "correct", "REL-C1": "correct", "REL-C2": "overlap_metric",
        "REL-C3": "f1", "SeqBench": "progress_ratio", "ReAlign": "alignment_score",
    }  # fmt: skip
