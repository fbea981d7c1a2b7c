"""Reading a response and the reference as solutions: steps and a final answer."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from relfast.records import Extracted, Options, Record
from relfast.tasks.realign.boxed import extract_boxed_answer
from relfast.tasks.realign.final_answer import read_final_answer
from relfast.tasks.realign.steps import MAX_STEPS, parse_steps
from relfast.tasks.realign.value import NONE as NO_VALUE
from relfast.tasks.realign.value import FinalAnswer, Value
from relfast.tasks.realign.values import value_of
from relfast.tasks.reasoning import read_strictly, strip_reasoning


class Solution(NamedTuple):
    """Steps in order, and the final answer: the boxed one, under ``strict`` any, with its value."""

    steps: list[str]
    answer: str | None
    value: Value = NO_VALUE


NOTHING: Final = Solution([], None)

MAX_STRICT_STEPS: Final = 400
"""Most steps of a response under ``strict``: the longest of 2,624 real solutions has 86, the longest
reference 28, and 2,000 lines of eight responses took 16 s of everybody's training before their time was
up."""

MAX_STRICT_CHARS: Final = 50_000
"""Most characters of a response outside its reasoning, for the same reason; the longest real one has
10,421."""

GOLD_FIELDS: Final = ("benchmark_solution", "solution", "benchmark_steps")
"""Where a record's reference may stand; the first one that is there counts."""


def read_response(response: Any, options: Options) -> Extracted[Solution]:
    """A `Solution` out of a response, as the policy reads it.

    Under ``strict`` the answer is what `read_final_answer` finds.
    """
    if options.strict:
        text, reason = read_strictly(response, options.reasoning)
        if reason is None and len(text) > MAX_STRICT_CHARS:
            reason = "too_long"
        if reason is not None:
            return Extracted(NOTHING, found=False, reason=reason)
        steps = parse_steps(text)
        if len(steps) > MAX_STRICT_STEPS:
            return Extracted(NOTHING, found=False, reason="too_many_steps")
        answer = read_final_answer(text)
        solution = Solution(steps, answer.text, answer.value)
        return Extracted(solution, found=answer.reason is None, reason=answer.reason)
    if not isinstance(response, str):
        return Extracted(NOTHING, found=False, error=f"llm_solution is {type(response).__name__}, not text")
    text = strip_reasoning(response, options.reasoning) if options.strip_reasoning else response
    solution = Solution(parse_steps(text), extract_boxed_answer(text))
    if len(solution.steps) > MAX_STEPS:
        return Extracted(NOTHING, found=False, error=_too_many("llm_solution", len(solution.steps)))
    return Extracted(solution, found=bool(solution.steps))


def read_reference(record: Record, options: Options) -> Solution | str:
    """The reference of a record, or what is wrong with it (the message names the field).

    Under ``strict`` its final answer is that of ``final_answer``, where the gold has this key.
    """
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
        final = _stated(answer.get("final_answer")) or _of_reference(text)
        if not final.value:
            return f"{field} has no final answer; say it as final_answer"
        return Solution(steps, final.text, final.value)
    return Solution(steps, extract_boxed_answer(text))


@lru_cache(maxsize=1024)
def _of_reference(text: str) -> FinalAnswer:
    """A reference is read once for all responses to its problem."""
    return read_final_answer(text, reference=True)


def _stated(answer: object) -> FinalAnswer | None:
    """The gold's own ``final_answer``, a text or a number, where it has one."""
    if isinstance(answer, bool) or not isinstance(answer, str | int | float):
        return None
    text = str(answer)
    return FinalAnswer(text, value_of(text))


def _too_many(field: str, count: int) -> str:
    return f"{field} has {count} steps; at most {MAX_STEPS} are aligned"
