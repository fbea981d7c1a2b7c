"""Random mazes and plans, rings and doors without keys among them, scored as another reading of the rules has it."""

from __future__ import annotations

import random
from collections import Counter, deque
from typing import Any

import pytest
import seqbench_checker as checker
from both_ways import Ways
from seeds import fresh, rounds

import relfast
from relfast.engine.job import Job
from relfast.errors import InputError
from relfast.seqbench import Maze, generate, shortest_plan
from relfast.tasks import AllOptions
from relfast.tasks.seqbench import score
from relfast.tasks.seqbench.maze import validate
from relfast.tasks.seqbench.score import VIOLATIONS
from relfast.tasks.seqbench.walk import Walk

VERBS = ("start", "move_to", "pick_up_key", "use_key", "unlock_and_open_door_to", "rescue")


def context_of(rng: random.Random) -> str:
    """A few rooms, some joined twice over; keys that open several doors, or none, or lie nowhere."""
    rooms, keys = [f"R{n}" for n in range(rng.randint(2, 8))], ["1", "2", "3"]
    pairs = {(rng.choice(rooms[:n]), rooms[n]) for n in range(1, len(rooms))}
    pairs |= {
        (one, other) for one, other in zip(rng.choices(rooms, k=3), rooms[1:], strict=False) if one < other
    }
    facts = []
    for one, other in sorted(pairs):
        locked = rng.random() < 0.4
        facts.append(
            f"Room {one} and {other} are connected by {'a closed and locked' if locked else 'an open'} door."
        )
        if locked and rng.random() < 0.9:
            facts.append(f"The locked door between {one} and {other} requires key {rng.choice(keys)}.")
    facts += [f"Key {key} is in room {rng.choice(rooms)}." for key in keys[: rng.randint(1, 3)]]
    rng.shuffle(facts)
    return " ".join(
        [*facts, f"Bob is in room {rng.choice(rooms)}.", f"Alice is in room {rng.choice(rooms)}."]
    )


def plan_of(world: checker.World, gold: list[str], rng: random.Random) -> list[str]:
    """Gold changed in places, or mostly legal steps at random."""
    everything = [f"{verb}: {name}" for verb in VERBS for name in (*world.graph, *world.keys, world.target, "X")]  # fmt: skip
    everything += ["jump: X", "X", "rescue:"]
    plan = list(gold) if rng.random() < 0.6 else [gold[0]]
    for _ in range(rng.randrange(3) if len(plan) > 1 else rng.randrange(20)):
        if len(plan) > 1 and rng.random() < 0.3:
            del plan[rng.randrange(len(plan))]
            continue
        state, legal = state_after(world, plan)
        choices = [action for action, _ in checker.steps(world, state)] if legal == len(plan) else everything
        at = len(plan) if rng.random() < 0.7 else rng.randrange(len(plan) + 1)
        plan.insert(at, rng.choice(choices if choices and rng.random() < 0.9 else everything))
    # a list without one action is no plan
    return plan if any(action.startswith(VERBS) and action[-1] != ":" for action in plan) else [gold[-1]]


def state_after(world: checker.World, plan: list[str]) -> tuple[checker.State, int]:
    """Where the legal actions of a plan lead, and how many there are."""
    legal = checker.run(world, plan)
    state: checker.State = (world.start, frozenset(), frozenset(), None)
    for action in plan[1 : len(plan) if legal is None else legal]:
        state = dict(checker.steps(world, state)).get(action, state)
    return state, len(plan) if legal is None else legal


def way_on(world: checker.World, state: checker.State) -> int:
    """Actions from a state to the rescue, 0 where there is no way."""
    depth, queue = {state: 1}, deque([state])
    while queue:
        at = queue.popleft()
        if at[0] == world.goal:
            return depth[at]
        for _, behind in checker.steps(world, at):
            if behind not in depth:
                depth[behind] = depth[at] + 1
                queue.append(behind)
    return 0


def violation(world: checker.World, plan: list[str], index: int | None) -> str | None:
    """What is wrong with the action at an index, in the words of the rules."""
    if index is None:
        return None
    if index == len(plan):
        return "no_rescue"
    if index and plan[index - 1] == f"rescue: {world.target}":
        return "after_rescue"
    verb, _, name = plan[index].partition(": ")
    room, opened = state_after(world, plan)[0][:2]
    door = world.graph[room].get(name)
    is_locked = door is not None and door["locked"] and frozenset((room, name)) not in opened
    if verb not in VERBS or not name:
        return "bad_action"
    if index == 0 or verb == "start":
        return "wrong_start"
    return {
        "move_to": "door_locked" if is_locked else "not_adjacent",
        "pick_up_key": "key_not_here",
        "use_key": "key_not_held",
        "unlock_and_open_door_to": "wrong_key" if is_locked else "no_such_door",
        "rescue": "wrong_rescue",
    }[verb]


