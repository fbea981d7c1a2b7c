"""What is known of a benchmark stands with its task: the house around the tasks names none of it."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from corpora import ROOT

from relfast.json_text import decode_object
from relfast.stats.samples import FURTHER, TASK_NUMBERS
from relfast.stats.summary import Tally, summarize
from relfast.tasks import EXACT_FIELDS, TASKS, infer_task
from relfast.tasks.base import resolve

PACKAGE = ROOT / "relfast"

NAMELESS = ("engine", "stats", "validate", "json_text", "formats", "serve", "inference", "outputs")
"""Parts that name no benchmark."""

DIALECTS_OF_BENCHMARKS = {"formats/table.py"}
"""Two benchmarks have a dialect of their own, which the table of dialects lists."""

FACTS = {
    *TASKS,
    *(metric for task in TASKS.values() for metric in task.metric_by_name),
    *(key for task in TASKS.values() for keys in task.gold.keys for key in keys),
    *EXACT_FIELDS,
    *(task.gold.domain for task in TASKS.values() if task.gold.domain is not None),
}
OTHER_MEANINGS = {
    "reason": ("engine", "formats"),  # every task's under strict
    "completion": ("formats",),  # a response, in OpenAI's words
    "label": ("stats", "formats"),  # a kind of metric; the gold, in other tools' words
    "target": ("formats",),  # the gold, in Inspect's words
    "solution": ("formats",),  # the gold, in other tools' words
}
"""Words that are no fact of a benchmark in some parts."""

NAMES = re.compile(r"\b(REL-[A-C]|SeqBench|ReAlign)", re.IGNORECASE)
MODULES = re.compile(
    r"\brelfast\.(chem|tasks\.(" + "|".join({task.module.split(".")[2] for task in TASKS.values()}) + r"))\b"
)


def sources() -> Iterator[Path]:
    for path in sorted(PACKAGE.rglob("*.py")):
        relative = path.relative_to(PACKAGE)
        if relative.parts[0].removesuffix(".py") in NAMELESS and str(relative) not in DIALECTS_OF_BENCHMARKS:
            yield path


def words(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Texts and imported names of the code, with their lines; docstrings are no code, nor are the summaries,
    descriptions and examples of an API."""
    shown: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            shown.add(id(node.value))
        elif isinstance(node, ast.keyword) and node.arg in ("summary", "description", "examples"):
            shown |= {id(part) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in shown:
            yield node.lineno, node.value
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)


def facts_in(code: str, part: str) -> list[tuple[int, str]]:
    return sorted(
        (line, text)
        for line, text in words(ast.parse(code))
        if (text in FACTS and part not in OTHER_MEANINGS.get(text, ()))
        or NAMES.search(text)
        or MODULES.search(text)
    )


@pytest.mark.parametrize("path", list(sources()), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_benchmark_is_named(path: Path) -> None:
    part = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    assert not facts_in(path.read_text("utf-8"), part)


def test_a_name_would_be_found() -> None:
    code = 'x = row["target"]\nif name == "REL-C1": import relfast.chem.matching\nraise E("no SeqBench here")'
    assert [line for line, _ in facts_in(code, "engine")] == [1, 2, 2, 3]
    assert len(list(sources())) > 30


def test_what_a_task_points_to_is_there() -> None:
    for task in TASKS.values():
        task.import_modules()
        gold, kernel, breakdown = task.gold, task.text_kernel, task.breakdown
        functions = [
            gold.check,
            gold.check_metadata,
            kernel and kernel.metrics,
            breakdown and breakdown.aggregate,
            *(
                [task.display.measure, task.display.mistake, task.display.exhibit, task.display.section]
                if task.display
                else []
            ),
            task.loads,
            task.in_blocks,
        ]
        for name in filter(None, functions):
            assert callable(resolve(name)), name
        assert (gold.domain is None) == (gold.check is None)
        for reward in (task.default_reward("reference"), task.default_reward("strict")):
            assert reward in task.reward_metrics
            assert reward == "correct" or task.metric_by_name[reward].higher_is_better
        if breakdown is not None:
            assert {*breakdown.by, *breakdown.sums} <= set(task.metrics)


INFERRED = [
    ({"label": "yes", "taxa": []}, "REL-B1"),
    ({"label": "Yes"}, "REL-C1"),
    ({"label": "Yes", "target": 1}, "REL-C1"),
    ({"label": "Yes", "smiles": "C", "missing_smiles": ["C"]}, "REL-C1"),
    ({"smiles": "C", "missing_smiles": ["C"]}, "REL-C2"),
    ({"missing_smiles": ["C"], "target": 1}, "REL-C3"),
    ({"target": 1, "actions": []}, "REL-A1"),
    ({"actions": []}, "SeqBench"),
    ({"completion": "", "solution": ""}, "SeqBench"),
    ({"structural_details": ""}, "SeqBench"),
    ({"solution": ""}, "ReAlign"),
    ({"benchmark_steps": []}, "ReAlign"),
    ({"label": None, "taxa": None, "smiles": None, "target": 2}, "REL-A1"),
    ({"label": None, "taxa": None}, "REL-B1"),
    ({"taxa": [1]}, None),
    ({"foo": 1}, None),
    ("label", None),
    (None, None),
]


@pytest.mark.parametrize(("answer", "name"), INFERRED)
def test_inference(answer: Any, name: str | None) -> None:
    task = infer_task(answer)
    assert (None if task is None else task.name) == name


def test_numbers_of_samples_fit_their_byte() -> None:
    assert set(TASK_NUMBERS) == {*TASKS, "(unknown)"}
    assert len(set(TASK_NUMBERS.values())) == len(TASK_NUMBERS)
    # one bit marks further samples of a line, another one right ones where samples are counted
    assert max(TASK_NUMBERS.values()) < FURTHER // 2


def test_summaries_keep_the_order_of_the_table() -> None:
    tally = Tally()
    for name in ("(unknown)", *reversed(TASKS)):
        tally.tasks[name] = type(next(iter(_one().tasks.values())))()
    assert list(summarize(tally, "").tasks) == [*TASKS, "(unknown)"]


def _one() -> Tally:
    from relfast.records import unscored

    return Tally.of([unscored(0, None, None, 0, "crashed", "X", "x")])


@pytest.mark.parametrize("name", EXACT_FIELDS)
def test_exact_fields_keep_their_digits(name: str) -> None:
    for value in (2**70 + 1, [1, 2**70 + 1]):
        line = json.dumps({"answer": {name: value}}).encode()
        assert decode_object(line, EXACT_FIELDS)["answer"][name] == value
        assert decode_object(line)["answer"][name] != value
