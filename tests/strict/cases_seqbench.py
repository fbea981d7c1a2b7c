"""Cases of the table ``seqbench``: generated mazes and the published prompt's worked examples, with their plans
written in many forms."""

from __future__ import annotations

import ast
import json
import random
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import seqbench_checker as checker
from strict.corpus import Case

from relfast.seqbench import Maze, generate, shortest_plan
from relfast.tasks.seqbench.blind import STRATEGIES

EXAMPLES: Final = Path(__file__).resolve().parent.parent / "data" / "seqbench" / "few_shot_examples.json"

Plan = Sequence[str]


def _pairs(plan: Plan) -> list[tuple[str, str]]:
    return [(name, parameter) for name, _, parameter in (action.partition(": ") for action in plan)]


FORMS: Final[dict[str, Callable[[Plan], str]]] = {
    "list": lambda plan: str(list(plan)),
    "json": lambda plan: json.dumps(list(plan)),
    "pairs": lambda plan: str(_pairs(plan)),
    "numbered": lambda plan: "\n".join(f"{n}. {action}" for n, action in enumerate(plan, 1)),
    "bullets": lambda plan: "\n".join(f"- {action}" for action in plan),
    "dicts": lambda plan: json.dumps([{"action": name, "target": to} for name, to in _pairs(plan)]),
    "calls": lambda plan: "\n".join(f"{name}({to})" for name, to in _pairs(plan)),
}
"""How a plan is written down: right ones under their name, wrong ones as ``not NAME``."""


def cases() -> list[Case]:
    """Mazes of several sizes, in the dataset's fields and as question and actions alone."""
    found = [_example(example, all_examples) for all_examples in [_examples()] for example in all_examples]
    for number, (rows, cols, doors, noise) in enumerate(
        ((4, 4, 1, 1.0), (5, 5, 1, 0.4), (5, 4, 2, 1.0), (6, 6, 2, 0.2), (7, 7, 2, 0.6), (8, 8, 3, 1.0))
    ):
        for row in generate(3, 1200 + number, rows=rows, cols=cols, B=doors, N=noise):
            found.append(_generated(row, whole=number % 2 == 0))
    return found + [_passed_twice(length) for length in (1, 2, 4, 7)]


def _examples() -> list[dict[str, Any]]:
    examples: list[dict[str, Any]] = json.loads(EXAMPLES.read_text("utf-8"))["examples"]
    return examples


def _example(example: dict[str, Any], examples: Sequence[dict[str, Any]]) -> Case:
    question = " ".join(example["facts"])
    other = next(one for one in examples if one["completion"] != example["completion"])
    record = {"task": "SeqBench", "question": question, "answer": {"actions": example["completion"]}}
    return _case(
        record, checker.from_context(question, "Bob", "Alice"), example["completion"], other["completion"]
    )


def _generated(row: dict[str, Any], whole: bool) -> Case:
    gold: list[str] = ast.literal_eval(row["completion"])
    answer = checker.answer_of(row) if whole else {"actions": gold}
    record = {"task": "SeqBench", "question": row["context"], "answer": answer}
    people = row["instance_metadata"]["agent_name"], row["instance_metadata"]["target_name"]
    world = checker.from_details(row) if whole else checker.from_context(row["context"], *people)
    return _case(record, world, gold, _examples()[0]["completion"])


def _passed_twice(length: int) -> Case:
    """A key that lies on the way to another one and on the way back: two plans are the shortest."""
    rooms = [f"C{n}" for n in range(1, length + 2)]
    facts = [f"Room {one} and {other} are connected by an open door." for one, other in pairwise(rooms)]
    facts += [
        f"Room A1 and {rooms[0]} are connected by an open door.",
        "Room A1 and B1 are connected by a closed and locked door.",
        "Room B1 and B2 are connected by a closed and locked door.",
        "The locked door between A1 and B1 requires key 5.",
        "The locked door between B1 and B2 requires key 8.",
        f"Key 5 is in room {rooms[-1]}.",
        f"Key 8 is in room {rooms[0]}.",
        "Bob is in room A1.",
        "Alice is in room B2.",
    ]
    context = " ".join(facts)
    gold = shortest_plan(Maze.from_row({"context": context}))
    assert gold is not None
    record = {"task": "SeqBench", "question": context, "answer": {"actions": gold}}
    return _case(record, checker.from_context(context, "Bob", "Alice"), gold, _examples()[0]["completion"])


def _case(record: dict[str, Any], world: checker.World, gold: list[str], shot: list[str]) -> Case:
    wrong = _broken(world, gold)
    words = {name: form(gold) for name, form in FORMS.items()}
    words |= {f"not {name}": form(wrong) for name, form in FORMS.items()}
    moves = [f"move_to: {room}" for room in _back_and_forth(world, gold)]
    words |= {
        "body": words["list"][1:-1],
        "start": gold[0],
        "startroom": gold[0].partition(": ")[2],
        "goal": world.goal,
        "target": world.target,
        "last": gold[-1],
        "first": str(gold[:4]),
        "keys": str([action for action in gold if "key" in action] or gold[1:3]),
        "junk": ", ".join(["'move_to: Z99'"] * 1000),
        "legal junk": ", ".join(f"'{move}'" for move in moves),
        "cycles": str([gold[0], *moves, *moves, *moves, *gold[1:]]),
        "only cycles": str([gold[0], *moves, *moves]),
        "teleport": str([gold[0], f"move_to: {world.goal}", gold[-1]]),
        "rescue first": str([gold[0], gold[-1], *gold[1:]]),
        "no start": str(gold[1:]),
        "reversed": str([gold[0], *gold[-2:0:-1], gold[-1]]),
        "shot": str(shot),
        "numbered junk": "\n".join(f"{n}. wait" for n in range(len(gold) + 1, len(gold) + 1000)),
        "quoted junk": ", ".join(["'wait'"] * 1000),
        **{f"blind: {name}": strategy(record, random.Random(4)) for name, strategy in STRATEGIES.items()},
    }
    tags = set()
    if any("key" in action for action in gold):
        tags.add("keys")
        words["unlock without key"] = str([a for a in gold if not a.startswith(("pick_up", "use_key"))])
        words["key unused"] = str([a for a in gold if not a.startswith("use_key")])
    if len(gold) > 20:
        tags.add("large")
    return Case(record, words, 0.0, frozenset(tags))


def _back_and_forth(world: checker.World, gold: Plan) -> list[str]:
    """A legal walk out of the start and back, as often as it takes to make a long plan."""
    for room in world.graph[world.start]:
        if not world.graph[world.start][room]["locked"]:
            return [room, world.start] * 10 * len(gold)
    return [world.start] * 20 * len(gold)


def _broken(world: checker.World, gold: Plan) -> list[str]:
    """A plan that goes wrong at once, and looks like one to the end."""
    far = next(
        room for room in sorted(world.graph) if room != world.start and room not in world.graph[world.start]
    )
    return [gold[0], f"move_to: {far}", *gold[1:]]
