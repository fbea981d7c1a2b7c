"""What all adapters have in common: one engine, counts of failures, gold and questions as data sets carry them."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reward_doors
from patience import PATIENCE
from reward_doors import DOORS

from relfast import rewards
from relfast.rewards import openrlhf, reasoning_gym, trl
from relfast.rewards.shared import gold_of, question_of, read_label


def test_no_trainer_is_imported() -> None:
    """Nor torch, nor what scoring needs."""
    modules = "trl verl openrlhf verifiers slime nemo_rl reasoning_gym"
    code = (
        "import sys\n"
        f"for name in '{modules}'.split(): __import__('relfast.rewards.' + name)\n"
        f"heavy = set('{modules} torch transformers numba rdkit onnxruntime'.split())\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    root = Path(__file__).resolve().parent.parent.parent
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=root,
        env={"PYTHONPATH": f"{root}:{root / 'kernels'}"},
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    assert done.stdout == "[]\n"


def test_adapters_with_the_same_options_share_one_engine() -> None:
    assert trl.reward.scorer is openrlhf.reward_func.scorer is reasoning_gym.score_answer.scorer
    assert trl.make_reward(name="b", on_error=0.0).scorer is trl.reward.scorer
    assert trl.make_reward(policy="reference").scorer is not trl.reward.scorer


def test_failures_are_counted() -> None:
    before = rewards.stats()
    trl.reward(completions=["<Yes>"] * 3, answer=[{"label": "Yes"}, None, {"label": 5}])
    after = rewards.stats()
    assert after["invalid_record"] - before["invalid_record"] == 2
    assert after["ok"] - before["ok"] == 1


@pytest.mark.parametrize(
    ("carried", "gold"),
    [
        ('{"label": "Yes", "taxa": null}', {"label": "Yes"}),
        ({"label": "Yes", "smiles": None}, {"label": "Yes"}),
        ({"smiles": None}, {"smiles": None}),
        ({"missing_smiles": np.array(["C", "O"])}, {"missing_smiles": ["C", "O"]}),
        ({"a": {"b": np.int64(3), "c": (np.float64(0.5),)}}, {"a": {"b": 3, "c": [0.5]}}),
        ("not JSON", "not JSON"),
        ("[1, 2]", [1, 2]),
        (None, None),
        (7, 7),
    ],
)
def test_gold_as_data_sets_carry_it(carried: Any, gold: Any) -> None:
    assert gold_of(carried) == gold


def test_gold_that_never_ends_is_no_gold() -> None:
    ring: dict[str, Any] = {}
    ring["self"] = ring
    assert gold_of(ring) is None
    assert trl.reward(completions=["x"], answer=[ring], task=["REL-C2"]) == [None]


def test_labels_and_questions() -> None:
    assert read_label('{"task": "REL-C1", "answer": "{}", "question": "q"}') == ("REL-C1", {}, "q")
    assert read_label({"label": "Yes"}) == (None, {"label": "Yes"}, None)
    assert question_of([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]) == "a"
    assert question_of([{"role": "user", "content": [{"type": "text", "text": "t"}]}]) == "t"
    assert question_of(np.array([{"role": "user", "content": "a"}], dtype=object)) == "a"
    assert question_of(None) is None
    assert question_of([]) is None


HOMOPLASY = {"label": "yes", "taxa": [1]}


@pytest.mark.parametrize("door", [door for door in DOORS if not door.startswith("openrlhf")])
def test_a_question_that_strict_needs_is_asked_for(door: str) -> None:
    with pytest.warns(UserWarning, match="REL-B1 came without its question") as told:
        # options of its own: what adapters that are shared have been told is not repeated
        DOORS[door]([("REL-B1", HOMOPLASY, "yes 1", None)], on_error=0.5 + list(DOORS).index(door))
    assert len(told) == 1
    if door not in ("slime", "verifiers, awaited"):  # where no event loop runs above
        assert told[0].filename == reward_doors.__file__


def test_it_is_asked_for_once_a_task_and_adapter_and_only_where_it_counts() -> None:
    function = trl.make_reward(name="asks")

    def warned(call: Any, *tasks: str, **columns: Any) -> list[str]:
        gold = {"REL-B1": HOMOPLASY, "REL-C1": {"label": "Yes"}, "SeqBench": {"actions": []}}
        answers = [{**gold[task], **columns.pop("more", {})} for task in tasks]
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            call(completions=["x"] * len(tasks), task=list(tasks), answer=answers, **columns)
        return [str(one.message).split()[1] for one in told]

    assert warned(function, "REL-C1") == []
    assert warned(function, "REL-B1", prompts=["q"]) == warned(function, "REL-B1", question=["q"]) == []
    assert warned(function, "REL-C1", "REL-B1", "REL-B1") == ["REL-B1"]
    assert warned(function, "REL-B1") == []
    assert warned(function, "SeqBench", more={"structural_details": {}}) == []
    assert warned(function, "SeqBench") == ["SeqBench"]
    assert warned(trl.make_reward(name="another"), "REL-B1") == ["REL-B1"]
    assert warned(pickle.loads(pickle.dumps(function)), "REL-B1") == ["REL-B1"]
    assert warned(trl.make_reward(policy="reference"), "REL-B1") == []
