"""The adapters inside the real packages, each skipped where its package is not installed: ``make test-trainers``.

What ran with which release: docs/training.md.
"""

from __future__ import annotations

import asyncio
import importlib
import json
from pathlib import Path
from typing import Any, Final

import pytest

from relfast.errors import UnscoredError
from relfast.rewards import openrlhf, reasoning_gym
from relfast.rewards import verl as verl_adapter

pytestmark = [pytest.mark.trainers, pytest.mark.filterwarnings("ignore")]  # theirs

EXAMPLES: Final = Path(__file__).resolve().parent.parent.parent / "examples"
WORDS: Final = ["<pad>", "<Yes>", "<No>", "so", "<smiles>", "CCO", "OCC", "CC", "</smiles>", "hm"]


class Words:
    """A tokenizer of a few words: verl's managers call ``decode``."""

    def decode(self, ids: Any, skip_special_tokens: bool = True) -> str:
        return "".join(WORDS[int(at)] for at in ids)


def _batch(rows: list[tuple[str, dict[str, Any], list[str]]]) -> Any:
    """A ``DataProto`` of responses as a rollout leaves them: task, gold and words."""
    torch, numpy = importlib.import_module("torch"), importlib.import_module("numpy")
    proto = importlib.import_module("verl").DataProto
    length = max(len(words) for *_, words in rows)
    responses = torch.zeros((len(rows), length), dtype=torch.long)
    mask = torch.ones((len(rows), 1 + length), dtype=torch.long)
    for at, (*_, words) in enumerate(rows):
        responses[at, : len(words)] = torch.tensor([WORDS.index(word) for word in words])
        mask[at, 1 + len(words) :] = 0
    return proto.from_dict(
        tensors={
            "prompts": torch.zeros((len(rows), 1), dtype=torch.long),
            "responses": responses,
            "attention_mask": mask,
        },
        non_tensors={
            "data_source": numpy.array([task for task, *_ in rows], dtype=object),
            "reward_model": numpy.array(
                [{"style": "rule", "ground_truth": json.dumps(gold)} for _, gold, _ in rows], dtype=object
            ),
            "extra_info": numpy.array([{"question": "q"} for _ in rows], dtype=object),
        },
    )


ROWS: Final[list[tuple[str, dict[str, Any], list[str]]]] = [
    ("REL-C1", {"label": "Yes"}, ["so", "<Yes>"]),
    ("REL-C1", {"label": "Yes"}, ["<No>"]),
    ("REL-C2", {"smiles": "CCO"}, ["<smiles>", "OCC", "</smiles>"]),
    ("REL-C2", {}, ["<smiles>", "OCC", "</smiles>"]),
]


class TestVerl:
    """Its own loader and reward managers, from configuration to the tensor of rewards."""

    @staticmethod
    def _manager(name: str, path: Path, **kwargs: Any) -> Any:
        omegaconf = pytest.importorskip("omegaconf")
        reward = pytest.importorskip("verl.trainer.ppo.reward")
        config = omegaconf.OmegaConf.create(
            {
                "reward": {
                    "custom_reward_function": {
                        "path": str(path),
                        "name": "compute_score",
                        "reward_kwargs": kwargs,
                    },
                    "reward_manager": {"source": "register", "name": name},
                    "reward_kwargs": {},
                }
            }
        )
        return reward.load_reward_manager(config, Words())

    @staticmethod
    def _run(manager: Any) -> tuple[list[dict[str, Any]], Any]:
        batch = _batch(ROWS)
        loop = manager.loop

        async def main() -> list[dict[str, Any]]:
            return await asyncio.gather(*(manager.run_single(batch[at : at + 1]) for at in range(len(ROWS))))

        results = loop.run_until_complete(main())
        loop.close()  # verl leaves it open, and makes another where there is none
        asyncio.set_event_loop(None)
        scores = [result["reward_score"] for result in results]
        return results, lambda: type(manager).assemble_rm_scores(batch, scores)

    @pytest.mark.parametrize("name", ["naive", "dapo"])
    @pytest.mark.parametrize("file", ["module", "example"])
    def test_from_the_configuration_to_the_tensor(self, name: str, file: str) -> None:
        path = Path(verl_adapter.__file__) if file == "module" else EXAMPLES / "verl_reward.py"
        kwargs = {"on_error": -0.5} if file == "module" else {}
        results, assemble = self._run(self._manager(name, path, **kwargs))
        lost = -0.5 if file == "module" else 0.0
        assert [result["reward_score"] for result in results] == [1.0, 0.0, 1.0, lost]
        infos = [result["reward_extra_info"] for result in results]
        assert [info["pred"] for info in infos] == ["Yes", "No", "OCC", ""]
        assert len({tuple(info) for info in infos}) == 1
        assert assemble().sum(-1).tolist() == [1.0, 0.0, 1.0, lost]

    def test_without_a_number_it_stops_where_verl_makes_a_tensor(self) -> None:
        results, assemble = self._run(self._manager("naive", Path(verl_adapter.__file__)))
        assert results[-1]["reward_score"] is None
        with pytest.raises((TypeError, RuntimeError)):
            assemble()

    @pytest.mark.parametrize("name", ["batch", "prime"])
    def test_what_is_gone_from_its_registry(self, name: str) -> None:
        """When it is back, the docstring of `relfast.rewards.verl` is to be mended."""
        with pytest.raises(ValueError, match=name):
            self._manager(name, Path(verl_adapter.__file__))


