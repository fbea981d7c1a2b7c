"""relfast: exact, fast and unkillable scoring for the REL, ReAlign and SeqBench reasoning benchmarks.

The public names below load on first use, so that ``import relfast`` costs next to nothing and loads
neither numba, rdkit nor onnxruntime.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

__version__ = "0.1.0"

if TYPE_CHECKING:
    from relfast.api import areward, ascore, evaluate_response, read_rows, score, score_batch, score_file
    from relfast.comparison import compare
    from relfast.comparison.model import Comparison
    from relfast.engine.online.scorer import Scorer
    from relfast.errors import (
        InputError,
        MissingExtraError,
        OutputError,
        RelfastError,
        ResumeMismatchError,
        UnknownTaskError,
        UnscoredError,
        UsageError,
        WorkerError,
    )
    from relfast.records import Score
    from relfast.results import ScoreBatch
    from relfast.stats.summary import Summary

_HOMES: Final = {
    "Comparison": "relfast.comparison.model",
    "InputError": "relfast.errors",
    "MissingExtraError": "relfast.errors",
    "OutputError": "relfast.errors",
    "RelfastError": "relfast.errors",
    "ResumeMismatchError": "relfast.errors",
    "Score": "relfast.records",
    "ScoreBatch": "relfast.results",
    "Scorer": "relfast.engine.online.scorer",
    "Summary": "relfast.stats.summary",
    "UnknownTaskError": "relfast.errors",
    "UnscoredError": "relfast.errors",
    "UsageError": "relfast.errors",
    "WorkerError": "relfast.errors",
    "areward": "relfast.api",
    "ascore": "relfast.api",
    "compare": "relfast.comparison",
    "evaluate_response": "relfast.api",
    "read_rows": "relfast.api",
    "score": "relfast.api",
    "score_batch": "relfast.api",
    "score_file": "relfast.api",
}

__all__ = [
    "Comparison",
    "InputError",
    "MissingExtraError",
    "OutputError",
    "RelfastError",
    "ResumeMismatchError",
    "Score",
    "ScoreBatch",
    "Scorer",
    "Summary",
    "UnknownTaskError",
    "UnscoredError",
    "UsageError",
    "WorkerError",
    "__version__",
    "areward",
    "ascore",
    "compare",
    "evaluate_response",
    "read_rows",
    "score",
    "score_batch",
    "score_file",
]


if not TYPE_CHECKING:  # type checkers would take any name for one of ours

    def __getattr__(name: str) -> Any:
        home = _HOMES.get(name)
        if home is None:
            raise AttributeError(f"module 'relfast' has no attribute {name!r}")
        value = getattr(importlib.import_module(home), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
