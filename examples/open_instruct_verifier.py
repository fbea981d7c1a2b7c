"""relfast as a verifier of open-instruct, as commit 0039262 of its sources has them (it is on no index).

Import this before training; open-instruct finds subclasses of `VerifierFunction` by themselves, and gives
rows whose ``dataset`` is ``relfast`` to this one. ``ground_truth`` is gold, or ``{"task": …, "answer":
gold, "question": …}``, as JSON text. It needs a number: a response without a score whose own fault it is
not is worth 0.
"""

from typing import Any

from open_instruct.ground_truth_utils import VerificationResult, VerifierFunction

from relfast.rewards.shared import read_label
from relfast.rewards.verl import make_compute_score

_score = make_compute_score(on_error=0.0)
_score_async = make_compute_score(asynchronous=True, on_error=0.0)


def _sample(prediction: str, label: Any, query: str | None) -> tuple[Any, ...]:
    # some releases hand over a list of one label
    task, gold, question = read_label(label[0] if isinstance(label, list) and len(label) == 1 else label)
    return task, prediction, gold, {"question": question or query}


class RelfastVerifier(VerifierFunction):
    def __init__(self, verifier_config: Any = None) -> None:
        super().__init__("relfast", weight=1.0, verifier_config=verifier_config)

    def __call__(
        self,
        tokenized_prediction: list[int],
        prediction: str,
        label: Any,
        query: str | None = None,
        **more: Any,
    ) -> VerificationResult:
        found = _score(*_sample(prediction, label, query))
        return VerificationResult(score=found["score"], reasoning=found["reason"] or None)

    async def async_call(
        self,
        tokenized_prediction: list[int],
        prediction: str,
        label: Any,
        query: str | None = None,
        **more: Any,
    ) -> VerificationResult:
        found = await _score_async(*_sample(prediction, label, query))
        return VerificationResult(score=found["score"], reasoning=found["reason"] or None)
