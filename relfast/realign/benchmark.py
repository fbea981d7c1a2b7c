"""Run the whole ReAlign benchmark (``relfast realign``): ask a model for solutions, align them, have an
LLM judge grade the answers, and log one JSONL entry per problem. Can be resumed at any point.

At the end are the published functions that ask a model to solve a problem, and a judge to grade an answer."""

from __future__ import annotations

import asyncio
import time
import warnings
from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from relfast.formats.failure import CUT_OFF, IN_REPLIES
from relfast.inference.client import Client, Settings
from relfast.inference.replies import Completion
from relfast.inference.request_log import RequestCounts, RequestLog
from relfast.inference.requests import Request
from relfast.inference.run import Plan
from relfast.realign import DEFAULT_LLM_API_ENDPOINT, DEFAULT_LLM_MODEL_NAME
from relfast.realign.problems import Problem, problem_of
from relfast.records import Record
from relfast.tasks.realign import TASK, RealignOptions, steps_and_box
from relfast.tasks.realign.blind import mock_solution
from relfast.tasks.realign.extract import equals_as_published, extract_boxed_answer

ENTRIES_PER_BATCH: Final = 32
"""Maximum solutions that are aligned, graded and logged together: enough to embed efficiently, few enough
to lose if the run is killed."""

SECONDS_PER_BATCH: Final = 5.0
"""Maximum time that a finished solution waits for others before its batch is processed."""


BOXES_ONLY: Final = "none"
MOCK: Final = "mock"
"""Judges that need no server: none (only boxed answers are compared), and the mock."""


@dataclass(frozen=True)
class Judge:
    """The LLM judge: model, server, settings. Without settings, ``model`` is `MOCK` or `BOXES_ONLY`."""

    model: str
    api: str = ""
    settings: Settings | None = None


def entry_key(entry: dict[str, Any]) -> Hashable:
    """The key of an entry in the log: its problem's subset and id."""
    return entry["subset"], orjson.dumps(entry["id"])


def is_failed(entry: dict[str, Any]) -> bool:
    """Whether an entry has an error, so that its problem is tried again on resume."""
    return entry.get("error") is not None


def solve_and_judge(
    requests: Sequence[Request],
    results: Path,
    plan: Plan,
    *,
    judge: Judge,
    options: RealignOptions,
    dataset: str,
    resume: bool = False,
    overwrite: bool = False,
    report: Callable[[RequestCounts], None] | None = None,
) -> RequestCounts:
    """Solve, align and grade all problems; write the published entry of each to ``results``, in their order.

    Raises
    ------
    InputError
        A record is not a problem with a solution.
    UsageError, OutputError, ResumeMismatchError
        As `RequestLog` does. Failures of a server never raise; they become errors in entries.
    """
    from relfast.embed.embedder import get_embedder
    from relfast.embed.models import describe_model

    problems = [problem_of(each.row, dataset, each.index, dataset) for each in requests]
    order = [(problem.subset, orjson.dumps(problem.id)) for problem in problems]
    settings = {
        "dataset": dataset,
        "embedder": describe_model(get_embedder(options.embedder, options.device).model, options.device),
        "model": plan.settings.model,
        "temperature": plan.settings.temperature,
        "max_tokens": plan.settings.max_tokens,
        "judge": judge.model,
    }
    with RequestLog(
        results, key=entry_key, failed=is_failed, settings=settings, resume=resume, overwrite=overwrite
    ) as log:
        todo = [
            (problem, request)
            for key, problem, request in zip(order, problems, requests, strict=True)
            if key not in log
        ]
        counts = RequestCounts(len(problems), len(problems) - len(todo))
        asyncio.run(_run(todo, log, plan, _Judging(judge), options, counts, report))
        log.finish(order)
    return counts


async def _run(
    todo: Sequence[tuple[Problem, Request]],
    log: RequestLog,
    plan: Plan,
    judge: _Judging,
    options: RealignOptions,
    counts: RequestCounts,
    report: Callable[[RequestCounts], None] | None,
) -> None:
    """Solve, align, grade and log the problems in ``todo``."""
    try:
        async for batch in _batches(_solutions(plan, todo)):
            # alignment is CPU-bound: run it in a thread, so that requests go on meanwhile
            entries = await asyncio.to_thread(align_entries, batch, options)
            await asyncio.gather(*(judge.grade(entry) for entry in entries))
            log.append(entries)
            counts.done += len(entries)
            for entry in entries:
                if is_failed(entry):
                    counts.failed += 1
                    counts.add_cause(entry["error"])
            if report is not None:
                report(counts)
    finally:
        await judge.close()


