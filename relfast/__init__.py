"""relfast: exact, fast and unkillable scoring for the REL, ReAlign and SeqBench reasoning benchmarks.

The public names below are imported on first use, so that ``import relfast`` takes next to no time and loads
neither numba, rdkit nor onnxruntime.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

__version__ = "0.1.0"

if TYPE_CHECKING:  # with `as`, type checkers treat a name as exported
    from relfast.answers import same_answer as same_answer
    from relfast.api import areward as areward
    from relfast.api import ascore as ascore
    from relfast.api import evaluate_response as evaluate_response
    from relfast.api import read_rows as read_rows
    from relfast.api import score as score
    from relfast.api import score_batch as score_batch
    from relfast.api import score_file as score_file
    from relfast.comparison import Comparison as Comparison
    from relfast.comparison import compare as compare
    from relfast.engine.calls.scorer import Scorer as Scorer
    from relfast.errors import InputError as InputError
    from relfast.errors import MissingExtraError as MissingExtraError
    from relfast.errors import OutputError as OutputError
    from relfast.errors import RelfastError as RelfastError
    from relfast.errors import ResumeMismatchError as ResumeMismatchError
    from relfast.errors import UnknownTaskError as UnknownTaskError
    from relfast.errors import UnscoredError as UnscoredError
    from relfast.errors import UsageError as UsageError
    from relfast.errors import WorkerError as WorkerError
    from relfast.records import Score as Score
    from relfast.results import ScoreBatch as ScoreBatch
    from relfast.stats.summary import Summary as Summary

_HOMES: Final = {
    "relfast.answers": "same_answer",
    "relfast.api": "areward ascore evaluate_response read_rows score score_batch score_file",
    "relfast.comparison": "Comparison compare",
    "relfast.engine.calls.scorer": "Scorer",
    "relfast.errors": "InputError MissingExtraError OutputError RelfastError ResumeMismatchError"
    " UnknownTaskError UnscoredError UsageError WorkerError",
    "relfast.records": "Score",
    "relfast.results": "ScoreBatch",
    "relfast.stats.summary": "Summary",
}

__all__ = ["__version__", *(name for names in _HOMES.values() for name in names.split())]


if not TYPE_CHECKING:  # else type checkers would accept any name

    def __getattr__(name: str) -> Any:
        home = next((home for home, names in _HOMES.items() if name in names.split()), None)
        if home is None:
            raise AttributeError(f"module 'relfast' has no attribute {name!r}")
        value = getattr(importlib.import_module(home), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
