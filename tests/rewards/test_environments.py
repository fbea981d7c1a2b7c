"""Environments of one step and of many, TRL's among them, and the problems they are made of."""

from __future__ import annotations

import inspect
import itertools
import json
import pickle
import random
from pathlib import Path
from typing import Any

import pytest
from contract_records import gold

import relfast
from relfast.errors import UnscoredError, UsageError
from relfast.rewards.curriculum import Problems
from relfast.rewards.environments import Environment
from relfast.rewards.problems import BLOCK, SEEDS, Problem, from_file, generated, problem_of
from relfast.rewards.trl_environments import SeqBenchEnvironment, prompts
from relfast.tasks.seqbench.machine import parse_actions

# problems: from files in any dialect, and made one by one without those before


def test_any_problem_without_those_before_it() -> None:
    late = generated("rel-c1", 2 * BLOCK + 3, seed=1)
    both = [generated("REL-C1", at, seed=1) for at in range(2 * BLOCK + 4)]
    assert late == both[-1]
    assert len({problem.question for problem in both}) == len(both)
    assert len({problem.id for problem in both}) == len(both)
    assert both[:3] != [generated("REL-C1", at, seed=2)._replace(id=both[at].id) for at in range(3)]


@pytest.mark.parametrize("task", ["REL-B1", "REL-C1"])
def test_yes_and_no_take_turns(task: str) -> None:
    labels = [generated(task, at).answer["label"].lower() for at in range(BLOCK)]
    assert labels.count("yes") == BLOCK // 2


def test_parameters_are_the_generators() -> None:
    small, large = (generated("SeqBench", 0, rows=6, cols=6, L=length, B=0) for length in (8, 16))
    assert small != large
    assert small.question in small.prompt
    with pytest.raises((UsageError, TypeError)):
        generated("REL-C2", 0, no_such_parameter=1)
    with pytest.raises(UsageError, match="no published generator"):
        generated("ReAlign", 0)
    with pytest.raises(UsageError, match="at must be"):
        generated("REL-C1", SEEDS)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"answer": {"label": "Yes"}}, "'question' is missing"),
        ({"question": "q", "answer": {}}, "its task cannot be told"),
        ({"question": "q", "task": "REL-C1"}, "'answer' is missing"),
        ({"question": "q", "task": "GSM8K", "answer": {"x": 1}}, "unknown task 'GSM8K'"),
    ],
)
def test_what_cannot_be_asked(row: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        problem_of(row)
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(row), encoding="utf-8")
    with pytest.raises(UsageError, match="line 1"):
        list(from_file(path))


SMALL = {"rows": 4, "cols": 4, "B": 1, "N": 1.0}
MAZES = Problems("seqbench", seed=3, curriculum=[(0, SMALL)])


def gold_plan(problem: Problem) -> list[str]:
    plan = parse_actions(problem.answer["completion"])
    assert plan is not None
    return plan


# problems


def test_levels_begin_where_they_say() -> None:
    levels = [(0, {"L": 8, "B": 0}), (3, {"L": 14, "B": 1}), (5, {"L": 20, "B": 1, "N": 1.0})]
    problems = Problems("SeqBench", curriculum=levels)
    first = list(itertools.islice(problems, 7))
    assert [len(gold_plan(problem)) for problem in first] == [8, 8, 8, 14, 14, 20, 20]
    assert [problem.id for problem in first] == [f"seqbench-0-{at}" for at in range(7)]
    assert first[4] == problems[4]
    assert problems[1].question == generated("SeqBench", 1, L=8, B=0).question
    resumed = Problems("SeqBench", curriculum=levels, start=5)
    assert next(iter(resumed)) == first[5]
    assert pickle.loads(pickle.dumps(problems))[6] == first[6]


def test_problems_without_end() -> None:
    problems = Problems("REL-A1", seed=2)
    far = [problems[1_000_000 + at] for at in range(2)]
    assert far[0].question == generated("REL-A1", 0, 3).question
    assert far[0].id == "rel-a1-2-1000000"
    with pytest.raises(IndexError):
        problems[-1]


def test_rows_are_what_rewards_read() -> None:
    rows = list(Problems("REL-C1", seed=1).rows(2))
    assert [row["id"] for row in rows] == ["rel-c1-1-0", "rel-c1-1-1"]
    for row in rows:
        problem = generated("REL-C1", int(row["id"][-1]), 1)
        assert row["prompt"] == [{"role": "user", "content": problem.prompt}]
        assert (row["task"], json.loads(row["answer"])) == (problem.task, problem.answer)
        assert row["question"] == problem.question


