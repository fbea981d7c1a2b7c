"""``pred``: the answer that was read, as text, at the doors that promise it; from workers and kernels alike."""

from __future__ import annotations

from typing import Any, Final

import pytest
from contract_records import gold

import relfast
from relfast.engine.online.scorer import Scorer
from relfast.rewards import nemo_rl, verl
from relfast.tasks.base import MAX_SAID

ISOMERS: Final = {"missing_smiles": ["CCO", "COC"]}
QUESTION: Final = "Which of taxon_1 and taxon_2?"
MOTIF: Final = {"smiles": "CCO"}

CASES: Final[list[tuple[str, Any, str, str | None]]] = [
    ("REL-A1", {"target": 3}, "Row by row it grows. Answer: 4", "4"),
    ("REL-A1", {"target": 3}, "I cannot tell.", None),
    (
        "REL-B1",
        {"label": "yes", "taxa": ["1", "2"]},
        "Yes: taxon_2, taxon_1",
        "yes: 1, 2",
    ),
    ("REL-B1", {"label": "no", "taxa": []}, "No.", "no"),
    ("REL-C1", {"label": "Yes"}, "<No>", "No"),
    ("REL-C2", MOTIF, "<smiles>OCC</smiles>", "OCC"),
    ("REL-C2", MOTIF, "<smiles>CC[NH3+]</smiles>", "CC[NH3+]"),
    ("REL-C2", MOTIF, "none", None),
    ("REL-C3", ISOMERS, "<smiles>COC</smiles> <smiles>CCO</smiles>", "CCO, COC"),
    ("REL-C3", {"missing_smiles": ["C[O-]"]}, "<smiles>C[O-]</smiles>", "C[O-]"),
]


@pytest.mark.parametrize("policy", ["strict", "reference"])
@pytest.mark.parametrize("workers", [0, 1])
def test_the_answer_as_text(policy: Any, workers: int) -> None:
    with Scorer(policy=policy, workers=workers) as scorer:
        for _ in range(2):  # scored, then remembered
            found = [scorer.score_one(task, answer, text, QUESTION).pred for task, answer, text, _ in CASES]
            assert found == [pred for *_, pred in CASES]


@pytest.mark.parametrize("name", ["SeqBench", "ReAlign"])
def test_of_plans_and_solutions(name: str) -> None:
    ((record, response),) = gold(name)
    (score,) = relfast.score([{**record, "response": response}], policy="strict", workers=0)
    assert score.pred
    assert score.pred in response
    assert len(score.pred) > 10 or score.pred == "5"


def test_it_is_bounded() -> None:
    many = "".join(f"<smiles>{'C' * n}O</smiles>" for n in range(1, 200))
    with Scorer(policy="strict", workers=0) as scorer:
        said = scorer.score_one("REL-C3", ISOMERS, many).pred
    assert said is not None
    assert len(said) == MAX_SAID


def test_at_the_doors() -> None:
    expected = [pred for *_, pred in CASES]
    made = verl.make_compute_score(on_error=0.0)
    assert [made(task, text, answer, {"question": QUESTION})["pred"] for task, answer, text, _ in CASES] == [
        pred or "" for pred in expected
    ]
    given = nemo_rl.RelfastEnvironment({"on_error": 0.0}).step(
        [[{"role": "assistant", "content": text}] for *_, text, _ in CASES],
        [{"task": task, "answer": answer, "question": QUESTION} for task, answer, *_ in CASES],
        return_extracted_answer=True,
    )
    assert given.answers == expected
