"""The published functions of ReAlign, with their names and signatures, for programs written for its scripts.

`parse_reasoning_to_steps` and `extract_boxed_answer` load no libraries; the aligner, the grader and the
report load theirs at first use. The task that scores ReAlign in runs (`relfast score`) is
`relfast.tasks.realign`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from relfast.realign.grading import get_llm_reasoning, grade_correctness_llm
    from relfast.report.realign import generate_analysis_report, generate_heatmap
    from relfast.tasks.realign.alignment import StepAligner

DEFAULT_LLM_API_ENDPOINT: Final = "http://127.0.0.1:1234/v1/completions"
DEFAULT_LLM_MODEL_NAME: Final = "mistral-7b"
EMBEDDING_MODEL: Final = "BAAI/bge-large-en-v1.5"

_HOMES: Final = {
    "StepAligner": "relfast.tasks.realign.alignment",
    "generate_analysis_report": "relfast.report.realign",
    "generate_heatmap": "relfast.report.realign",
    "get_llm_reasoning": "relfast.realign.grading",
    "grade_correctness_llm": "relfast.realign.grading",
}

__all__ = [
    "DEFAULT_LLM_API_ENDPOINT",
    "DEFAULT_LLM_MODEL_NAME",
    "EMBEDDING_MODEL",
    "StepAligner",
    "extract_boxed_answer",
    "generate_analysis_report",
    "generate_heatmap",
    "get_llm_reasoning",
    "grade_correctness_llm",
    "parse_reasoning_to_steps",
]


def parse_reasoning_to_steps(reasoning_string: str | None) -> list[str]:
    """The steps of a solution: its lines without headers ("Sure, …") and numbering. None gives ``[]``."""
    from relfast.tasks.realign.extract import parse_steps

    return parse_steps(reasoning_string) if reasoning_string else []


def extract_boxed_answer(text: str | None) -> str | None:
    r"""The answer in a solution's ``\boxed{…}``, or None."""
    from relfast.tasks.realign import extract

    return extract.extract_boxed_answer(text) if text else None


if not TYPE_CHECKING:  # type checkers would accept any name as an attribute

    def __getattr__(name: str) -> Any:
        home = _HOMES.get(name)
        if home is None:
            raise AttributeError(f"module 'relfast.realign' has no attribute {name!r}")
        value = getattr(importlib.import_module(home), name)
        globals()[name] = value
        return value
