"""Reading a response and the reference as solutions: steps and a boxed answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from relfast.records import Extracted, Options, Record
from relfast.tasks.realign.boxed import extract_boxed_answer, last_boxed
from relfast.tasks.realign.steps import MAX_STEPS, parse_steps
from relfast.tasks.reasoning import read_strictly, strip_reasoning


class Solution(NamedTuple):
    """Steps in order, and the boxed answer."""

    steps: list[str]
    boxed: str | None


NOTHING: Final = Solution([], None)

GOLD_FIELDS: Final = ("benchmark_solution", "solution", "benchmark_steps")
"""Where a record's reference may stand; the first one that is there counts."""


def read_response(response: Any, options: Options) -> Extracted[Solution]:
    """A `Solution` out of a response, as the policy reads it.

    Under ``strict`` the last box counts, and boxes with different answers at the end are none.
    """
    if options.strict:
        text, reason = read_strictly(response, options.reasoning)
        if reason is not None:
            return Extracted(NOTHING, found=False, reason=reason)
        steps = parse_steps(text)
        if len(steps) > MAX_STEPS:
            return Extracted(NOTHING, found=False, reason="too_many_steps")
        boxed, hedged = last_boxed(text)
        if hedged:
            return Extracted(Solution(steps, None), found=False, reason="several_answers")
        if not steps:
            return Extracted(NOTHING, found=False, reason="no_steps")
        return Extracted(Solution(steps, boxed))
    if not isinstance(response, str):
        return Extracted(NOTHING, found=False, error=f"llm_solution is {type(response).__name__}, not text")
    text = strip_reasoning(response, options.reasoning) if options.strip_reasoning else response
    solution = Solution(parse_steps(text), extract_boxed_answer(text))
    if len(solution.steps) > MAX_STEPS:
        return Extracted(NOTHING, found=False, error=_too_many("llm_solution", len(solution.steps)))
    return Extracted(solution, found=bool(solution.steps))


def read_reference(record: Record, options: Options) -> Solution | str:
    """The reference of a record, or what is wrong with it (the message names the field)."""
    answer = record.answer
    if not isinstance(answer, Mapping):
        return f"answer must be an object with benchmark_solution, got {type(answer).__name__}"
    field = next((name for name in GOLD_FIELDS if answer.get(name) is not None), None)
    if field is None:
        return "benchmark_solution is missing"
    value = answer[field]
    if field == "benchmark_steps":
        if not isinstance(value, list | tuple) or not all(isinstance(step, str) for step in value):
            return "benchmark_steps must be a list of texts"
        steps, text = list(value), "\n".join(value)
    elif isinstance(value, str):
        steps, text = parse_steps(value), value
    else:
        return f"{field} must be text, got {type(value).__name__}"
    if len(steps) > MAX_STEPS:
        return _too_many(field, len(steps))
    if options.strict:
        if not steps:
            return f"{field} has no steps"
        return Solution(steps, last_boxed(text)[0])
    return Solution(steps, extract_boxed_answer(text))


def _too_many(field: str, count: int) -> str:
    return f"{field} has {count} steps; at most {MAX_STEPS} are aligned"
