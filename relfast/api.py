"""The public Python functions that score: one response, some records, a batch, a file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

from relfast.engine.job import DEFAULT_TIMEOUT as DEFAULT_TIMEOUT  # exported for callers
from relfast.engine.job import (
    AdapterKeywords,
    JobKeywords,
    Policy,
    ScorerKeywords,
    TaskKeywords,
    make_job,
    make_options,
)
from relfast.errors import UsageError, said_in_python
from relfast.records import Record, Score
from relfast.stats.summary import Summary
from relfast.tasks import find_task, infer_task

if TYPE_CHECKING:
    from relfast.results import ScoreBatch


def evaluate_response(
    question: object,
    answer: object,
    response: object,
    task: str | None = None,
    *,
    n_attr: int = 1,
    n_return: int = 1,
    policy: Policy = "reference",
    **options: Unpack[TaskKeywords],
) -> dict[str, Any]:
    """Score one response in this process; the result has the published scorers' form.

    Parameters
    ----------
    question
        The question's text. SeqBench reads it, and under ``strict`` each task whose `Task.strict_needs`
        contains ``question``.
    answer
        Gold: the record's ``answer``.
    response
        The model's text.
    task
        Task name, upper or lower case; None: inferred from the keys of ``answer``.
    n_attr, n_return
        Arguments of REL's algebra scorer, accepted so that its callers work unchanged; they have no effect,
        neither there nor here.
    policy
        ``reference`` or ``strict``.
    **options
        Further fields of `relfast.tasks.AllOptions`.

    Returns
    -------
    dict
        The published scorer's flat dict: ``correct``, the texts (``pred``, ``gold``, …) and the metrics;
        ``error`` where gold or response cannot be used. No content of ``answer`` or ``response`` raises.
        There is no deadline: a hostile molecule can take long here, which `relfast.Scorer` prevents.

    Raises
    ------
    UsageError
        An option that does not exist.
    """
    settled = make_options(policy=policy, **options).within(0)
    scored_task = infer_task(answer) if task is None else find_task(task)
    if scored_task is None:
        message = "Could not infer task from answer structure" if task is None else f"Unknown task: {task}"
        return {"error": message, "correct": False}
    record = Record(0, None, scored_task.name, answer, response, question)
    try:
        (outcome,) = scored_task.score([record], settled)
    except Exception as error:
        return {"correct": False, "error": f"{type(error).__name__}: {error}"}
    result = {"correct": outcome.correct, **outcome.details, **outcome.metrics}
    if outcome.error is not None:
        result["error"] = outcome.error
    return result


def score(records: Iterable[Mapping[str, Any]], **options: Unpack[ScorerKeywords]) -> list[Score]:
    """Score records (dicts in any input dialect); one `Score` per sample, in order.

    Options: ``workers`` (default: usable cores; started when a record first needs one), ``timeout``,
    ``policy``, ``rewards``, ``details``, ``task`` and the fields of `relfast.tasks.AllOptions`.
    """
    from relfast.engine.calls.scorer import Scorer

    with Scorer(**options) as scorer:
        return scorer.score(records)


async def ascore(records: Iterable[Mapping[str, Any]], **options: Unpack[ScorerKeywords]) -> list[Score]:
    """`score` without blocking the event loop. For many calls use ``ascore`` of one `relfast.Scorer`, which
    keeps its workers and earlier scores between calls."""
    return await asyncio.to_thread(score, records, **options)


async def areward(
    task: str | None,
    answer: object,
    response: object,
    /,
    question: object = None,
    **options: Unpack[ScorerKeywords],
) -> float | None:
    """The reward of one response for an event loop, which goes on while workers score.

    Calls with the same options share a `relfast.Scorer`: one worker process, unless ``RELFAST_WORKERS`` or
    ``workers`` says otherwise, which lives until this process exits or `relfast.rewards.close` is called.
    A response without a score gets the reward given as ``on_error`` (default: None).

    Raises
    ------
    UsageError, UnknownTaskError
        An option that cannot be used.
    UnscoredError
        The response has no score, and ``on_error`` is ``"raise"``.
    """
    from relfast.engine.calls.scorer import shared_scorer
    from relfast.engine.calls.unscored import checked_on_error, value_of

    on_error = checked_on_error(options.pop("on_error", None))
    scorer = shared_scorer(cast(AdapterKeywords, options))
    score = await asyncio.wrap_future(scorer.submit(task, answer, response, question))
    return value_of(score, on_error, scorer.job.options.policy)


def read_rows(path: str | Path | Sequence[str | Path]) -> ScoreBatch:
    """Read scored rows back: the output of `score_file` or ``relfast score``, in any of its formats.

    Data frame libraries infer the columns of JSON lines from the first hundred rows and drop metrics that
    first appear later; here every metric of any row is a column. A row that cannot be used (damaged, or of
    another program) is ``invalid_record``, and its ``error`` names its file, line and reason:
    ``relfast.read_rows("run.scored.jsonl").to_pandas()``, or
    ``polars.from_arrow(relfast.read_rows(…).to_arrow())``.

    Parameters
    ----------
    path
        A file, pattern or folder, or a sequence of them.

    Raises
    ------
    InputError
        A file cannot be read, or holds no scored row that could be used.
    """
    from relfast.engine.files.io.scored import read_scores
    from relfast.engine.files.io.sources import find_sources
    from relfast.results import ScoreBatch

    paths = [path] if isinstance(path, str | Path) else path
    return ScoreBatch.of([row for source in find_sources([*map(str, paths)]) for row in read_scores(source)])


def score_batch(
    tasks: str | Sequence[str | None] | None,
    answers: Sequence[object],
    responses: Sequence[object],
    *,
    questions: Sequence[object] | None = None,
    **options: Unpack[ScorerKeywords],
) -> ScoreBatch:
    """Score parallel sequences; the results have the same length and order.

    ``tasks`` is one name for all responses, a sequence of names, or None to infer each from its answer.
    """
    from relfast.engine.calls.scorer import Scorer

    with Scorer(**options) as scorer:
        return scorer.score_batch(tasks, answers, responses, questions=questions)


def score_file(
    path: str | Path | Sequence[str | Path],
    output: str | Path | None = None,
    *,
    workers: int | None = None,
    resume: bool = False,
    overwrite: bool = False,
    limit: int | None = None,
    shard: tuple[int, int] | None = None,
    lengths: bool = False,
    progress: Callable[..., None] | None = None,
    **options: Unpack[JobKeywords],
) -> Summary:
    """Score a dump of responses: ``relfast score`` as a function.

    Parameters
    ----------
    path
        A file, pattern or folder, or a sequence of them.
    output
        The file that rows are written to; default ``PATH.scored.jsonl``.
    workers
        Worker processes; default: usable cores; 0: in this process.
    resume, overwrite, limit, shard
        As on the command line; ``shard`` is (I, N) with I from 0.
    lengths
        Read the input a second time, for lengths of responses, tokens and truncation
        (``TaskSummary.lengths``).
    **options
        As in `score`.

    Returns
    -------
    Summary
        Per task means, errors, counts; ``to_dict()`` is what ``--summary`` writes.

    Raises
    ------
    InputError, OutputError, ResumeMismatchError, UsageError
    """
    from relfast.engine.files.score_files import score_files

    inputs = [path] if isinstance(path, str | Path) else list(path) if isinstance(path, Sequence) else []
    if not inputs or not all(isinstance(item, str | Path) for item in inputs):
        raise UsageError(f"path must name a file, or several, not {path!r:.60}; score(records) scores dicts")
    with said_in_python():
        return score_files(
            [str(item) for item in inputs],
            None if output is None else str(output),
            make_job(**options),
            workers=workers,
            resume=resume,
            overwrite=overwrite,
            limit=limit,
            shard=shard,
            lengths=lengths,
            progress=progress,
        )
