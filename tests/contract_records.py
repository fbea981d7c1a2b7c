"""One record with its right answer for every task, what the tests over all tasks run on; and what is asked of generators."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from typing import Any

from corpora import b1_names, rel_records

from relfast.records import Outcome, Record
from relfast.tasks import AllOptions, get_task
from relfast.validate import check_record

PLACES = {
    **{f"REL-A{n}": (0, 1) for n in range(1, 5)},
    "REL-B1": (0, 1, 4, 10, 59),
    "REL-C1": (0, 60),
    "REL-C2": (90, 123, 308, 352),
    "REL-C3": (142, 505, 2, 395, 521),
}
"""Of some published records in their file: of small and large ones, right and wrong."""


@cache
def published() -> dict[str, list[dict[str, Any]]]:
    """Some of REL's published records, by task; A5…A7 have the form of A1."""
    records = {task: [dict(rel_records(task)[at]) for at in places] for task, places in PLACES.items()}
    for record in records["REL-B1"]:
        # published gold is places, which only `strict` reads as the names that they are
        record["answer"] = {**record["answer"], "taxa": [int(name) for name in b1_names(record)]}
    for task in ("REL-A5", "REL-A6", "REL-A7"):
        records[task] = [{**record, "task": task} for record in records["REL-A1"]]
    return records


# a corridor of three rooms with one locked door, in SeqBench's wording
SEQBENCH: dict[str, Any] = {
    "id": "corridor",
    "task": "SeqBench",
    "question": (
        "Room A1 and B1 are connected by an open door. Room B1 and C1 are connected by a closed and locked door. "
        "The locked door between B1 and C1 requires key 7. Key 7 is in room A1. Bob is in room B1. Alice is in room C1."
    ),
    "answer": {
        "actions": [
            "start: B1", "move_to: A1", "pick_up_key: 7", "move_to: B1", "use_key: 7", "unlock_and_open_door_to: C1",
            "move_to: C1", "rescue: Alice",
        ]
    },
}  # fmt: skip

REALIGN: dict[str, Any] = {
    "id": "sum",
    "task": "ReAlign",
    "question": "Ann has 2 apples and buys 3 more. How many has she?",
    "answer": {
        "benchmark_solution": "Ann starts with 2 apples.\nShe buys 3 more.\nShe has 2 + 3 = \\boxed{5} apples."
    },
}


def record_of(task: str) -> dict[str, Any]:
    """A record of the task, without a response."""
    return gold(task)[0][0]


def gold(task: str) -> list[tuple[dict[str, Any], str]]:
    """Records of the task with the plain right response to each."""
    if task == "SeqBench":
        return [(SEQBENCH, json.dumps(SEQBENCH["answer"]["actions"]))]
    if task == "ReAlign":
        return [(REALIGN, REALIGN["answer"]["benchmark_solution"])]
    return [(record, plain(record["answer"])) for record in published()[task]]


def plain(answer: dict[str, Any]) -> str:
    """The gold of a REL record as a model might word it."""
    if "target" in answer:
        return f"Answer {answer['target'] + 1}"
    if "taxa" in answer:
        taxa = ", ".join(f"taxon_{taxon}" for taxon in answer["taxa"])
        return f"Yes: {taxa}" if answer["label"] == "yes" else "No"
    if "label" in answer:
        return f"<{answer['label']}>"
    smiles = [answer["smiles"]] if "smiles" in answer else answer["missing_smiles"]
    return "\n".join(f"<smiles>{one}</smiles>" for one in smiles)


# what the tests of all generators ask of records, in code of their own


Rec = dict[str, Any]


def outcome(record: Rec, response: str, policy: str) -> Outcome:
    task, options = get_task(record["task"]), AllOptions(policy=policy)  # type: ignore[arg-type]
    asked = Record(0, record["id"], task.name, record["answer"], response, record["question"])
    (judged,) = task.score([asked], options)
    return judged


def check_run(records: Iterable[Rec], n: int) -> list[Rec]:
    """Gold is right under both policies, ids are unique, the published form holds; the records as a list."""
    found = list(records)
    assert len(found) == n
    assert len({record["id"] for record in found}) == n
    # questions of one run are all different, too
    assert len({record["question"] for record in found}) == n
    for record in found:
        assert check_record(record) == []
        for policy in ("reference", "strict"):
            judged = outcome(record, plain(record["answer"]), policy)
            assert judged.error is None
            assert judged.correct, (policy, record["id"], judged)
    return found


def generate(task: str, n: int, seed: int, **parameters: Any) -> list[Rec]:
    return list(get_task(task).generator_module.generate(task, n, seed, **parameters))
