"""Scoring ReAlign: the records of a batch are embedded together, then aligned together.

``gated_score`` is the reward under ``strict``: the final answer must be right; then working that follows the
reference adds to the reward.

"Working" are the sentences that repeat neither the problem nor an earlier sentence and do more than state
the answer. They are found by their share of new n-grams of words, numbers and signs: no model needed,
linear time.

The similarity of two sets of sentences is BERTScore's (Zhang et al. 2020): greedy matching, F1 of
precision and recall, rescaled by the embedding model's baseline. Matching is greedy because right
solutions split their steps differently; one-to-one matching of lines (``coverage``) would cost them more
than copying the problem does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from relfast_kernels.align import cosines
from relfast_kernels.text.form_table import BOX_TOKENS, BOXES, TAGS

from relfast.answers import same_answer
from relfast.records import Batch, Extracted, Outcome, Record
from relfast.support.deadlines import Deadlines
from relfast.tasks.realign import QUADRANTS, RealignOptions
from relfast.tasks.realign import extract as reading
from relfast.tasks.realign.alignment import DIVERGENCE_THRESHOLD, NOTHING, Alignment, Pair, align_pairs
from relfast.tasks.realign.extract import Solution, equals_as_published, without_repeats, without_spaces

if TYPE_CHECKING:
    from relfast.embed.embedder import Embedder

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


N: Final = 3
"""Tokens of an n-gram."""

MIN_NEW_GRAMS: Final = 0.5
"""Minimum share of a working sentence's n-grams that occur neither in the problem nor in an earlier
sentence. Of the sentences of right solutions, 5 % (GPT-3 on GSM8K) to 18 % (Qwen2.5, which repeats its
sums as displayed formulas) have fewer."""

MIN_NEW_WORDS: Final = 0.15
"""Minimum share of new tokens in a working sentence without a new number or sign: shuffling the problem's
words makes new n-grams, but no new tokens."""

MIN_WORDS: Final = 4
"""A sentence with fewer tokens and without a sign is filler ("We get (1).")."""

_TOKEN: Final = re.compile(r"[^\W\d_]+|\d+(?:\.\d+)?|[-+*/=<>^×÷−√%]")
_NOT_SAID: Final = re.compile(
    r"<<[^<>]*>>|\*\*|(?<=\d),(?=\d{3})"
    rf"|\\(?:left|right|text|mathrm|{'|'.join(BOXES.split())}|frac|dfrac|quad|begin|end)\b"
    rf"|{'|'.join(map(re.escape, BOX_TOKENS))}|</?(?:{'|'.join(TAGS.split())})>"
)
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+(?=[^\W\d_a-z]|[$\\(*])|(?<=[。！？])")
_SIGNS: Final = frozenset("+*/=<>^×÷−√%-")
_STOCK_WORDS: Final = (
    "a an the is are was were be been of to in on at by for with as so therefore thus hence then now"
    " and or it its this that these those there which who he she they we i you our his her their have"
    " has had get gets got do does did let us first next finally final answer ans answers boxed correct"
    " result total value equal equals sum step problem solution must can will would need needs find"
    " given since because if what how many much all"
)
_STOCK: Final = frozenset(_STOCK_WORDS.split())


class Working(NamedTuple):
    """The sentences of a solution, classified.

    Attributes
    ----------
    own
        The working sentences, in order.
    idle
        Number of characters in sentences that say nothing new: copies, repeats. Sentences that state the
        answer are in neither.
    """

    own: list[str]
    idle: int


def tokens(text: str) -> list[str]:
    """Words, numbers and signs, in lower case; without GSM8K's ``<<3*4=12>>``, ``**`` and layout in TeX."""
    return _TOKEN.findall(_NOT_SAID.sub("", text.lower()))


def sentences(steps: Sequence[str]) -> list[str]:
    """Split steps into sentences, so that it does not matter how a solution is split into lines."""
    return [part for step in steps for part in _SENTENCE.split(step)]


def working(steps: Sequence[str], question: str, answer: str) -> Working:
    """Find the working sentences in a solution's steps.

    Parameters
    ----------
    question
        The problem statement; "" for a reference, which may quote the problem.
    answer
        The text of the final answer.
    """
    question_tokens, question_grams = _tokens_and_grams(question)
    seen = set(question_grams)
    answered = set(tokens(answer))
    known = answered.union(question_tokens, _STOCK)
    own: list[str] = []
    idle = 0
    for sentence in sentences(steps):
        words = tokens(sentence)
        if not words:
            continue
        grams = _grams(words)
        new = len(grams) - sum(map(seen.__contains__, grams))
        seen.update(grams)
        new_words = [word for word in words if word not in known]
        if not new_words and not answered.isdisjoint(words) and (len(words) < N or 2 * new > len(grams)):
            continue  # a statement of the answer
        worked = any(word in _SIGNS or word[0].isdigit() for word in new_words) or (
            bool(new_words) and len(new_words) >= MIN_NEW_WORDS * len(words)
        )
        enough = len(words) >= MIN_WORDS or not _SIGNS.isdisjoint(words)
        if new >= MIN_NEW_GRAMS * len(grams) and worked and enough:
            own.append(sentence)
        else:
            idle += len(sentence)
    return Working(own, idle)


