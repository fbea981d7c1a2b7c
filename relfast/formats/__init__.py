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
from relfast.formats.failure import from_status

__all__ = ["DIALECTS", "Dialect", "Entry", "detect", "filter_of", "read_row", "recognise"]


class Dialect(NamedTuple):
    """A way runs are written down.

    ``matches`` recognises a row by its keys, ``read`` brings it to an `Entry`.
    """

    matches: Callable[[Mapping[str, Any]], bool]
    read: Callable[[Mapping[str, Any]], Entry]
    summary: str


DIALECTS: Final[Mapping[str, Dialect]] = {
    "openai-batch": Dialect(openai_batch.matches, openai_batch.read, "OpenAI/vLLM batch output"),
    "lm-eval": Dialect(lm_eval.matches, lm_eval.read, "lm-evaluation-harness samples"),
    "verl": Dialect(verl.matches, verl.read, "verl rollout dump"),
    "seqbench": Dialect(seqbench.matches, seqbench.read, "SeqBench rows with responses"),
    "realign": Dialect(realign.matches, realign.read, "ReAlign result rows"),
    "gemini-batch": Dialect(gemini_batch.matches, gemini_batch.read, "Gemini batch output"),
    "native": Dialect(native.matches, native.read, "relfast records"),
    "inspect": Dialect(inspect_log.matches, inspect_log.read, "Inspect logs, .eval and .json"),
    "verifiers": Dialect(verifiers.matches, verifiers.read, "traces of verifiers and prime-rl"),
    "vllm": Dialect(vllm.matches, vllm.read, "vLLM's RequestOutput as JSON"),
    "trl": Dialect(trl.matches, trl.read, "TRL's completions logs"),
    "lighteval": Dialect(lighteval.matches, lighteval.read, "lighteval's details"),
    "helm": Dialect(helm.matches, helm.read, "HELM's scenario_state.json"),
    "opencompass": Dialect(opencompass.matches, opencompass.read, "OpenCompass' predictions"),
    "anthropic-batch": Dialect(anthropic_batch.matches, anthropic_batch.read, "Anthropic batch results"),
}
"""Most particular first: the first that matches reads the row. A row with a ``response`` is none of those
after ``native``."""


def detect(row: Mapping[str, Any]) -> str:
    """The name of the dialect a row is written in (``native`` if no other fits)."""
    return recognise(row) or "native"


def recognise(row: Mapping[str, Any]) -> str | None:
    """The name of the dialect that a row's keys speak of, or None."""
    return next((name for name, dialect in DIALECTS.items() if dialect.matches(row)), None)


def read_row(row: Mapping[str, Any], dialect: str) -> Entry:
    """An `Entry` of a row; ``dialect`` is a key of `DIALECTS` or ``auto``.

    That a response failed may be said by any row, so it is read here: ``error`` and ``status_code``.
    """
    entry = DIALECTS[detect(row) if dialect == "auto" else dialect].read(row)
    if "error" in row:
        entry.error = row["error"]
    if "status_code" in row and entry.failure is None:
        entry.failure = from_status(row["status_code"])
    return entry


def filter_of(row: Mapping[str, Any], dialect: str) -> str | None:
    """The filter that a row of lm-evaluation-harness is about; None for other rows."""
    if "filter" in row and (dialect == "lm-eval" or (dialect == "auto" and detect(row) == "lm-eval")):
        return lm_eval.filter_of(row)
    return None
