"""SeqBench workloads: mazes, and responses as models write them."""

from __future__ import annotations

import ast
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from relfast.seqbench import generate

_PROSE = "I go through the rooms one by one and collect the keys on the way, then I open the doors. "


def mazes(n: int, rows: int, cols: int, length: int | None, doors: int) -> list[dict[str, Any]]:
    """Instances in the dataset's schema, noise 0.4."""
    return list(generate(n, seed=2026, rows=rows, cols=cols, L=length, B=doors, N=0.4, ordered=True))


def responses(row: dict[str, Any], n: int, seed: int) -> Iterator[str]:
    """Right, slightly wrong and hopeless plans, as strings and as the published prompt's tuples."""
    rng = random.Random(seed)
    gold: list[str] = ast.literal_eval(row["completion"])
    for number in range(n):
        plan = list(gold)
        kind = rng.random()
        if kind < 0.5:
            at = rng.randrange(1, len(plan))
            plan[at:] = [*plan[at + 1 :], plan[at]] if kind < 0.3 else plan[at : at + 3]
        elif kind < 0.6:
            yield f"{_PROSE * 3}There is no way to {gold[-1]}."
            continue
        pairs = [tuple(action.split(": ")) for action in plan]
        yield f"{_PROSE * rng.randrange(3)}\n```\n{pairs if number % 2 else plan}\n```"


def write_seqbench_dump(path: Path, n_responses: int, n_instances: int) -> int:
    """The dataset's own rows with a ``response``, ``structural_details`` in full; returns bytes.

    100,000 responses over 500 instances of 10 × 10 rooms make 2.4 GB. Responses to one instance do not stand
    together: samples of a run come round by round.
    """
    instances = mazes(n_instances, 10, 10, None, 3)
    rounds = -(-n_responses // n_instances)
    texts = [list(responses(row, rounds, seed)) for seed, row in enumerate(instances)]
    heads = [json.dumps(row)[:-1] for row in instances]
    with path.open("w") as file:
        for number in range(n_responses):
            turn, instance = divmod(number, n_instances)
            file.write(f'{heads[instance]}, "response": {json.dumps(texts[instance][turn])}}}\n')
    return path.stat().st_size
