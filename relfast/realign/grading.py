"""ReAlign's published functions that ask a model to solve a problem, and an LLM judge to grade an answer."""

from __future__ import annotations

import asyncio
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from relfast.formats.failure import CUT_OFF, IN_REPLIES
from relfast.inference.client import Client, Settings
from relfast.inference.replies import Completion
from relfast.realign import DEFAULT_LLM_API_ENDPOINT, DEFAULT_LLM_MODEL_NAME
from relfast.tasks.realign import steps_and_box
from relfast.tasks.realign.blind import mock_solution
from relfast.tasks.realign.extract import equals_as_published, extract_boxed_answer

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

MAX_ANSWER_CHARS: Final = 4_000
"""Characters at the end of a solution without a box that a judge reads."""


def verdict_prompt(question: str, benchmark_answer: str, llm_answer: str) -> str:
    """The prompt that asks a judge for a verdict on an answer."""
    return _VERDICT.format(question=question, reference=benchmark_answer, student=llm_answer)


def answer_of(solution: str) -> str:
    """The part of a solution that a judge sees: its boxed answer, or its end if it has none."""
    boxed = extract_boxed_answer(solution)
    return boxed if boxed else solution[-MAX_ANSWER_CHARS:].strip()


def parse_verdict(text: str) -> bool:
    """Whether a judge's reply calls the answer right: its first line has CORRECT and not INCORRECT."""
    first = text.strip().split("\n", 1)[0].upper()
    return "CORRECT" in first and "INCORRECT" not in first


def no_verdict(completion: Completion) -> dict[str, str]:
    """The error of an answer to which a judge gave no verdict: its request failed, or it said nothing."""
    nothing = {
        "type": IN_REPLIES[CUT_OFF],
        "message": f"the judge said nothing (finish_reason {completion.finish_reason})",
    }
    error = completion.error or nothing
    return error | {"message": f"no verdict: {error['message']}"}


def mock_verdict(benchmark_answer: str, llm_answer: str) -> tuple[bool, str]:
    """The mock judge's verdict and reply: right if the answers are equal without spaces."""
    is_right = equals_as_published(benchmark_answer, llm_answer)
    return (
        is_right,
        f"{'CORRECT' if is_right else 'INCORRECT'}\nMock verdict: the answers are compared as texts.",
    )


MAX_TOKENS: Final = 2048
JUDGE_TOKENS: Final = 256


def get_llm_reasoning(
    question: str,
    mock: bool = False,
    model_name: str = DEFAULT_LLM_MODEL_NAME,
    api_endpoint: str = DEFAULT_LLM_API_ENDPOINT,
    temperature: float = 0.0,
    max_tokens: int = MAX_TOKENS,
) -> str | None:
    """A model's solution of a problem, or None if the request failed (a warning says why).

    ``mock`` makes up a solution without a server. Runs an event loop, in a thread if the caller runs one.
    """
    if mock:
        return mock_solution(question)
    completion = _ask(steps_and_box(question, {}), api_endpoint, model_name, temperature, max_tokens)
    if completion.error is not None:
        message = f"relfast: no solution: {completion.error['message']}"
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    return completion.text


def grade_correctness_llm(
    question: str,
    benchmark_answer: str,
    llm_answer: str,
    model_name: str = DEFAULT_LLM_MODEL_NAME,
    api_endpoint: str = DEFAULT_LLM_API_ENDPOINT,
    mock: bool = False,
    temperature: float = 0.0,
    max_tokens: int = JUDGE_TOKENS,
) -> tuple[bool, str]:
    """An LLM judge's verdict on an answer, and its reply. A failed request gives (False, why it failed).

    The arguments have the published order, which differs from that of `get_llm_reasoning`. ``mock`` compares
    the answers as texts, without a server.
    """
    if mock:
        return mock_verdict(benchmark_answer, llm_answer)
    prompt = verdict_prompt(question, benchmark_answer, llm_answer)
    completion = _ask(prompt, api_endpoint, model_name, temperature, max_tokens)
    if not completion.text:
        return False, no_verdict(completion)["message"]
    return parse_verdict(completion.text), completion.text.strip()


def _ask(prompt: str, api: str, model: str, temperature: float, max_tokens: int) -> Completion:
    settings = Settings(model=model, temperature=temperature, max_tokens=max_tokens, concurrency=1)

    async def ask() -> Completion:
        async with Client[int](api, settings) as client:
            return await client.complete(prompt)

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(ask())
    # the caller (a notebook, say) runs an event loop already
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(ask())).result()
