"""Two steps of TRL's real ``GRPOTrainer`` on a CPU with relfast's reward."""

from __future__ import annotations

import importlib.util
import itertools
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from relfast import rewards
from relfast.engine.judged_texts import JudgedTexts
from relfast.engine.online.isolated_scoring import IsolatedScoring
from relfast.engine.online.pending import PendingScore
from relfast.engine.pool.failures import timed_out_verdict
from relfast.records import Score

pytestmark = pytest.mark.trainers

EXAMPLE = Path(__file__).resolve().parent.parent.parent / "examples" / "trl_grpo.py"


@pytest.mark.filterwarnings("ignore")
def test_two_steps_with_mixed_tasks_and_bad_gold(tmp_path: Path) -> None:
    from datasets import Dataset

    spec = importlib.util.spec_from_file_location("trl_grpo", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    # what `datasets` makes of golds with different keys: the union, filled with None
    rows: list[dict[str, Any]] = [
        {"prompt": "isomers? CCO COC", "task": "REL-C1", "answer": {"label": "Yes", "smiles": None}},
        {"prompt": "motif? CCO CCN", "task": "REL-C2", "answer": {"label": None, "smiles": "CC"}},
        {"prompt": "unknown? CCO", "task": "no-such-task", "answer": {"label": "Yes", "smiles": None}},
        {"prompt": "broken? CCO", "task": "REL-C2", "answer": {"label": None, "smiles": None}},
    ]
    before = rewards.stats()
    log = example.train(2, str(tmp_path), Dataset.from_list(rows * 4))
    after = rewards.stats()
    rewards.close()

    assert [entry["step"] for entry in log] == [1, 2]
    for entry in log:
        assert 0 <= entry["reward"] <= 1
        assert math.isfinite(entry["loss"])
    # 32 completions a step; those that cannot be scored are left out of the mean, and counted
    unscored = after["invalid_record"] - before.get("invalid_record", 0)
    assert unscored == sum(entry["relfast/unscored"] for entry in log) * 32 > 0
    assert (
        after["ok"] + after["no_answer"] - before.get("ok", 0) - before.get("no_answer", 0) == 64 - unscored
    )


@pytest.mark.filterwarnings("ignore")
def test_the_example_runs(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("trl_grpo", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    log = example.train(2, str(tmp_path), example.make_dataset())
    assert len(log) == 2
    assert all(entry["relfast/unscored"] == 0 for entry in log)
    assert json.loads(example.make_dataset()[0]["answer"])["label"] == "Yes"


@pytest.mark.filterwarnings("ignore")
def test_completions_that_hang_stay_in_their_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every other one of those that go to workers; None would give them no advantage, neither good nor bad."""
    from datasets import Dataset

    spec = importlib.util.spec_from_file_location("trl_grpo", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    late = itertools.cycle((True, False))
    hung = 0

    def submit(self: IsolatedScoring, pending: Sequence[PendingScore]) -> None:
        nonlocal hung
        for each in pending:
            if next(late):
                hung += 1
                each.set_score(each.unscored(*timed_out_verdict(5.0)))
            else:
                each.set_score(Score(each.record.index, None, "REL-C2", 0, "ok", True, 1.0, {}))

    monkeypatch.setattr(IsolatedScoring, "submit", submit)
    monkeypatch.setattr(
        JudgedTexts, "kept_all", lambda self, answers, responses, questions: [None] * len(responses)
    )
    # equal completions are not shared here: each has an end of its own
    monkeypatch.setattr(
        IsolatedScoring,
        "begin_all",
        lambda self, task, records, new: [self.begin_alone(record, new) for record in records],
    )
    given: list[float | None] = []

    def watched(**columns: Any) -> list[float | None]:
        values: list[float | None] = rewards_of(**columns)
        given.extend(values)
        return values

    rewards_of = example.reward
    monkeypatch.setattr(example, "reward", watched)
    rows = [{"prompt": "motif? CCO CCN", "task": "REL-C2", "answer": {"smiles": "CC"}}] * 8
    log = example.train(2, str(tmp_path), Dataset.from_list(rows))
    rewards.close()
    assert hung == 32
    assert sorted(map(str, given)) == ["0.0"] * 32 + ["1.0"] * 32
    for entry in log:
        assert entry["reward"] == 0.5
        assert entry["reward_std"] > 0
        assert math.isfinite(entry["loss"])