class TestOpenRLHF:
    @staticmethod
    def _executor(path: Path) -> Any:
        agent = pytest.importorskip("openrlhf.utils.agent")
        return agent.SingleTurnAgentExecutor(str(path))

    def test_its_executor_loads_the_file_and_scores(self) -> None:
        executor = self._executor(EXAMPLES / "openrlhf_reward.py")
        queries, labels = ["q <Yes>", "q <No>", "q"], ['{"label": "Yes"}', '{"label": "Yes"}', "{}"]
        given = asyncio.run(executor._fetch_rewards_via_func(queries, ["q"] * 3, labels))
        assert [float(one["rewards"][0]) for one in given] == [1.0, 0.0, 0.0]
        assert [float(one["extra_logs"]["unscored"][0]) for one in given] == [0.0, 0.0, 1.0]

    def test_what_it_makes_of_a_reward_that_is_no_number(self, tmp_path: Path) -> None:
        path = tmp_path / "reward.py"
        path.write_text("from relfast.rewards.openrlhf import reward_func\n", encoding="utf-8")
        ((given,)) = asyncio.run(self._executor(path)._fetch_rewards_via_func(["q"], ["q"], ["{}"]))
        value = float(given["rewards"][0] if given["rewards"][0] is not None else "nan")
        assert value != value
        assert openrlhf.RewardFunc.wants_number


class TestReasoningGym:
    @pytest.fixture
    def gym(self) -> Any:
        gym = pytest.importorskip("reasoning_gym")
        assert "rel_c2" in reasoning_gym.register()
        return gym

    @pytest.mark.parametrize("name", ["rel_a2", "rel_b1", "rel_c1", "rel_c2", "seqbench"])
    def test_entries_of_a_registered_data_set(self, gym: Any, name: str) -> None:
        made, again = (gym.create_dataset(name, size=3, seed=5) for _ in range(2))
        entries = list(made)
        assert entries == list(again)
        assert len({entry["question"] for entry in entries}) == 3
        score = gym.get_score_answer_fn(name)
        for entry in entries:
            gold = json.loads(entry["answer"])
            assert score(answer=None, entry=entry) == 0.0
            if name == "rel_c2":
                assert score(answer=f"<smiles>{gold['smiles']}</smiles>", entry=entry) == 1.0
            if name == "seqbench":
                assert score(answer=gold["completion"], entry=entry) == 1.0

    def test_none_is_not_returned(self, gym: Any) -> None:
        with pytest.raises(UnscoredError, match=r"on_error=0\.0"):
            gym.get_score_answer_fn("rel_c2")(answer="x", entry={"question": "q", "answer": "{}"})

    def test_in_a_composite(self, gym: Any) -> None:
        spec = importlib.import_module("reasoning_gym.composite").DatasetSpec
        both = gym.create_dataset(
            "composite", size=6, seed=1, datasets=[spec("rel_c1", 1, {}), spec("rel_a1", 1, {"size": 9})]
        )
        scored = [both.score_answer("nothing", entry) for entry in both]
        assert scored == [0.0] * 6


class TestNeMoRL:
    def test_create_env_makes_a_ray_actor_of_the_class(self) -> None:
        """What its ``create_env`` does with the class of its registry; the package itself is not on PyPI."""
        ray = pytest.importorskip("ray")
        from relfast.rewards.nemo_rl import RelfastEnvironment

        ray.init(address="local", num_cpus=1, include_dashboard=False, log_to_driver=False)
        try:
            actor = RelfastEnvironment.options(num_cpus=0.5).remote({"on_error": 0.25, "num_workers": 1})
            log = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "<Yes>"}]
            about = [{"task": "REL-C1", "answer": {"label": "Yes"}}, {"task": "REL-C1", "answer": {}}]
            given = ray.get(actor.step.remote([log, log], about))
            assert [float(value) for value in given.rewards] == [1.0, 0.25]
            ray.get(actor.shutdown.remote())
        finally:
            ray.shutdown()
