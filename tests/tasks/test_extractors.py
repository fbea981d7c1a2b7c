"""What every task's extractor owes: total on any text, in time linear in its length."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from contract_records import record_of
from growth import assert_linear
from hypothesis import given, settings
from hypothesis import strategies as st
from nasty_texts import UNITS, nasty_text

from relfast.records import Record
from relfast.tasks import TASKS
from relfast.tasks.options import AllOptions
from relfast.tasks.realign.extract import parse_steps, read_final_answer, without_repeats
from relfast.tasks.realign.gate import working
from relfast.tasks.reasoning import MAX_STRICT_CHARS, strip_reasoning

POLICIES = {
    "reference": AllOptions(),
    "strict": AllOptions(policy="strict"),
    "stripped": AllOptions(strip_reasoning=True),
}

PIECES = st.sampled_from(
    [
        *(head + unit for head, unit in UNITS.values()), "yes", "no", "4", "\n", " ", "taxon_7", "C",
        "</smiles>", "]",
    ]
)  # fmt: skip
TEXT = st.lists(PIECES | st.text(max_size=8), max_size=30).map("".join)


def extract(task: str, response: Any, policy: str) -> Any:
    return TASKS[task].scorer.extract(record_with(task, response), POLICIES[policy])


DISTINCT_TASKS = sorted(set(TASKS) - {f"REL-A{n}" for n in range(2, 8)})
"""A task of each extractor: A2 to A7 are read as A1 is."""


def record_with(task: str, response: Any) -> Record:
    record = record_of(task)
    return Record(
        0, "x", task, record["answer"], response, record["question"], row={**record, "response": response}
    )


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("task", DISTINCT_TASKS)
@settings(max_examples=60, deadline=None)
@given(response=TEXT)
def test_any_text(task: str, policy: str, response: str) -> None:
    found = extract(task, response, policy)
    assert found is not None
    assert found.found in (True, False)
    if policy == "strict" and not found.found:
        assert found.reason


def read_solution(text: str) -> None:
    """As ReAlign's judge does, with the working and the repeats in it."""
    steps = parse_steps(text)
    read_final_answer(text, reference=True)
    working(steps, text, text[:9])
    without_repeats(steps, [])


@pytest.mark.slow
@pytest.mark.parametrize("name", UNITS)
@pytest.mark.fuzz
def test_linear_time(name: str) -> None:
    """Up to the longest text that strict reads."""
    reads = [
        partial(extract, task, policy=policy) for task in DISTINCT_TASKS for policy in ("reference", "strict")
    ]
    reads += [strip_reasoning, partial(strip_reasoning, more=(("<cot>", "</cot>"),)), read_solution]
    for read in reads:
        assert_linear(lambda n, read=read: partial(read, nasty_text(name, n)), MAX_STRICT_CHARS)  # type: ignore[misc]