@pytest.mark.fuzz
def test_random_plans_in_random_mazes(monkeypatch: pytest.MonkeyPatch) -> None:
    """And as lines, of which kernels judge most: in blocks, forgotten golds and more records than are held among them."""
    rng, seen, lines = fresh(61), Counter[str](), list[dict[str, Any]]()
    for _ in range(rounds(4_000)):
        context = context_of(rng)
        world = checker.from_context(context, "Bob", "Alice")
        golds = checker.all_shortest_plans(world, 3)
        found = shortest_plan(Maze.from_row({"context": context}))
        if not golds:
            assert found is None
            seen["no way"] += 1
            continue
        assert found is not None
        assert checker.run(world, found) is None
        best = len(golds[0])
        assert len(found) == best
        plans = [*golds, *(plan_of(world, golds[0], rng) for _ in range(8))]
        noise = (None, 0.4, 1)[len(lines) % 3]
        about = {} if noise is None else {"complexity_parameters": {"noise_ratio_N": noise}}
        record = {"task": "SeqBench", "question": context, "answer": {"actions": golds[0]}, **about}
        rows = [{**record, "response": str(plan)} for plan in plans]
        lines += [*rows, {**record, "response": [*map(str, plans), ""]}]
        for plan, row in zip(plans, relfast.score(rows, policy="strict", workers=0), strict=True):
            index, metrics = checker.run(world, plan), row.metrics
            assert metrics["violation"] == violation(world, plan, index), (context, plan)
            assert (metrics["violation_index"], metrics["n_actions"]) == (index, len(plan)), (context, plan)
            assert metrics["valid"] is (index is None)
            assert metrics["optimal"] is row.correct is (index is None and len(plan) == best)
            assert metrics["exact_match"] is (plan == golds[0])
            assert metrics["legal_ratio"] == (1.0 if index is None else min(index / best, 1.0))
            common = sum((Counter(plan) & Counter(golds[0])).values())
            same = [one == other for one, other in zip(plan, golds[0], strict=False)]
            assert metrics["progress_ratio"] == [*same, False].index(False) / best
            assert (metrics["precision"], metrics["recall"]) == (common / len(plan), common / best)
            assert metrics["f1"] == pytest.approx(2 * common / (len(plan) + best))
            state, legal = state_after(world, plan)
            rest = way_on(world, state)
            if index is None or metrics["violation"] == "after_rescue":
                expected = best / len(plan)
            elif index == 0 or rest == 0 or rest >= best - 1:
                expected = 0.0
            else:
                expected = (
                    0.5 * ((best - 1 - rest) / (best - 1)) ** 2 * min(1, best / max(len(plan), legal + rest))
                )
            assert metrics["walk_score"] == pytest.approx(expected), (context, plan)
            seen[str(metrics["violation"])] += 1
    kinds = ("no way", "None", *(kind for kind in VIOLATIONS if kind != "unparsable"))
    assert min(seen[kind] for kind in kinds) > 3, seen
    lines += [{**lines[-1], "question": text} for text in ("", "Hello.")]  # no mazes
    jobs: list[dict[str, Any]] = [{}, {"options": AllOptions(policy="strict"), "details": True}]
    for more in (*jobs, {"rewards": {"SeqBench": "logical_depth"}}):
        found = Ways.of_job(Job(**more)).same(lines, size=100)
        assert found.n_exact < 0.2 * len(lines)
    monkeypatch.setattr(score.PROBLEMS, "limit", 1)
    Ways.of_job(Job(details=True)).same(lines[-300:])


# mazes walked action by action, where legal is what the judge says of the whole plan


@pytest.mark.parametrize("seed", range(6))
def test_what_is_legal_is_what_another_checker_says(seed: int) -> None:
    """Every action the maze has names for, at every step of a random walk."""
    ((row,), luck) = generate(1, seed, rows=5, cols=5, B=2, N=1.0), random.Random(seed)
    walk = Walk(checker.answer_of(row), row["context"])
    world = checker.from_context(row["context"], "Bob", "Alice")
    names = [*walk.maze.rooms, *walk.maze.keys, walk.maze.target, "nobody"]
    every = [f"{verb}: {name}" for verb in (*VERBS, "fly_to") for name in names]
    for _ in range(25):
        legal = walk.legal()
        # the checker gives the place of the first illegal action: behind the last one where more may follow
        ends = (None, len(walk.plan) + 1)
        assert set(legal) == {
            action for action in every if not walk.done and checker.run(world, [*walk.plan, action]) in ends
        }
        refused, plan = walk.refused, list(walk.plan)
        action = luck.choice(every)
        violation = walk.step(action)
        if violation is not None:
            assert (walk.refused, walk.plan, action in legal) == (refused + 1, plan, False)
            assert violation == validate(walk.maze, [*plan, action]).violation
            assert len(walk.why(violation)) > 10
        if walk.legal():
            walk.step(luck.choice(walk.legal()))


def test_no_maze_no_walk() -> None:
    for answer, facts, field in (
        ({}, None, "context"),
        ({}, "Hello.", "context"),
        ({"actions": ["start: A1"]}, "no facts", "context"),
        ({"structural_details": "x"}, None, "JSON"),
        ({}, "Room A1 and A2 are connected by an open door. Bob is in room A1.", "rescue"),
    ):
        with pytest.raises(InputError, match=field):
            Walk(answer, facts)
        with pytest.raises(InputError, match=field):
            Maze.from_row({**answer, "context": facts})