@pytest.mark.parametrize(
    ("task", "curriculum", "message"),
    [
        ("SeqBench", [(1, {})], "levels begin at 0"),
        ("SeqBench", [(0, {}), (5, {}), (5, {})], "levels begin at 0"),
        ("SeqBench", [(0, {"Q": 1})], "level from 0: unknown option 'Q'"),
        ("SeqBench", [(0, {}), (9, {"N": 3.0})], "N must be a number from 0 to 1"),
        ("ReAlign", [], "no published generator"),
    ],
)
def test_a_curriculum_that_cannot_be(task: str, curriculum: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Problems(task, curriculum=curriculum)


# Gymnasium's form


def test_gold_earns_all() -> None:
    environment = Environment(MAZES)
    for at in range(3):
        text, about = environment.reset()
        problem = MAZES[at]
        assert about["id"] == problem.id
        assert problem.question in text
        plan = gold_plan(problem)
        for action in plan[1:-1]:
            assert action in about["legal_actions"]
            text, reward, terminated, truncated, about = environment.step(action)
            assert (reward, terminated, truncated, about["violation"]) == (0.0, False, False, None)
            assert text.startswith("You are in room ")
        _, reward, terminated, truncated, about = environment.step(plan[-1])
        assert (reward, terminated, truncated) == (1.0, True, False)
        assert (about["status"], about["correct"], about["legal_actions"]) == ("ok", True, [])
        with pytest.raises(UsageError, match="reset"):
            environment.step(plan[-1])


@pytest.mark.parametrize("seed", range(1, 5))
def test_random_walks_earn_what_their_plans_earn(seed: int) -> None:
    """They are cut off after so many actions, or after three times those of the shortest plan."""
    luck = random.Random(seed)
    shortest = gold_plan(MAZES[seed])
    most = 60 if seed % 2 else 3 * len(shortest)
    environment = Environment(MAZES, max_steps=60 if seed % 2 else None)
    _, about = environment.reset(**({"seed": seed} if seed % 2 else {"options": {"at": seed}}))  # type: ignore[arg-type]
    plan, refused = shortest[:1], 0
    terminated = truncated = False
    while not (terminated or truncated):
        action = luck.choice([*about["legal_actions"], "move_to: nowhere", "fly"])
        text, reward, terminated, truncated, about = environment.step(action)
        if about["violation"] is None:
            plan.append(action)
        else:
            refused += 1
            assert text.startswith("Not possible: ")
    assert terminated or len(plan) - 1 + refused == most
    with relfast.Scorer(policy="strict", workers=0) as scorer:
        expected = scorer.reward("SeqBench", MAZES[seed].answer, str(plan), MAZES[seed].question)
    assert expected is not None
    assert reward == pytest.approx(expected * len(plan) / (len(plan) + refused))
    assert (about["metrics"]["violation"] is None) is terminated


def test_a_response_is_the_one_step(tmp_path: Path) -> None:
    """Records of a file with their gold, which begin anew at its end."""
    pairs = [pair for task in ("REL-A1", "REL-B1", "REL-C2", "REL-C3", "ReAlign") for pair in gold(task)[:2]]
    path = tmp_path / "records.jsonl"
    path.write_text("\n".join(json.dumps(record) for record, _ in pairs) + "\n\n", encoding="utf-8")
    environment = Environment([*from_file(path)], workers=0)
    for record, response in [*pairs, pairs[0]]:
        text, about = environment.reset()
        assert record["question"] in text
        assert about["task"] == record["task"]
        assert set(about) == {"id", "task"}
        said, reward, terminated, truncated, about = environment.step(response)
        assert (said, reward, terminated, truncated) == ("", pytest.approx(1.0, abs=1e-6), True, False)
        assert about["correct"] is True
    with pytest.raises(UsageError, match="no problems"):
        Environment([]).reset()


def test_a_response_without_a_score() -> None:
    broken = Problem("x", "REL-C2", "?", "?", {"smiles": "not one"})
    environment = Environment([broken], workers=0)
    environment.reset()
    with pytest.raises(UnscoredError):
        environment.step("<smiles>C</smiles>")
    lenient = Environment([broken], workers=0, on_error=-1.0)
    lenient.reset()
    assert lenient.step("<smiles>C</smiles>")[1] == -1.0


# TRL's


def call(environment: SeqBenchEnvironment, *actions: str) -> str:
    """Actions of a plan as calls of tools; the key's use is part of the door's."""
    said = ""
    for action in actions:
        verb, parameter = action.split(": ")
        if verb != "use_key":
            said = getattr(environment, verb.replace("unlock_and_open", "unlock"))(parameter)
    return said


def test_tools_walk_to_the_end() -> None:
    environment = SeqBenchEnvironment()
    for row in prompts(MAZES, 3):
        problem = problem_of({"task": "SeqBench", "question": row["question"], "answer": row["answer"]})
        assert row["prompt"] == [{"role": "user", "content": ""}]
        text = environment.reset(**row)
        assert problem.question in text
        assert environment.get_reward() == 0.0
        assert call(environment, *gold_plan(problem)[1:]) == "Done: they are rescued."
        assert environment.get_reward() == 1.0


def test_what_is_not_possible_is_said_and_costs() -> None:
    environment = SeqBenchEnvironment(sight=True)
    row = next(prompts(MAZES))
    assert "Possible: move_to: " in environment.reset(**row)
    plan = gold_plan(MAZES[0])
    door = next(action for action in plan if action.startswith("unlock"))
    for wrong in ("rescue: Alice", "pick_up_key: 1000", "move_to: nowhere", door):
        with pytest.raises(ValueError, match=r"Not possible: .* You are in room .* Possible: "):
            call(environment, wrong)
    call(environment, *plan[1:])
    assert environment.get_reward() == pytest.approx(len(plan) / (len(plan) + 4))
    environment.reset(**row)
    for _ in range(3 * len(plan)):
        with pytest.raises(ValueError, match="Not possible"):
            environment.move_to("nowhere")
    with pytest.raises(ValueError, match="it is over"):
        environment.move_to("nowhere")


def test_tools_are_all_that_is_public() -> None:
    """TRL shows a model every public function of the class, with what its docstring says of its arguments."""
    public = {
        name: function
        for name, function in inspect.getmembers(SeqBenchEnvironment, inspect.isfunction)
        if not name.startswith("_")
    }
    tools = public.keys() - {"reset", "get_reward"}
    assert tools == {"move_to", "pick_up_key", "unlock_door_to", "rescue"}
    for name in tools:
        text = inspect.getdoc(public[name]) or ""
        (argument,) = list(inspect.signature(public[name]).parameters)[1:]
        assert f"Args:\n    {argument}: " in text
        assert "Returns:\n    " in text
    with pytest.raises(UsageError, match="reset"):
        SeqBenchEnvironment().move_to("A1")
