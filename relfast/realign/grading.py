"""ReAlign's published functions: asking a model to solve a problem, and one to judge an answer."""

from __future__ import annotations

from typing import Final

from relfast.inference.client import Client
from relfast.inference.replies import Completion
from relfast.inference.settings import Settings
from relfast.realign.defaults import DEFAULT_LLM_API_ENDPOINT, DEFAULT_LLM_MODEL_NAME
from relfast.realign.event_loop import run_anywhere
from relfast.realign.mock import mock_solution, mock_verdict
from relfast.realign.prompts import parse_verdict, problem_prompt, verdict_prompt

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
    model_name: str = DEFAULT_LLM_MODEL_NAME,
    api_endpoint: str = DEFAULT_LLM_API_ENDPOINT,
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


def _settings(model: str, temperature: float, max_tokens: int) -> Settings:
    return Settings(model=model, temperature=temperature, max_tokens=max_tokens, concurrency=1)


def _ask(prompt: str, api: str, settings: Settings) -> Completion:
    async def ask() -> Completion:
        async with Client[int](api, settings) as client:
            return await client.complete(prompt)

    return run_anywhere(ask)


def _warn(message: str) -> None:
    import warnings

    warnings.warn(f"relfast: {message}", RuntimeWarning, stacklevel=3)
