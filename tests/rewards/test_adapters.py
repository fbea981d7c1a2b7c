"""Each adapter called as its trainer calls it (signatures of the trainers' sources, 2026); what all have in common: one
engine, counts of failures, gold and questions as data sets carry them."""

from __future__ import annotations

import asyncio
import inspect
import json
import math
import pickle
import sys
import warnings
from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import reward_doors
from processes import python
from reward_cases import MIXED, Case, Sample, chat
from reward_doors import DOORS, NO_NONE, Row

from relfast import rewards
from relfast.errors import UnscoredError, UsageError
from relfast.formats.stored import gold_of
from relfast.rewards import nemo_rl, openrlhf, reasoning_gym, slime, trl, verifiers, verl
from relfast.rewards.queries import response_in
from relfast.rewards.shared import question_of, read_label

TASKS, ANSWERS, RESPONSES, REWARDS = map(list, zip(*MIXED, strict=True))
N_UNSCORED = REWARDS.count(None)
STRICT_ONLY = ("REL-C2", {"smiles": "CCO"}, "<think>the motif is <smiles>CCO</smiles></think>")


def _close(ours: Any, expected: list[float | None]) -> bool:
    return len(ours) == len(expected) and all(
        (a is None or a != a) if b is None else math.isclose(a, b, abs_tol=1e-6)
        for a, b in zip(ours, expected, strict=True)
    )


def rows_of(cases: list[Case]) -> list[Row]:
    return [(*case[:3], "Which one is it?") for case in cases]


@pytest.mark.parametrize("door", DOORS)
def test_mixed_tasks_unknown_tasks_and_bad_gold(door: str) -> None:
    # verl's data_source need not name a task
    cases = [case for case in MIXED if case.task is not None or not door.startswith("verl")]
    cases = [case for case in cases if case.task != "no-such-task" or not door.startswith("verl")]
    if door.endswith(" none"):  # a label without gold says nothing of its question either
        cases = [case for case in cases if case.answer is not None]
    lost = [-1.0 if case.reward is None else case.reward for case in cases]
    assert _close(DOORS[door](rows_of(cases), on_error=-1.0), lost)
    if door not in NO_NONE:
        assert _close(DOORS[door](rows_of(cases)), [case.reward for case in cases])
        return
    scored = [case for case in cases if case.reward is not None]
    assert _close(DOORS[door](rows_of(scored)), [case.reward for case in scored])
    for case in cases:
        if case.reward is None:
            with pytest.raises(UnscoredError, match=r"on_error=0\.0"):
                DOORS[door](rows_of([case]))


NEAR = ("REL-C2", {"smiles": "CCO"}, "<smiles>CC</smiles>", "Which one is it?")


@pytest.mark.parametrize("door", DOORS)
def test_options_reach_the_scorer(door: str) -> None:
    """Strict is the default, the published scorer comes on request."""
    thought = (*STRICT_ONLY, "Which one is it?")
    assert _close(DOORS[door]([thought], on_error=0.0), [0.0])
    assert _close(DOORS[door]([thought], on_error=0.0, policy="reference"), [1.0])
    for metric, reward in (("correct", 0.0), ("overlap_metric", 2 / 3)):
        assert _close(DOORS[door]([NEAR], on_error=0.0, rewards={"REL-C2": metric}), [reward])
    with pytest.raises(UsageError, match="polcy"):
        DOORS[door]([NEAR], on_error=0.0, polcy="strict")


