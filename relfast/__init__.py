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
    from relfast.comparison import Comparison, compare
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
    "relfast.api": "areward ascore evaluate_response read_rows score score_batch score_file",
    "relfast.comparison": "Comparison compare",
    "relfast.engine.online.scorer": "Scorer",
    "relfast.errors": "InputError MissingExtraError OutputError RelfastError ResumeMismatchError"
    " UnknownTaskError UnscoredError UsageError WorkerError",
    "relfast.records": "Score",
    "relfast.results": "ScoreBatch",
    "relfast.stats.summary": "Summary",
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
        home = next((home for home, names in _HOMES.items() if name in names.split()), None)
        if home is None:
            raise AttributeError(f"module 'relfast' has no attribute {name!r}")
        value = getattr(importlib.import_module(home), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