@lru_cache(maxsize=256)
def working_of_reference(steps: tuple[str, ...], answer: str) -> Working:
    """The working of a reference, cached for all responses to its problem."""
    return working(steps, "", answer)


@lru_cache(maxsize=256)
def _tokens_and_grams(question: str) -> tuple[frozenset[str], frozenset[tuple[str, ...]]]:
    """The tokens and n-grams of a question, cached for all responses to it."""
    words = tokens(question)
    return frozenset(words), frozenset(_grams(words))


def _grams(words: Sequence[str]) -> list[tuple[str, ...]]:
    return list(zip(*(words[at:] for at in range(N)), strict=False)) or [tuple(words)]


BASE: Final = 0.5
"""The reward of a right answer without working. Working that follows the reference earns the rest."""

LEAST: Final = 0.3
MOST: Final = 0.7
"""Step F1 above which working earns something, and from which it earns everything (ReAlign's threshold of
a good match). Step F1 is 0.1 to 0.4 if a right answer comes after the solution of another problem, 0.1 to
0.25 after filler, 0.5 to 0.9 after its own working."""

IDLE: Final = 0.25
"""Weight of an idle character in the precision (a character of working weighs 1). Copies and repeats
should lower the precision; but right solutions restate what they use, and those of the model ToRA quote
the whole problem: with a weight of 1 they would earn no more than a bare answer."""

_UNRELATED: Final = (
    "The recipe asks for two cups of flour and a pinch of salt.",
    "Photosynthesis turns light into chemical energy.",
    "Her flight to Lisbon was cancelled because of the storm.",
    "The orchestra tuned their instruments before the concert.",
    "Parliament voted on the new fishing quotas yesterday.",
    "Solve the inequality by adding $7$ to both sides.",
    "A kernel driver handles interrupts from the network card.",
    "The painting was restored by experts in Florence.",
)
"""Unrelated sentences: their mean cosine is an embedding model's baseline (MiniLM near 0, BGE near 0.5)."""


def gated_score(correct: bool, step_f1: float | None) -> float:
    """The reward: 0 for a wrong answer; for a right one `BASE`, plus up to 1 - `BASE` for its step F1."""
    if not correct:
        return 0.0
    if step_f1 is None:
        return BASE
    graded = (step_f1 - LEAST) / (MOST - LEAST)
    return BASE + (1 - BASE) * min(1.0, max(0.0, graded))


def step_f1s(
    pairs: Sequence[tuple[Working, Working] | None], encoder: Embedder, deadlines: Deadlines
) -> list[float | None]:
    """The step F1 of each pair (reference, response); None for None. Undefined for a record whose time is up.

    1.0 if the reference has no working, since then none can be expected; else 0.0 if the response has none.
    """
    results = [None if pair is None else 0.0 if pair[0].own else 1.0 for pair in pairs]
    chosen = [
        (k, *pair)
        for k, pair in enumerate(pairs)
        if pair is not None and pair[0].own and pair[1].own and not deadlines.passed(k)
    ]
    if not chosen:
        return results
    texts = [text for _, *sides in chosen for side in sides for text in side.own]
    owners = np.repeat([k for k, *_ in chosen], [len(a.own) + len(b.own) for _, a, b in chosen])
    vectors, places = encoder.encode_distinct(texts, owners, deadlines)
    baseline = _baseline(encoder, deadlines)
    at = 0
    for k, reference, response in chosen:
        middle, end = at + len(reference.own), at + len(reference.own) + len(response.own)
        if not deadlines.passed(k):
            with deadlines.step(k):
                similarity = cosines(vectors, places[at:middle], places[middle:end])
                results[k] = _f1(similarity, reference, response, baseline)
        at = end
    return results


def _f1(similarity: NDArray[np.float32], reference: Working, response: Working, baseline: float) -> float:
    """The F1 of a matrix of cosines, shape (sentences of the reference, sentences of the response)."""
    scaled = np.maximum((similarity.astype(np.float64) - baseline) / (1.0 - baseline), 0.0)
    # weighted by length: a displayed formula of three signs counts less than a sentence
    recall = float(np.average(scaled.max(axis=1), weights=[*map(len, reference.own)]))
    weights = np.array([*map(len, response.own)], np.float64)
    precision = float((scaled.max(axis=0) * weights).sum() / (weights.sum() + IDLE * response.idle))
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


_baselines: Final[WeakKeyDictionary[Embedder, float]] = WeakKeyDictionary()


def _baseline(encoder: Embedder, deadlines: Deadlines) -> float:
    """The mean cosine of `_UNRELATED` under a model, computed once and charged to no record; at most 0.9,
    so that `_f1` can divide by 1 - baseline."""
    baseline = _baselines.get(encoder)
    if baseline is None:
        deadlines.before_loading()
        vectors, places = encoder.encode_distinct(_UNRELATED)
        n = len(_UNRELATED)
        similarity = cosines(vectors, places, places).astype(np.float64)
        mean = float((similarity.sum() - np.trace(similarity)) / (n * (n - 1)))
        baseline = _baselines[encoder] = min(0.9, max(0.0, mean))
    return baseline
