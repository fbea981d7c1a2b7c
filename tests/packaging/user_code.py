"""What an editor tells a user: mypy, which `make check` runs, takes what is right and finds fault with what is wrong.

Of the latter an error is expected, so that an ignored one that does not come is one itself.
"""

from __future__ import annotations

import relfast
from relfast.rewards import openrlhf, trl, verl

with relfast.Scorer(policy="strict", workers=2, on_error=0.0) as scorer:
    reward: float | None = scorer.reward("REL-A1", {"target": 3}, "3")
scores: list[relfast.Score] = relfast.score([{}], policy="strict", timeout=None, map={"response": "text"})
summary: relfast.Summary = relfast.score_file("run.jsonl", resume=True, workers=0)
row: dict[str, object] = relfast.evaluate_response("", {"target": 3}, "3", policy="strict")
batch: relfast.ScoreBatch = relfast.score_batch("REL-A1", [{}], ["3"])
trained = trl.make_reward(policy="reference"), openrlhf.make_reward(on_error="raise")


async def awaited() -> float | None:
    return await relfast.areward("REL-A1", {"target": 3}, "3", policy="strict")


relfast.score([{}], policy="stirct")  # type: ignore[arg-type]
relfast.score([{}], timout=5)  # type: ignore[call-arg]
relfast.score([{}], timeout="5")  # type: ignore[arg-type]
relfast.score_file("run.jsonl", overwite=True)  # type: ignore[call-arg]
relfast.Scorer(wrokers=2)  # type: ignore[call-arg]
relfast.evaluate_response("", {}, "", polcy="strict")  # type: ignore[call-arg]
verl.make_compute_score(on_eror=0.0)  # type: ignore[call-arg]
relfast.scor([{}])  # type: ignore[attr-defined]
number: int = relfast.score([{}], workers=0)  # type: ignore[assignment]
