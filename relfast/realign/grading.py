"""Asking a model to solve a problem, and asking one to judge an answer."""

from __future__ import annotations

import asyncio
import hashlib
import re
import threading
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, TypeVar

from relfast.inference.client import Client, Completion, Settings
from relfast.tasks.realign.boxed import extract_boxed_answer, same_answer, without_spaces
from relfast.tasks.realign.steps import parse_steps

T = TypeVar("T")

DEFAULT_API: Final = "http://127.0.0.1:1234/v1/completions"
DEFAULT_MODEL: Final = "mistral-7b"
MAX_TOKENS: Final = 2048
JUDGE_TOKENS: Final = 256

_PROBLEM: Final = """Solve the following math problem. Write one step of your reasoning per line, and put \
your final answer into \\boxed{{}}.

Problem:
{question}

Solution:
"""

_VERDICT: Final = """You are grading an answer to a math problem. Decide whether the student's final answer \
is mathematically equivalent to the reference answer, whatever its form (1/2 and 0.5 are equivalent).

Problem:
{question}

Reference answer:
{reference}

Student's answer:
{student}

Reply with CORRECT or INCORRECT alone on the first line, and with your reason on the second.
"""

_BOX: Final = re.compile(r"\\boxed\{([^{}]*+)\}")
_CONTENT: Final = r"\1"

MAX_ANSWER_CHARS: Final = 4_000
"""What a judge reads of a solution that boxes nothing: its end, where an answer stands."""


def problem_prompt(question: str) -> str:
    return _PROBLEM.format(question=question)


def verdict_prompt(question: str, benchmark_answer: str, llm_answer: str) -> str:
    return _VERDICT.format(question=question, reference=benchmark_answer, student=llm_answer)


def answer_of(solution: str) -> str:
    """What a judge is shown of a solution: its boxed answer, or its end where it boxes none."""
    boxed = extract_boxed_answer(solution)
    return boxed if boxed else solution[-MAX_ANSWER_CHARS:].strip()


def parse_verdict(text: str) -> bool:
    """Whether a judge's reply says so: its first line contains CORRECT and not INCORRECT."""
    first = text.strip().split("\n", 1)[0].upper()
    return "CORRECT" in first and "INCORRECT" not in first


def get_llm_reasoning(
    question: str,
    mock: bool = False,
    model_name: str = DEFAULT_MODEL,
    api_endpoint: str = DEFAULT_API,
    temperature: float = 0.0,
    max_tokens: int = MAX_TOKENS,
) -> str | None:
    """A model's solution of a problem, or None if the request failed (a warning says why).

    ``mock`` answers without a server. Runs its own event loop, in a thread where the caller has one.
    """
    if mock:
        return mock_solution(question)
    completion = _ask(problem_prompt(question), api_endpoint, _settings(model_name, temperature, max_tokens))
    if completion.error is not None:
        _warn(f"no solution: {completion.error['message']}")
    return completion.text


def grade_correctness_llm(
    question: str,
    benchmark_answer: str,
    llm_answer: str,
    model_name: str = DEFAULT_MODEL,
    api_endpoint: str = DEFAULT_API,
    mock: bool = False,
    temperature: float = 0.0,
    max_tokens: int = JUDGE_TOKENS,
) -> tuple[bool, str]:
    """A judge's verdict on an answer, and its reply. A failed request is (False, why it failed).

    The arguments stand in the published order, which is not that of `get_llm_reasoning`. ``mock`` compares
    the answers as texts, without a server.
    """
    if mock:
        return mock_verdict(benchmark_answer, llm_answer)
    prompt = verdict_prompt(question, benchmark_answer, llm_answer)
    completion = _ask(prompt, api_endpoint, _settings(model_name, temperature, max_tokens))
    if completion.text is None:
        assert completion.error is not None
        return False, f"no verdict: {completion.error['message']}"
    return parse_verdict(completion.text), completion.text.strip()


def mock_solution(question: str, reference: str | None = None) -> str:
    """A stand-in for a model: the same text for the same question, and all kinds of outcomes.

    With a reference it follows it closely or not at all, and answers right or wrong, by a hash of the
    question: so that every figure of a report has something to show. Without one it can only be vague.
    """
    steps = parse_steps(reference or "")
    answer = without_spaces(extract_boxed_answer(reference or "")) if reference else ""
    digest = hashlib.sha256(question.encode("utf-8", "replace")).digest()
    follows, is_right = digest[0] % 10 < 6, digest[1] % 10 < 6
    final = answer if is_right and answer else str(digest[2])
    lines = ["Sure, here is the solution."]
    if follows and steps:
        lines += [f"Step {n}: {_BOX.sub(_CONTENT, step)}" for n, step in enumerate(steps, 1)]
    else:
        lines += [f"{n}. {step}" for n, step in enumerate(_vague(question), 1)]
    lines.append(f"The answer is $\\boxed{{{final}}}$.")
    return "\n".join(lines)


def mock_verdict(benchmark_answer: str, llm_answer: str) -> tuple[bool, str]:
    """A stand-in for a judge: right if the answers are equal but for spaces."""
    is_right = same_answer(benchmark_answer, llm_answer)
    return (
        is_right,
        f"{'CORRECT' if is_right else 'INCORRECT'}\nMock verdict: the answers are compared as texts.",
    )


def _vague(question: str) -> Sequence[str]:
    words = " ".join(question.split())[:80]
    return (
        f"We read the problem: {words}",
        "Draw a picture of the situation and guess a pattern.",
        "Check the pattern on a small case and trust it.",
    )


def _settings(model: str, temperature: float, max_tokens: int) -> Settings:
    return Settings(model=model, temperature=temperature, max_tokens=max_tokens, concurrency=1)


def _ask(prompt: str, api: str, settings: Settings) -> Completion:
    async def ask() -> Completion:
        async with Client[int](api, settings) as client:
            return await client.complete(prompt)

    return run_anywhere(ask)


def run_anywhere(call: Callable[[], Awaitable[T]]) -> T:
    """Run a coroutine to its end, also where the caller (a notebook, say) runs an event loop already."""

    async def start() -> T:
        return await call()

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(start())
    result: list[Any] = []

    def in_thread() -> None:
        try:
            result.append((asyncio.run(start()), None))
        except BaseException as error:
            result.append((None, error))

    thread = threading.Thread(target=in_thread)
    thread.start()
    thread.join()
    value, error = result[0]
    if error is not None:
        raise error
    return value  # type: ignore[no-any-return]


def _warn(message: str) -> None:
    import warnings

    warnings.warn(f"relfast: {message}", RuntimeWarning, stacklevel=3)
