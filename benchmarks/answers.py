"""`relfast.same_answer` beside math-verify on the answers of tests/data: the table of docs/answers.md.

``PYTHONPATH=tests python -m benchmarks.answers`` takes minutes, most of them math-verify's. Both get the same pairs, one
after the other; math-verify parses both sides and verifies, with its own time limits of 5 seconds. Hand-made cases and
golds that are respelled or changed favour neither by their making, but ours was mended where it failed on them.
"""

from __future__ import annotations

import gc
import logging
import random
import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

import corpora
from answers.respelling import CHANGED, RESPELLED, golds

from relfast.answers import same_answer

Grader = Callable[[str, str, str | None], bool]
SAMPLE = 600


class Pair(NamedTuple):
    gold: str
    answer: str
    right: bool
    question: str | None = None


def math_verify(gold: str, answer: str, question: str | None = None) -> bool:
    """math-verify's verdict, which knows no question; what it cannot parse in time is wrong."""
    from math_verify import parse, verify

    try:
        return bool(verify(parse(f"${gold}$"), parse(f"${answer}$")))
    except Exception:  # its own timeouts are errors of several kinds
        return False


def sets() -> dict[str, list[Pair]]:
    """The pairs of each line of the table."""
    rng = random.Random(5)
    rows = [row for row in corpora.answer_pairs() if row.get("right") in (True, False)]
    made = {}
    for right, rules in ((True, RESPELLED), (False, CHANGED)):
        every = [(gold, rule(gold, random.Random(gold))) for rule in rules.values() for gold in golds()]
        some = [(gold, answer) for gold, answer in every if answer is not None and answer != gold]
        made[right] = [Pair(gold, answer, right) for gold, answer in rng.sample(some, SAMPLE)]
    cases = [Pair(*case) for case in corpora.answer_cases()]
    return {
        "real pairs, decided by reading": [
            Pair(row["gold"], row["answer"], row["right"], row["question"]) for row in rows
        ],
        "hand-made, must be paid": [pair for pair in cases if pair.right],
        "hand-made, must not be paid": [pair for pair in cases if not pair.right],
        "golds respelled": made[True],
        "golds changed": made[False],
    }


def main() -> None:
    logging.disable(logging.ERROR)
    gc.disable()  # what one leaves behind would be collected in the other's time
    graders: dict[str, Grader] = {"same_answer": same_answer, "math-verify": math_verify}
    seconds: dict[str, list[float]] = {name: [] for name in graders}
    print(
        f"| pairs | n | {' | '.join(f'{name}: wrongly paid, lost' for name in graders)} |\n|---|---:|---:|---:|"
    )
    for title, pairs in sets().items():
        cells = []
        for name, grade in graders.items():
            paid = lost = 0
            for gold, answer, right, question in pairs:
                start = time.process_time()
                verdict = grade(gold, answer, question)
                seconds[name].append(time.process_time() - start)
                paid += verdict and not right
                lost += right and not verdict
            cells.append(f"{paid}, {lost}")
        print(f"| {title} | {len(pairs)} | {' | '.join(cells)} |", flush=True)
    for title, pick in (("median", statistics.median), ("longest", max)):
        print(
            f"| µs a pair, {title} | | {' | '.join(f'{1e6 * pick(some):,.0f}' for some in seconds.values())} |"
        )


if __name__ == "__main__":
    main()
