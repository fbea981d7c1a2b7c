"""What is known of a benchmark stands with its task: the house around the tasks names none of it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from corpora import ROOT
from relfast_kernels.compiled import native

from relfast.json_text import decode_object
from relfast.stats.samples import FURTHER, TASK_NUMBERS
from relfast.tasks import EXACT_FIELDS, TASKS, infer_task

NAMELESS = ("engine", "stats", "formats", "serve", "inference", "support", "validate.py", "json_text.py")
"""Parts that name no benchmark; two have a dialect of their own, which the table of dialects lists."""

FOLDERS = "|".join({task.module.split(".")[2] for task in TASKS.values()})
NAMES = re.compile(rf"\b(REL-[A-C]|SeqBench|ReAlign|relfast\.(chem|tasks\.({FOLDERS}))\b)", re.IGNORECASE)
EXAMPLE = re.compile(r'"task": "REL-C1"|^ *summary=')
"""What an API's description shows."""


def named(source: bytes) -> list[str]:
    """Lines of code that name a benchmark; docstrings and comments are none, nor are examples."""
    lines = native.code_of(source).decode().splitlines()
    return [line for line in lines if NAMES.search(line) and not EXAMPLE.search(line)]


def test_no_benchmark_is_named() -> None:
    parts = [ROOT / "relfast" / name for name in NAMELESS]
    paths = [path for part in parts for path in (part.rglob("*.py") if part.is_dir() else [part])]
    assert len(paths) > 30
    assert [path for path in paths if named(path.read_bytes())] == [ROOT / "relfast/formats/table.py"]
    code = b'"""REL-A."""\nif name == "REL-C1":\n    import relfast.chem.matching\nraise E("SeqBench")\n'
    assert len(named(code)) == 3


def test_what_tasks_say_of_themselves_fits() -> None:
    assert len(TASKS) == 13
    numbers = [task.text_kernel.number for task in TASKS.values() if task.text_kernel]
    assert len({*numbers}) == len(numbers) == 9
    for task in TASKS.values():
        gold, breakdown = task.gold, task.breakdown
        assert (gold.domain is None) == (gold.check is None)
        for reward in (task.default_reward("reference"), task.default_reward("strict")):
            assert reward in task.reward_metrics
            assert reward == "correct" or task.metric_by_name[reward].higher_is_better
        if breakdown is not None:
            assert {*breakdown.by, *breakdown.sums} <= set(task.metrics)


INFERRED = [
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
    ("label", None),
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


@pytest.mark.parametrize("name", EXACT_FIELDS)
def test_exact_fields_keep_their_digits(name: str) -> None:
    for value in (2**70 + 1, [1, 2**70 + 1]):
        line = json.dumps({"answer": {name: value}}).encode()
        assert decode_object(line, EXACT_FIELDS)["answer"][name] == value
        assert decode_object(line)["answer"][name] != value
