"""REL-A1…A4 records: the rule picks gold alone, and shallow solvers do not."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from generated import Rec, check_run, generate, outcome, published

from relfast.tasks.rel_a.generate import question
from relfast.tasks.rel_a.rules import fitting_choices

TASKS = ("REL-A1", "REL-A2", "REL-A3", "REL-A4")


# The rules again, as naively as they can be written: every hypothesis is tried.


def naive_fits(task: str, panels: list[Any], choice: Any, maxval: int = 1000) -> bool:
    n = len(choice)
    if task == "REL-A2":
        rows = [[panel[row][c] for panel in [*panels, choice] for c in range(n)] for row in range(n)]
        return any(
            all(shown == [min(max(shown[0] + t * step, 0), maxval) for t in range(9 * n)] for shown in rows)
            for step in (-2, -1, 1, 2)
        )
    if any(panel != choice for panel in panels):
        return False
    if task == "REL-A3":
        right = all(choice[r + 1] == [choice[r][-1], *choice[r][:-1]] for r in range(n - 1))
        left = all(choice[r + 1] == [*choice[r][1:], choice[r][0]] for r in range(n - 1))
        return len(set(choice[0])) == n and (right or left)
    if task == "REL-A4":
        return all(row[0] + row[1] == row[2] for row in choice)
    return True


def naive_fitting(record: Rec, maxval: int = 1000) -> list[int]:
    panels, choices = record["metadata"]["panels"], record["metadata"]["choices"]
    return [i for i, choice in enumerate(choices) if naive_fits(record["task"], panels, choice, maxval)]


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("distractors", ["random", "hard"])
def test_a_thousand_records(task: str, distractors: str) -> None:
    records = check_run(generate(task, 1000, 42, distractors=distractors), 1000)
    for record in records:
        metadata, target = record["metadata"], record["answer"]["target"]
        assert naive_fitting(record) == [target]
        assert len(metadata["panels"]) == len(metadata["choices"]) == 8
        values = [v for m in (*metadata["panels"], *metadata["choices"]) for row in m for v in row]
        assert len(values) == 16 * 9
        assert all(isinstance(v, float) and 0 <= v <= 1000 for v in values)
        assert (metadata.get("distractors") == "hard") == (distractors == "hard")
        wrong = outcome(record, f"Answer {(target + 3) % 8 + 1}", "reference")
        assert not wrong.correct
    # targets are uniform: chi-squared with 7 degrees of freedom is above 29.9 in one of 10,000 runs
    counts = Counter(record["answer"]["target"] for record in records)
    assert sum((counts[t] - 125) ** 2 / 125 for t in range(8)) < 29.9


@pytest.mark.parametrize("task", TASKS)
def test_hard_distractors_break_one_element_each(task: str) -> None:
    for record in generate(task, 200, 3, distractors="hard"):
        choices = record["metadata"]["choices"]
        gold = choices[record["answer"]["target"]]
        places = set()
        for choice in choices:
            different = [(r, c) for r, row in enumerate(gold) for c, v in enumerate(row) if choice[r][c] != v]
            assert (not different) == (choice == gold)
            if different:
                places.add(tuple(different))
        # all seven differ from gold in the same cells: one cell, one row, or a member wherever it stands
        (cells,) = places
        broken = record["metadata"]["broken"]
        assert len({r for r, _ in cells}) == (len(gold) if broken == "member of the rows" else 1)
        if broken not in ("start of a row", "member of the rows"):
            assert len(cells) == 1
        assert len({str(choice) for choice in choices}) == 8


@pytest.mark.parametrize("task", TASKS)
def test_published_records(task: str) -> None:
    for record in published(task):
        metadata = record["metadata"]
        assert fitting_choices(task, metadata["panels"], metadata["choices"]) == [record["answer"]["target"]]
        assert naive_fitting(record) == [record["answer"]["target"]]
        assert question(metadata["panels"], metadata["choices"]) == record["question"]


@pytest.mark.parametrize("task", TASKS)
def test_the_judge_agrees_with_the_naive_one_on_tampered_puzzles(task: str) -> None:
    numbers = random.Random(1)
    n_fit = 0
    for record in generate(task, 150, 4, distractors="hard"):
        metadata = record["metadata"]
        panels = [[list(row) for row in panel] for panel in metadata["panels"]]
        if numbers.random() < 0.5:
            panel, r, c = numbers.randrange(8), numbers.randrange(3), numbers.randrange(3)
            panels[panel][r][c] = numbers.choice([0.0, 1000.0, panels[panel][r][c] + 1])
        record["metadata"] = {"panels": panels, "choices": metadata["choices"]}
        found = fitting_choices(task, panels, metadata["choices"])
        assert found == naive_fitting(record)
        n_fit += bool(found)
    assert 40 < n_fit < 130


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("parameters", [{"gridsize": 5}, {"maxval": 60}, {"gridsize": 6, "maxval": 90}])
@pytest.mark.parametrize("distractors", ["random", "hard"])
def test_other_sizes(task: str, parameters: dict[str, int], distractors: str) -> None:
    if task == "REL-A2" and distractors == "hard" and "maxval" in parameters:
        # 27 steps of 2 leave the range before it has room for eight values: said so, not looped over
        parameters = {**parameters, "maxval": 400}
    records = check_run(generate(task, 30, 6, distractors=distractors, **parameters), 30)
    size, maxval = parameters.get("gridsize", 3), parameters.get("maxval", 1000)
    for record in records:
        assert naive_fitting(record, maxval) == [record["answer"]["target"]]
        assert {len(row) for panel in record["metadata"]["choices"] for row in panel} == {size}
        assert max(v for m in record["metadata"]["choices"] for row in m for v in row) <= maxval
