"""TRL's real ``GRPOTrainer`` in mazes walked by calls of tools: ``make test-trainers``."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from typing import Any

import pytest

EXAMPLE = Path(__file__).resolve().parent.parent.parent / "examples" / "trl_walk.py"

pytestmark = [pytest.mark.trainers, pytest.mark.filterwarnings("ignore")]


def load() -> Any:
    spec = importlib.util.spec_from_file_location("trl_walk", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    return example


def test_two_steps_with_rewards_of_walks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each rollout's reward is what strict scoring says of the calls that were possible."""
    import relfast
    from relfast.rewards.trl_environments import SeqBenchEnvironment

    example = load()
    seen: list[tuple[float, float]] = []
    get_reward = SeqBenchEnvironment.get_reward

    def watched(self: Any) -> float | None:
        value = get_reward(self)
        assert value is not None
        walk, (answer, question) = self._walk, self._record
        (row,) = relfast.score_batch(
            "SeqBench", [answer], [str(walk.plan)], questions=[question], policy="strict", workers=0
        ).scores
        assert row.reward is not None
        seen.append((value, row.reward * len(walk.plan) / (len(walk.plan) + walk.refused)))
        return value

    monkeypatch.setattr(SeqBenchEnvironment, "get_reward", watched)
    log = example.train(2, str(tmp_path), rollouts=8)
    assert [entry["step"] for entry in log] == [1, 2]
    for entry in log:
        assert math.isfinite(entry["loss"])
        assert entry["tools/call_frequency"] > 0
    assert len(seen) == 16
    assert all(given == pytest.approx(expected) for given, expected in seen)
    assert sum(entry["reward"] for entry in log) / 2 == pytest.approx(sum(given for given, _ in seen) / 16)


def test_a_group_has_one_maze() -> None:
    """TRL repeats a row of a stream for each rollout of its group: so its environments begin in the same maze."""
    from datasets import IterableDataset
    from trl.trainer.utils import repeat_iterable_dataset

    from relfast.rewards.curriculum import Problems
    from relfast.rewards.trl_environments import SeqBenchEnvironment, prompts

    problems = Problems("SeqBench", curriculum=load().CURRICULUM)
    stream = IterableDataset.from_generator(prompts, gen_kwargs={"problems": problems})
    rows = list(repeat_iterable_dataset(stream, mini_repeat_count=3, batch_size=2).take(6))
    environment = SeqBenchEnvironment()
    texts = [environment.reset(**row) for row in rows]
    assert texts[:3] == [texts[0]] * 3
    assert texts[3:] == [texts[3]] * 3
    assert texts[0] != texts[3]
