"""Input dialects: one module each, a function from an input row to an `Entry`.

An `Entry` is what every dialect is brought to; `relfast.engine.rows` makes records of it. The dialect
is chosen row by row from the row's own keys, so that it depends on nothing read before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from relfast.formats import (
    anthropic_batch,
    gemini_batch,
    helm,
    inspect_log,
    lighteval,
    lm_eval,
    native,
    openai_batch,
    opencompass,
    realign,
    seqbench,
    trl,
    verifiers,
    verl,
    vllm,
)
from relfast.formats.entry import Entry
from relfast.formats.failure import NoResponse, from_error, from_status
from relfast.formats.gold import first_there, task_among

__all__ = ["DIALECTS", "Dialect", "Entry", "detect", "filter_of", "read_row", "recognise"]


class Dialect(NamedTuple):
    """A way runs are written down.

    ``matches`` recognises a row by its keys, ``read`` brings it to an `Entry`; it may raise where ``needs``,
    fields that it cannot do without, are not there or are something else.
    """

    matches: Callable[[Mapping[str, Any]], bool]
    read: Callable[[Mapping[str, Any]], Entry]
    summary: str
    needs: tuple[str, ...] = ()


DIALECTS: Final[Mapping[str, Dialect]] = {
    "openai-batch": Dialect(openai_batch.matches, openai_batch.read, "OpenAI/vLLM batch output"),
    "lm-eval": Dialect(lm_eval.matches, lm_eval.read, "lm-evaluation-harness samples"),
    "verl": Dialect(verl.matches, verl.read, "verl rollout dump"),
    "seqbench": Dialect(seqbench.matches, seqbench.read, "SeqBench rows with responses"),
    "realign": Dialect(realign.matches, realign.read, "ReAlign result rows"),
    "gemini-batch": Dialect(gemini_batch.matches, gemini_batch.read, "Gemini batch output", ("response",)),
    "native": Dialect(native.matches, native.read, "relfast records"),
    "inspect": Dialect(inspect_log.matches, inspect_log.read, "Inspect logs, .eval and .json"),
    "verifiers": Dialect(verifiers.matches, verifiers.read, "traces of verifiers and prime-rl"),
    "vllm": Dialect(vllm.matches, vllm.read, "vLLM's RequestOutput as JSON", ("outputs",)),
    "trl": Dialect(trl.matches, trl.read, "TRL's completions logs", ("prompt", "completion")),
    "lighteval": Dialect(lighteval.matches, lighteval.read, "lighteval's details", ("doc", "model_response")),
    "helm": Dialect(helm.matches, helm.read, "HELM's scenario_state.json", ("instance",)),
    "opencompass": Dialect(
        opencompass.matches, opencompass.read, "OpenCompass' predictions", ("origin_prompt", "prediction")
    ),
    "anthropic-batch": Dialect(
        anthropic_batch.matches, anthropic_batch.read, "Anthropic batch results", ("result",)
    ),
}
"""Most particular first: the first that matches reads the row. A row with a ``response`` is none of those
after ``native``."""


def detect(row: Mapping[str, Any]) -> str:
    """The name of the dialect a row is written in (``native`` if no other fits)."""
    return recognise(row) or "native"


def recognise(row: Mapping[str, Any]) -> str | None:
    """The name of the dialect that a row's keys speak of, or None."""
    return next((name for name, dialect in DIALECTS.items() if dialect.matches(row)), None)


def read_row(row: Mapping[str, Any], dialect: str, *, mapped: bool = False) -> Entry:
    """An `Entry` of a row; ``dialect`` is a key of `DIALECTS` or ``auto``. With ``mapped`` somebody else says
    where the response is.

    That a response failed may be said by any row, so it is read here: ``error`` and ``status_code``.
    """
    name = detect(row) if dialect == "auto" else dialect
    if mapped and dialect == "auto" and name == "gemini-batch" and not gemini_batch.has_candidates(row):
        # what it lacks is elsewhere in the row, which is one of nobody's then
        name = "native"
    try:
        entry = DIALECTS[name].read(row)
    except (LookupError, TypeError, AttributeError):
        if dialect == "auto" or not DIALECTS[name].needs or DIALECTS[name].matches(row):
            raise
        entry = _of_another(row, name)
    if "error" in row:
        entry.error = row["error"]
    if name == "native" and not mapped and gemini_batch.has_only_failed(row):
        entry.id = row["key"]
    if "status_code" in row and entry.failure is None:
        entry.failure = from_status(row["status_code"])
    return entry


def _of_another(row: Mapping[str, Any], dialect: str) -> Entry:
    """What there is of a row that is not in the dialect it was said to be in: that its request failed, or
    else what it lacks."""
    needs = DIALECTS[dialect].needs
    missing = next((field for field in needs if field not in row), None)
    kinds = f"{' or '.join(map(repr, needs))} is something else"
    lacks = kinds if missing is None else f"field {missing!r} is missing"
    message = f"no row of {dialect}, as --input-format has it: {lacks}"
    wrong = NoResponse("WrongDialect", f"{message}; without the option it is read as {detect(row)}")
    return Entry(
        id=first_there(row, "id", "custom_id", "key"),
        task=task_among(row.get("task")),
        failure=from_error(row.get("error")) or from_status(row.get("status_code")) or wrong,
    )


def filter_of(row: Mapping[str, Any], dialect: str) -> str | None:
    """The filter that a row of lm-evaluation-harness is about; None for other rows."""
    if "filter" in row and (dialect == "lm-eval" or (dialect == "auto" and detect(row) == "lm-eval")):
        return lm_eval.filter_of(row)
    return None