class TestTRL:
    @staticmethod
    def _call(function: Any, completions: list[Any], **columns: Any) -> tuple[list[Any], dict[str, Any]]:
        logged: dict[str, Any] = {}
        n = len(completions)
        given = function(
            prompts=["a question"] * n,
            completions=completions,
            completion_ids=[[1, 2]] * n,
            trainer_state=object(),
            log_extra=lambda column, values: logged.__setitem__(column, values),
            log_metric=lambda name, value: logged.setdefault(name, []).append(value),
            **columns,
        )
        return given, logged

    def test_what_it_logs(self) -> None:
        _, logged = self._call(trl.reward, RESPONSES, task=TASKS, answer=ANSWERS, id=list(RESPONSES))
        means = {name: sum(values) / len(values) for name, values in logged.items() if "/" in name}
        assert means["relfast/unscored"] == N_UNSCORED / len(REWARDS)
        assert logged["relfast_status"].count("invalid_record") == N_UNSCORED
        assert {len(logged[f"relfast_{column}"]) for column in ("status", "pred", "reason")} == {len(REWARDS)}
        assert logged["relfast_pred"][0] == "4"
        # a value a completion that has one, and never a NaN, of which TRL would make the mean
        assert all(type(value) is float and math.isfinite(value) for name in means for value in logged[name])
        assert len(logged["relfast/answered"]) == len(REWARDS)
        assert len(logged["relfast/correct"]) == len(REWARDS) - N_UNSCORED
        assert logged["relfast/REL-C3/f1"] == [1.0, pytest.approx(2 / 3)]
        assert "relfast/REL-B1/f1" not in logged  # of a right no there is none

    @pytest.mark.parametrize("release", [None, "1.9.0", "1.13.0", "1.14.0", "1.16.0", "2.0"])
    def test_in_several_processes_only_what_trl_can_gather_is_logged(
        self, release: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        """The real ones: `test_two_processes`."""
        monkeypatch.setitem(sys.modules, "trl", SimpleNamespace(__version__=release))
        monkeypatch.setattr(trl, "_told", set())
        logged_alone = self._call(trl.reward, ["<Yes>"], answer=[{"label": "Yes"}])[1]
        assert logged_alone
        monkeypatch.setenv("WORLD_SIZE", "2")
        for _ in range(3):
            given, logged = self._call(trl.reward, ["<Yes>"], answer=[{"label": "Yes"}])
            assert given == [1.0]
            assert logged == (logged_alone if release in ("1.14.0", "1.16.0", "2.0") else {})
        assert caplog.text.count("nothing is logged") == (not logged)

    def test_awaited(self) -> None:
        """As TRL asks for it, and takes it into other processes."""
        for made in (trl.reward_async, trl.make_reward(asynchronous=True, name="mine")):
            function = pickle.loads(pickle.dumps(made))
            assert inspect.iscoroutinefunction(function)
            assert function.__name__ == made.__name__
            asked = ["q"] * len(TASKS)
            given = asyncio.run(function(prompts=asked, completions=RESPONSES, task=TASKS, answer=ANSWERS))
            assert _close(given, REWARDS)
        assert not inspect.iscoroutinefunction(trl.reward)

    def test_a_function_a_component(self) -> None:
        before = rewards.stats()["ok"]
        functions = pickle.loads(pickle.dumps(trl.make_rewards(["reward", "correct", "f1"], on_error=-1)))
        columns = {"task": TASKS, "answer": ANSWERS}
        calls = [self._call(function, RESPONSES, **columns) for function in functions]
        (given, correct, f1), (logged, *none) = zip(*calls, strict=True)
        assert _close(given, [-1 if reward is None else reward for reward in REWARDS])
        assert correct == [-1 if reward is None else float(reward == 1) for reward in REWARDS]
        measured = {at for at, task in enumerate(TASKS) if task == "REL-C3" and REWARDS[at] is not None}
        assert {at for at, value in enumerate(f1) if value not in (None, -1)} == measured
        assert [function.__name__ for function in functions] == [
            "relfast_reward", "relfast_correct", "relfast_f1",
        ]  # fmt: skip
        assert "relfast/correct" in logged
        assert none == [{}, {}]
        assert rewards.stats()["ok"] - before == logged["relfast_status"].count("ok")  # once for all three
        again = [{"label": "No"}] * len(RESPONSES)
        assert functions[1](completions=RESPONSES, task=["REL-C1"] * len(RESPONSES), answer=again) != correct
        with pytest.raises(UsageError, match=r"no component 'f2'; components: reward, .*f1"):
            trl.make_rewards(["f2"])
        for lowered in ("fp", "violation", "noise"):
            with pytest.raises(UsageError, match=lowered):
                trl.make_reward(component=lowered)

    def test_options_of_the_factory(self) -> None:
        columns = {"answer_column": "gold", "task_column": "benchmark"}
        quiet = trl.make_reward(on_error=-1, task="REL-C2", log=False, **columns)
        given, logged = self._call(quiet, ["<smiles>OCC</smiles>", "?"], gold=[{"smiles": "CCO"}, {}])
        assert given == [1.0, -1.0]
        assert logged == {}
        named = trl.make_reward(name="published")
        assert "published/correct" in self._call(named, ["<Yes>"], answer=[{"label": "Yes"}])[1]
        assert named.__name__ == "published"


class TestVerl:
    def test_the_task_may_be_in_extra_info_and_gold_in_arrays(self) -> None:
        result = verl.compute_score(
            "my_dataset",
            "<smiles>CCO</smiles>",
            {"missing_smiles": np.array(["CCO"], dtype=object), "label": None},
            {"task": "REL-C3", "question": "q"},
        )
        assert result["score"] == result["acc"] == 1.0

    @pytest.mark.parametrize(
        "source", [None, "ada-f/rel", "ada-f/REL-C1", "gsm8k", np.str_("x/y"), b"REL-C1"]
    )
    @pytest.mark.parametrize("about", [None, {"task": "math"}, {"task": None}])
    def test_a_source_that_is_no_task_leaves_it_to_gold(self, source: Any, about: Any) -> None:
        for gold in ({"label": "Yes"}, '{"label": "Yes"}', np.str_('{"label": "Yes"}')):
            assert verl.compute_score(source, "<Yes>", gold, about)["score"] == 1.0
            assert verl.compute_score_batched([source], ["<Yes>"], [gold], [about])[0]["score"] == 1.0
            assert asyncio.run(verl.acompute_score(source, "<Yes>", gold, about))["score"] == 1.0

    def test_the_factorys_task_comes_before_gold_and_after_names(self) -> None:
        made = verl.make_compute_score(task="REL-A3", on_error=0.0)
        assert made("ada-f/rel", "Answer: 4", {"target": 3})["score"] == 1.0
        assert made("REL-C1", "<Yes>", {"label": "Yes"})["score"] == 1.0

    def test_where_no_task_can_be_told(self, monkeypatch: Any, caplog: pytest.LogCaptureFixture) -> None:
        monkeypatch.setattr("relfast.engine.calls.unscored._told", set())
        for _ in range(2):
            given = verl.compute_score("ada-f/rel", "<Yes>", {"colour": "red"}, None, on_error=0.5)
            assert (given["score"], given["unscored"]) == (0.5, 1.0)
        (said,) = [record.getMessage() for record in caplog.records]
        assert "'ada-f/rel'" in said
        assert "REL-A1" in said
        assert "ReAlign" in said

    @pytest.mark.parametrize(
        "name", ["on_eror", "onerror", "On_Error", "polcy", "time_out", "worker", "metric", "component"]
    )
    def test_near_misses_of_options_are_refused(self, name: str) -> None:
        row = ("REL-C1", "<Yes>", {"label": "Yes"})
        for call in (verl.compute_score, lambda *row, **more: asyncio.run(verl.acompute_score(*row, **more))):
            with pytest.raises(UsageError, match=f"'{name}'"):
                call(*row, None, **{name: 0})
        with pytest.raises(UsageError, match=f"'{name}'"):
            verl.compute_score_batched(*([one] for one in row), **{name: 0})
        with pytest.raises((UsageError, TypeError), match=name):
            verl.make_compute_score(**{name: 0})

    def test_what_verl_and_its_managers_add_is_ignored(self) -> None:
        """Keywords in the sources of verl 0.2 to 0.9."""
        names = (
            "reward_router_address reward_model_tokenizer sandbox_fusion_url concurrent_semaphore memory_limit_mb"
            " strict_box_verify return_dict max_resp_len overlong_buffer_cfg reward_fn_key num_examine"
            " experiment_name continuous solution_ids prompt raw_prompt index split rm_scores tools_kwargs"
        )
        more = dict.fromkeys(names.split())
        assert verl.compute_score("REL-C1", "<Yes>", {"label": "Yes"}, None, **more)["score"] == 1.0

    def test_components(self) -> None:
        """Keys for ``gdpo_reward_keys``: numbers, whatever the task."""
        components = ["f1", "step_f1", "precision"]
        made = verl.make_compute_score(components=components, on_error=-1.0)
        asked = {"question": "q"}
        given = [made(task, text, gold, asked) for task, gold, text, _ in MIXED if task is not None]
        assert {tuple(one) for one in given} == {
            (*verl.compute_score("REL-C1", "", {}, on_error=0.0), *components)
        }
        assert all(type(one[name]) is float for one in given for name in components)
        assert [one["f1"] for one in given if one["unscored"]] == [-1.0] * sum(
            one["unscored"] == 1 for one in given
        )
        assert sorted({round(one["f1"], 3) for one in given}) == [-1.0, 0.0, 0.667, 1.0]
        row = ("REL-C1", "<Yes>", {"label": "Yes"}, None)
        assert verl.compute_score(*row, components="correct,f1")["correct"] == 1.0
        with pytest.raises(UsageError, match="f2"):
            verl.make_compute_score(components=["f2"])
        with pytest.raises(UsageError, match="metrics=False"):
            verl.make_compute_score(components=["f1"], metrics=False)


class TestOpenRLHF:
    def test_what_it_gives(self) -> None:
        (asked,) = DOORS["openrlhf bare wrapped"].asks(rows_of(MIXED))
        given = openrlhf.reward_func(**asked)
        assert set(given) == {"rewards", "scores", "extra_logs"}
        assert _close(given["rewards"], REWARDS)
        assert _close(given["scores"], [None if r is None else float(r == 1.0) for r in REWARDS])
        assert list(given["extra_logs"]["unscored"]) == [REWARDS.count(None) / len(REWARDS)] * len(REWARDS)

    def test_labels_may_be_gold_alone(self) -> None:
        func = openrlhf.make_reward(on_error=0.25)
        given = func(["q <Yes>", "q <Yes>"], ["q", "q"], ['{"label": "Yes"}', "nonsense"])
        assert list(given["rewards"]) == [1.0, 0.25]
        assert list(given["scores"]) == [1.0, 0.0]

    @pytest.mark.parametrize(
        ("query", "prompt", "response"),
        [
            ("ab", "a", "b"),
            ("<s> a b", "a", " b"),
            ("ab</s><|im_end|> ", "a", "b"),
            ("ab \n", "a", "b \n"),
            ("aab", "a", "ab"),
            ("<s>a b, a c", "a ", "b, a c"),  # a response may repeat the prompt
            ("<s>a b", " a ", " b"),
            ("b", "", "b"),
            ("b", "other", None),
            ("b", None, None),
            (5, "a", 5),
        ],
    )
    def test_the_prompt_is_cut_off(self, query: Any, prompt: Any, response: Any) -> None:
        assert response_in(query, prompt) == response

    @pytest.mark.parametrize(
        ("query", "response"),
        [
            ("Q?b", "b"),
            ("System: be brief. Q?b", "b"),
            ("<|im_start|>user\nQ? Think.<|im_end|>\n<|im_start|>assistant\nb<|im_end|>", "\nb"),
            (
                "<|im_start|>user\nQ?<|im_end|>\n<|im_start|>assistant\nb<|im_start|>assistant\nc",
                "\nb<|im_start|>assistant\nc",
            ),
            ("<|im_start|>user\nQ?<|im_end|>\n", None),
            ("[INST] Q? [/INST] Q? [/INST] b</s>", " Q? [/INST] b"),
            ("b", None),
        ],
    )
    def test_the_question_is_cut_off_with_its_template(self, query: str, response: str | None) -> None:
        for prompt, question in ((None, "Q?"), ("Q?", None), ("another", "Q?")):
            assert response_in(query, prompt, question) == response

    def test_a_question_is_never_read_as_part_of_a_response(self) -> None:
        query = "Return <Yes> or <No>.\n<Yes>"
        gold = {"label": "Yes"}
        with pytest.raises(UsageError, match="pass prompts"):
            openrlhf.reward_func([query], None, [gold])
        with pytest.raises(UsageError, match="pass prompts"):
            openrlhf.reward_func([query], [None], labels=[json.dumps(gold)])
        label = json.dumps({"answer": gold, "question": "Return <Yes> or <No>."})
        assert list(openrlhf.reward_func([query], labels=[label])["rewards"]) == [1.0]
        with pytest.warns(UserWarning, match="the prompt nor the label's question is in the query"):
            given = openrlhf.reward_func([query, "q<Yes>"], ["another prompt", "q"], [gold, gold])
        assert _close(given["rewards"], [None, 1.0])
        assert _close(given["scores"], [None, 1.0])
        chat = [{"role": "user", "content": "Return <Yes> or <No>."}]
        assert list(openrlhf.reward_func([query], [chat], [gold])["rewards"]) == [1.0]


class TestVerifiers:
    def test_gold_may_be_in_info_and_the_task_in_its_column(self) -> None:
        info = json.dumps({"answer": {"smiles": "CCO"}, "task": None})
        given = verifiers.reward(completion="<smiles>OCC</smiles>", answer="", info=info, task="REL-C2")
        assert given == 1.0

    def test_a_rubric_takes_them_for_functions_of_one_rollout(self) -> None:
        """It looks at parameter names, at the annotated return, and at ``__name__``."""
        for function in (verifiers.reward, verifiers.reward_async, verifiers.make_reward(name="mine")):
            signature = inspect.signature(function)
            plural = {"states", "prompts", "completions", "answers", "tasks", "infos"}
            assert not plural & set(signature.parameters)
            assert "list" not in str(signature.return_annotation)
            assert function.__name__


class TestSlime:
    def test_options(self) -> None:
        made = pickle.loads(pickle.dumps(slime.make_reward(on_error=0.0)))
        assert asyncio.run(made(None, Sample())) == 0.0
        assert made.__name__ == "custom_rm"
        assert asyncio.run(made(None, Sample(), evaluation=True)) == 0.0
        assert asyncio.iscoroutinefunction(slime.custom_rm)


class TestNeMoRL:
    def test_a_step(self) -> None:
        env = pickle.loads(pickle.dumps(nemo_rl.RelfastEnvironment({"workers": 1, "on_error": -1.0})))
        (asked,) = DOORS["nemo"].asks(rows_of(MIXED))
        given = env.step(**asked)
        assert _close(given.rewards, [-1.0 if one is None else one for one in REWARDS])
        assert list(given.terminateds) == [1.0] * len(MIXED)
        assert given.metadata == asked["metadata"]
        assert [message["role"] for message in given.observations] == ["environment"] * len(MIXED)
        assert "correct" in given.observations[0]["content"]
        batch, metrics = env.global_post_process_and_metrics(
            {"rewards": [1.0, 0.0, float("nan")], "is_end": [1.0] * 3}
        )
        assert metrics == {"accuracy": 0.5, "unscored": pytest.approx(1 / 3)}
        assert batch["is_end"] == [1.0] * 3
        env.shutdown()

    def test_options(self) -> None:
        """Those of its own environments among them."""
        env = nemo_rl.RelfastEnvironment({"num_workers": 2, "stop_strings": None, "on_error": 0.0})
        assert env.options["workers"] == 2
        assert list(env.step([chat("<Yes>")], [None]).rewards) == [0.0]
        assert len(env.step([], []).rewards) == 0
        with pytest.raises(UsageError):
            nemo_rl.RelfastEnvironment({"num_worker": 2})


class TestReasoningGym:
    def test_no_answer_and_options(self) -> None:
        entry = {"question": "q", "answer": '{"label": "Yes"}', "metadata": {"source_dataset": "REL-C1"}}
        assert reasoning_gym.score_answer(None, entry) == 0.0
        assert reasoning_gym.make_reward(on_error=0.125)("x", {"answer": None}) == 0.125


NUMBERS: dict[str, Any] = {
    "verl": verl.make_compute_score,
    "openrlhf": openrlhf.make_reward,
    "slime": slime.make_reward,
    "nemo": nemo_rl.make_environment,
    "reasoning-gym": reasoning_gym.make_reward,
}


class TestANumberIsRequired:
    """What is said when the adapter is made, not in the middle of a run."""

    @staticmethod
    def _said(caplog: pytest.LogCaptureFixture) -> int:
        return sum("on_error=0.0 or another number" in record.getMessage() for record in caplog.records)

    @pytest.mark.parametrize("door", NUMBERS)
    @pytest.mark.parametrize(
        ("options", "n"),
        [
            ({}, 1),
            ({"on_error": None}, 1),
            ({"on_error": {"response": 0.0}}, 1),
            ({"on_error": {"response": None, "machinery": 0.0}}, 1),
            ({"on_error": 0.0}, 0),
            ({"on_error": {"machinery": -1}}, 0),
            ({"on_error": {"machinery": -1}, "policy": "reference"}, 0),
            ({"on_error": {"response": -1}, "policy": "reference"}, 1),
        ],
    )
    def test_at_once(self, caplog: Any, door: str, options: Any, n: int) -> None:
        made = NUMBERS[door](**options)
        assert self._said(caplog) == n
        pickle.loads(pickle.dumps(made))
        assert self._said(caplog) == n

    def test_trainers_that_can_leave_a_sample_out_are_told_nothing(self, caplog: Any) -> None:
        trl.make_reward()(completions=["<Yes>"], answer=[{"label": "Yes"}])
        assert self._said(caplog) == 0

    def test_the_modules_own_says_it_at_its_first_call(self) -> None:
        code = (
            "import logging\n"
            "from relfast.rewards.verl import compute_score\n"
            "from relfast.rewards.reasoning_gym import score_answer\n"
            "print('imported', flush=True)\n"
            "logging.basicConfig(format='%(message)s', stream=__import__('sys').stdout)\n"
            "for _ in range(2): compute_score('REL-C1', '<Yes>', {'label': 'Yes'})\n"
            "print('called')\n"
            "score_answer('<Yes>', {'answer': '{\"label\": \"Yes\"}'})\n"
        )
        done = python("-c", code, environment={"RELFAST_WORKERS": "0"}, check=True)
        first, ofverl, called, ofgym = done.stdout.splitlines()
        assert (first, called, done.stderr) == ("imported", "called", "")
        assert "verl" in ofverl
        assert "reasoning-gym" in ofgym

    def test_what_openrlhf_swallows_is_refused(self) -> None:
        for on_error in ("raise", {"machinery": "raise"}, {"response": "raise"}):
            with pytest.raises(UsageError, match="OpenRLHF"):
                openrlhf.make_reward(on_error=on_error)  # type: ignore[arg-type]


# what all adapters have in common


def test_adapters_with_the_same_options_share_one_engine() -> None:
    assert trl.reward.scorer is openrlhf.reward_func.scorer is reasoning_gym.score_answer.scorer
    assert trl.make_reward(name="b", on_error=0.0).scorer is trl.reward.scorer
    assert trl.make_reward(policy="reference").scorer is not trl.reward.scorer


def test_failures_are_counted() -> None:
    before = Counter(rewards.stats())  # of no scorer, where this test is the first
    trl.reward(completions=["<Yes>"] * 3, answer=[{"label": "Yes"}, None, {"label": 5}])
    after = rewards.stats()
    assert after["invalid_record"] - before["invalid_record"] == 2
    assert after["ok"] - before["ok"] == 1


def test_gold_that_never_ends_is_no_gold() -> None:
    ring: dict[str, Any] = {}
    ring["self"] = ring
    assert gold_of(ring) is None
    assert trl.reward(completions=["x"], answer=[ring], task=["REL-C2"]) == [None]


def test_labels_and_questions() -> None:
    assert read_label('{"task": "REL-C1", "answer": "{}", "question": "q"}') == ("REL-C1", {}, "q")
    assert read_label({"label": "Yes"}) == (None, {"label": "Yes"}, None)
    assert question_of([{"role": "user", "content": [{"type": "text", "text": "t"}]}]) == "t"
    assert question_of(None) is None
    assert question_of([]) is None


HOMOPLASY = {"label": "yes", "taxa": [1]}


@pytest.mark.parametrize("door", [door for door in DOORS if not door.startswith("openrlhf")])
def test_a_question_that_strict_needs_is_asked_for(door: str) -> None:
    with pytest.warns(UserWarning, match="REL-B1 came without its question") as told:
        # options of its own: what adapters that are shared have been told is not repeated
        DOORS[door]([("REL-B1", HOMOPLASY, "yes 1", None)], on_error=0.5 + list(DOORS).index(door))
    assert len(told) == 1
    if not DOORS[door].awaited:  # no event loop runs above
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