async def _solutions(
    plan: Plan, todo: Sequence[tuple[Problem, Request]]
) -> AsyncIterator[tuple[Problem, Completion]]:
    problem_of_index = {request.index: problem for problem, request in todo}
    prompts = (((request, 0), request.prompt or "") for _, request in todo)
    async with plan.open() as asker:
        async for (request, _), completion in asker.completions(prompts, lambda _: plan.settings.seed):
            yield problem_of_index[request.index], completion


async def _batches(
    solutions: AsyncIterator[tuple[Problem, Completion]],
) -> AsyncIterator[list[tuple[Problem, Completion]]]:
    """Group solutions into batches as they arrive. Requests continue while the caller processes a batch."""
    queue: asyncio.Queue[tuple[Problem, Completion] | None] = asyncio.Queue(2 * ENTRIES_PER_BATCH)

    async def fill() -> None:
        try:
            async for solution in solutions:
                await queue.put(solution)
        finally:
            await queue.put(None)

    filling = asyncio.create_task(fill())
    try:
        open_ = True
        while open_:
            batch: list[tuple[Problem, Completion]] = []
            deadline = time.monotonic() + SECONDS_PER_BATCH
            while len(batch) < ENTRIES_PER_BATCH:
                try:
                    wait = max(0.0, deadline - time.monotonic()) if batch else None
                    item = await asyncio.wait_for(queue.get(), wait)
                except TimeoutError:
                    break
                if item is None:
                    open_ = False
                    break
                batch.append(item)
            if batch:
                yield batch
        await filling
    finally:
        filling.cancel()
        await asyncio.gather(filling, return_exceptions=True)


def align_entries(
    batch: Iterable[tuple[Problem, Completion]], options: RealignOptions
) -> list[dict[str, Any]]:
    """The published entries of solutions, before the judge's verdict. A failed request is an ``error``."""
    pairs = list(batch)
    records = [
        Record(
            number,
            problem.id,
            "ReAlign",
            {"benchmark_solution": problem.solution},
            completion.text,
            problem.question,
        )
        for number, (problem, completion) in enumerate(pairs)
    ]
    outcomes = TASK.score(records, options)
    entries = []
    for (problem, completion), outcome in zip(pairs, outcomes, strict=True):
        alignment = outcome.details.get("alignment", [])
        error = completion.error
        if error is None and outcome.error is not None:
            error = {"type": outcome.error_type, "message": outcome.error}
        entries.append(
            {
                "subset": problem.subset,
                "id": problem.id,
                "question": problem.question,
                "benchmark_solution": problem.solution,
                "llm_solution": completion.text,
                "benchmark_steps": outcome.details.get("benchmark_steps", []),
                "llm_steps": outcome.details.get("llm_steps", []),
                "alignment_score": None if error else outcome.metrics["alignment_score"],
                "symbolic_correct": None if error else outcome.metrics["symbolic_correct"],
                "llm_correct": None,
                "final_correct": None if error else outcome.metrics["symbolic_correct"],
                "grade_reasoning": None,
                "alignment_details": [] if error else alignment,
                "weighted_score": None if error else outcome.metrics["weighted_score"],
                "first_divergence": None if error else outcome.metrics["first_divergence"],
                "error": error,
            }
        )
    return entries


class _Judging:
    """Adds a judge's verdicts to entries; equal prompts are sent only once."""

    def __init__(self, judge: Judge) -> None:
        self._mock = judge.model == MOCK
        self._verdicts: dict[str, asyncio.Task[Completion]] = {}
        self._client: Client[str] | None = None
        if judge.settings is not None:
            self._client = Client(judge.api, judge.settings)

    async def close(self) -> None:
        for task in self._verdicts.values():
            task.cancel()
        await asyncio.gather(*self._verdicts.values(), return_exceptions=True)
        if self._client is not None:
            await self._client.__aexit__(None, None, None)

    async def grade(self, entry: dict[str, Any]) -> None:
        """Add the judge's verdict to an entry, or the error if the judge cannot be asked."""
        if entry["error"] is not None:
            return
        benchmark = answer_of(entry["benchmark_solution"])
        student = answer_of(entry["llm_solution"])
        if self._mock:
            entry["llm_correct"], entry["grade_reasoning"] = mock_verdict(benchmark, student)
        elif self._client is not None:
            completion = await self._ask(verdict_prompt(entry["question"], benchmark, student))
            if not completion.text:
                entry["error"] = no_verdict(completion)
                entry["final_correct"] = True if entry["symbolic_correct"] else None
                return
            entry["llm_correct"] = parse_verdict(completion.text)
            entry["grade_reasoning"] = completion.text.strip()
        entry["final_correct"] = bool(entry["symbolic_correct"] or entry["llm_correct"])

    async def _ask(self, prompt: str) -> Completion:
        assert self._client is not None
        task = self._verdicts.get(prompt)
        if task is None:
            task = self._verdicts[prompt] = asyncio.create_task(self._client.complete(prompt, JUDGE_TOKENS))
        return await task


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
