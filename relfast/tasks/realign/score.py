"""Scoring ReAlign: the records of a batch are embedded together, then aligned together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

from relfast.answers import same_answer
from relfast.records import Batch, Extracted, Outcome, Record
from relfast.support.deadlines import Deadlines
from relfast.tasks.realign import QUADRANTS, RealignOptions
from relfast.tasks.realign import extract as reading
from relfast.tasks.realign.alignment import DIVERGENCE_THRESHOLD, NOTHING, Alignment, Pair, align_pairs
from relfast.tasks.realign.extract import Solution, equals_as_published, without_repeats, without_spaces
from relfast.tasks.realign.gate import Working, gated_score, step_f1s, working, working_of_reference

_MAX_VOTE_CHARS: Final = 200


extract = reading.read_response


def score(batch: Batch, options: RealignOptions) -> list[Outcome]:
    """See `relfast.tasks.base.TaskScorer`."""
    # without time limits no deadline passes, so every record has an outcome
    return cast("list[Outcome]", score_within(batch, options, Deadlines(len(batch))))


def score_within(batch: Batch, options: RealignOptions, deadlines: Deadlines) -> list[Outcome | None]:
    """The outcomes of a batch, in order; None for a record whose time is up (`EmbeddingTaskScorer`)."""
    references: list[Solution | str] = []
    pairs: list[Pair] = []
    works: list[tuple[Working, Working] | None] = []
    for k, (record, extracted) in enumerate(batch):
        with deadlines.step(k):
            reference = reading.read_reference(record, options)
            pair, work = Pair([], []), None
            if not isinstance(reference, str) and extracted.error is None:
                pair, work = _pair(record, reference, extracted.value, options)
        references.append(reference)
        pairs.append(pair)
        works.append(work)
    pairs = [Pair([], []) if deadlines.passed(k) else pair for k, pair in enumerate(pairs)]
    # only a batch with something to align needs an embedding model on this machine
    alignments: Sequence[Alignment | None] = [NOTHING] * len(batch)
    step_f1: Sequence[float | None] = [None] * len(batch)
    if any(pair.benchmark and pair.llm for pair in pairs):
        from relfast.embed.embedder import get_embedder

        deadlines.before_loading()
        embedder = get_embedder(options.embedder, options.device)
        alignments = align_pairs(pairs, embedder, deadlines)
        step_f1 = step_f1s(works, embedder, deadlines)
    verdicts = _verify(batch, references, options, deadlines)
    outcomes: list[Outcome | None] = []
    for k, ((record, extracted), reference, pair, alignment, f1, verdict) in enumerate(
        zip(batch, references, pairs, alignments, step_f1, verdicts, strict=True)
    ):
        if deadlines.passed(k) or alignment is None:
            outcomes.append(None)
        elif isinstance(reference, str):
            outcomes.append(Outcome(False, found=False, error=reference))
        elif extracted.error is not None:
            outcomes.append(Outcome(False, found=False, error=extracted.error, error_type="InvalidResponse"))
        else:
            outcomes.append(_score_one(record, extracted, reference, pair, alignment, f1, verdict, options))
    return outcomes


def quadrant(alignment_score: float, correct: bool) -> str:
    """The quadrant of a row: ``robust`` (high alignment, right), ``lucky`` (low, right), ``hallucination``
    (high, wrong) or ``failure`` (low, wrong)."""
    is_high = alignment_score >= DIVERGENCE_THRESHOLD
    return QUADRANTS[2 * (not correct) + (not is_high)]


def _right(reference: Solution, solution: Solution, question: object) -> bool:
    """Whether a solution's answer equals the reference's, as far as the question allows (`same_answer`)."""
    return same_answer(reference.value, solution.value, question if isinstance(question, str) else None)


def _pair(
    record: Record, reference: Solution, solution: Solution, options: RealignOptions
) -> tuple[Pair, tuple[Working, Working] | None]:
    """The steps to align; and, for right answers under ``strict``, the working of reference and response.

    Without a question, working cannot be told from a copy of the problem: then only the answer earns reward.
    """
    if not options.strict:
        return Pair(reference.steps, solution.steps), None
    # Repeated steps are aligned only once, but still count as steps: repeating does not pay.
    pair, question = Pair(reference.steps, without_repeats(solution.steps, reference.steps)), record.question
    if not (isinstance(question, str) and question.strip() and _right(reference, solution, question)):
        return pair, None
    answer = reference.answer or ""
    return pair, (
        working_of_reference(tuple(reference.steps), answer),
        working(solution.steps, question, f"{answer} {solution.answer}"),
    )


def _score_one(
    record: Record,
    extracted: Extracted[Solution],
    reference: Solution,
    pair: Pair,
    alignment: Alignment,
    step_f1: float | None,
    verdict: bool | None,
    options: RealignOptions,
) -> Outcome:
    solution: Solution = extracted.value
    # a judge's verdicts, if the input row has any
    verdicts = [record.row.get(name) for name in ("llm_correct", "final_correct")] if record.row else []
    is_judged = reference.answer is not None or any(isinstance(verdict, bool) for verdict in verdicts)
    if options.strict:
        correct = symbolic = _right(reference, solution, record.question)
    else:
        symbolic = equals_as_published(reference.answer, solution.answer)
        correct = symbolic or any(verdict is True for verdict in verdicts)
    average = alignment.avg_score
    covered = alignment.matches / max(len(reference.steps), len(solution.steps), 1)
    metrics: dict[str, Any] = {
        "alignment_score": average,
        "weighted_score": average * covered,
        "coverage": covered,
        "symbolic_correct": symbolic,
        "first_divergence": alignment.first_divergence,
        "quadrant": quadrant(average, correct) if is_judged else None,
        "n_benchmark_steps": len(reference.steps),
        "n_llm_steps": len(solution.steps),
        "n_matches": alignment.matches,
    }
    if options.grader == "math-verify":
        metrics["verified_correct"] = verdict
    if options.strict:
        metrics["gated_score"] = gated_score(correct, step_f1)
        metrics["step_f1"] = step_f1
        metrics["reason"] = extracted.reason
    details: dict[str, Any] = {
        "pred": solution.answer,
        "gold": reference.answer,
        "benchmark_steps": reference.steps,
        "llm_steps": solution.steps,
        "alignment": alignment.entries(pair.benchmark, pair.llm),
    }
    answer = without_spaces(solution.answer)[:_MAX_VOTE_CHARS]
    return Outcome(correct, metrics, details, found=extracted.found, vote=answer or None)


def _verify(
    batch: Batch, references: Sequence[Solution | str], options: RealignOptions, deadlines: Deadlines
) -> Sequence[bool | None]:
    """math-verify's verdict for each record, if that grader is chosen; else None."""
    if options.grader != "math-verify":
        return [None] * len(batch)
    from relfast.tasks.realign.verify import verify_answers

    questions: list[tuple[str, str] | None] = []
    for k, (reference, (_, extracted)) in enumerate(zip(references, batch, strict=True)):
        usable = not isinstance(reference, str) and extracted.error is None and not deadlines.passed(k)
        gold = _answer_text(reference) if not isinstance(reference, str) else ""
        pred = _answer_text(extracted.value) if usable else ""
        questions.append((gold, pred) if gold and pred else None)
    return verify_answers(questions, deadlines)


def _answer_text(solution: Solution) -> str:
    """The text that math-verify reads: the answer in a box, or else the last step (GSM8K: "A: 42")."""
    if solution.answer is not None:
        return f"\\boxed{{{solution.answer}}}"
    return solution.steps[-1] if solution.steps else ""
