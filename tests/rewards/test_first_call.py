"""What a trainer hears: what is wrong with its first call, how many responses have no form, the answer that was read;
and the reward files under `examples/`."""

from __future__ import annotations

import logging
import pickle
import re
import runpy
from pathlib import Path
from typing import Any, Final

import pytest
from contract_records import gold
from processes import python

import relfast
from relfast import rewards
from relfast.cli.machine import PLACES
from relfast.engine.calls import unscored
from relfast.engine.calls.scorer import Scorer
from relfast.engine.calls.unscored import Formless
from relfast.errors import RelfastError, UnknownTaskError, UsageError
from relfast.rewards import nemo_rl, trl, verl
from relfast.rewards.openrlhf import make_reward as make_openrlhf
from relfast.rewards.trl import make_reward
from relfast.rewards.verl import make_compute_score
from relfast.tasks.base import MAX_SAID

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"

# a first call, and what is wrong with it: said, with its cause, where one looks


@pytest.fixture(autouse=True)
def nothing_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unscored, "_told", set())


def logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records if record.levelno == logging.WARNING]


def test_a_column_that_no_row_has_raises_and_names_those_that_are_there() -> None:
    with pytest.raises(UsageError, match=r"no column 'answer'.* 'task', 'gold': rename it.*answer_column"):
        make_reward()(completions=["<Yes>"] * 8, task=["REL-C1"] * 8, gold=[{"label": "Yes"}] * 8)
    reward = make_reward(answer_column="gold")
    assert reward(completions=["<Yes>"] * 8, task=["REL-C1"] * 8, gold=[{"label": "Yes"}] * 8) == [1.0] * 8


@pytest.mark.parametrize(
    ("task", "gold", "cause"),
    [
        ("REL-Z9", {"colour": "red"}, "unknown task 'REL-Z9'"),
        ("REL-C1", '{"label": "Ye', "answer"),
        ("REL-C1", {"lable": "Yes"}, "label"),
        (None, None, "task cannot be inferred"),
    ],
)
def test_a_row_without_a_score_says_why(
    task: Any, gold: Any, cause: str, caplog: pytest.LogCaptureFixture
) -> None:
    columns: dict[str, list[Any]] = {}
    batch = {"task": ["REL-C1", task, task], "answer": [{"label": "Yes"}, gold, gold]}
    for _ in range(3):
        given = make_reward()(
            completions=["<Yes>"] * 3, log_extra=lambda name, column: columns.update({name: column}), **batch
        )
        assert given == [1.0, None, None]
    (line,) = logged(caplog)
    assert cause in line
    assert "response 1 of a call" in line
    assert repr(gold)[:20] in line
    reasons = columns["relfast_reason"]
    assert reasons[0] == ""
    assert cause in reasons[1]
    said = make_compute_score(on_error=0.0)(task, "<Yes>", gold)
    assert cause in said["reason"]
    assert said.keys() == make_compute_score()("REL-C1", "<Yes>", {"label": "Yes"}).keys()


def test_other_trainers_log_it_too(caplog: pytest.LogCaptureFixture) -> None:
    made = make_openrlhf(on_error=0.0)(["q <Yes>"], ["q "], ['{"label": "Ye'])
    assert made["rewards"] == [0.0]
    assert len(logged(caplog)) == 1


@pytest.mark.parametrize(
    "place", [PLACES["verl"](), EXAMPLES / "verl_reward.py"], ids=lambda place: place.name
)
def test_files_for_verl(place: Path) -> None:
    """Loaded as verl does it: by its place, under a name of its own."""
    compute_score = runpy.run_path(str(place), run_name="custom_module")["compute_score"]
    row = {"data_source": "REL-C3", "solution_str": "<smiles>CCO</smiles>"}
    good = compute_score(**row, ground_truth='{"missing_smiles": ["CCO", "COC"]}', extra_info={})
    bad = compute_score(**row, ground_truth="{}", extra_info=None)
    assert 0 < good["score"] < 1
    assert (bad["score"], bad["unscored"]) == (0.0 if place.parent == EXAMPLES else None, 1.0)
    assert good.keys() == bad.keys()


# how many of the first responses had no final answer in a documented form


FIRST = Formless.FIRST
GOLD = {"target": 3}
SILENT, RIGHT, TWO = "I would rather not say.", "The answer is 4.", "Answer: 4 or 6"


def heard(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if "documented form" in record.getMessage()]


def compute(function: verl.ComputeScore, response: str) -> Any:
    return function("REL-A1", response, GOLD, {"question": "Which?"})


def test_a_batch_is_told_of_when_it_is_scored(caplog: pytest.LogCaptureFixture) -> None:
    responses = [SILENT] * 9 + [TWO] * 3 + [RIGHT] * (FIRST - 12)
    columns: dict[str, Any] = {"task": ["REL-A1"] * FIRST, "answer": [GOLD] * FIRST}
    extra: dict[str, list[Any]] = {}
    reward = trl.make_reward()
    for _ in range(2):
        reward(["Which?"] * FIRST, responses, log_extra=extra.__setitem__, **columns)
    (message,) = heard(caplog)
    assert message == (
        f"relfast: 12 of {FIRST} responses had no final answer in a documented form (no_answer 9,"
        " several_answers 3): docs/strict.md. Looked for: REL-A1: a box, a tag, a label or a line with 1 to 8"
    )
    assert extra["relfast_reason"] == ["no_answer"] * 9 + ["several_answers"] * 3 + [""] * (FIRST - 12)


def test_calls_of_one_sample_count_together(caplog: pytest.LogCaptureFixture) -> None:
    function = pickle.loads(pickle.dumps(verl.make_compute_score(on_error=0.0)))
    for at in range(FIRST - 1):
        compute(function, SILENT if at % 2 else RIGHT)
    function("REL-A1", RIGHT, {"target": "no gold"}, {})  # unscored: says nothing of a form
    assert not heard(caplog)
    compute(function, SILENT)
    compute(function, SILENT)
    (message,) = heard(caplog)
    assert message.startswith(f"relfast: {FIRST // 2} of {FIRST} responses")


def test_nothing_to_say(caplog: pytest.LogCaptureFixture) -> None:
    """Where all have answered, and under the reference policy, which reads no forms."""
    caplog.set_level(logging.DEBUG, "relfast")
    answered, reference = verl.make_compute_score(), verl.make_compute_score(policy="reference")
    for _ in range(FIRST + 1):
        compute(answered, RIGHT)
        compute(reference, SILENT)
    compute(answered, SILENT)
    assert not heard(caplog)


# `pred`: the answer that was read, as text; from workers and kernels alike


ISOMERS: Final = {"missing_smiles": ["CCO", "COC"]}
QUESTION: Final = "Which of taxon_1 and taxon_2?"
MOTIF: Final = {"smiles": "CCO"}

CASES: Final[list[tuple[str, Any, str, str | None]]] = [
    ("REL-A1", {"target": 3}, "Row by row it grows. Answer: 4", "4"),
    ("REL-A1", {"target": 3}, "I cannot tell.", None),
    ("REL-B1", {"label": "yes", "taxa": ["1", "2"]}, "Yes: taxon_2, taxon_1", "yes: 1, 2"),
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


def test_verls_key_is_todays_wherever_it_is_named() -> None:
    """verl 0.9 silently ignores the key without ``reward.``."""
    root = EXAMPLES.parent
    files = [root / "README.md", *EXAMPLES.glob("*.py"), *(root / "relfast" / "rewards").glob("*.py")]
    named = [re.findall(r"([\w.]*)custom_reward_function\.path", path.read_text("utf-8")) for path in files]
    prefixes = {prefix for found in named for prefix in found}
    assert prefixes == {"reward."}


def test_openrlhf_file() -> None:
    function = runpy.run_path(str(EXAMPLES / "openrlhf_reward.py"))["reward_func"]
    given = function(["q <Yes>", "q"], ["q", "q"], ['{"label": "Yes"}', "{}"])
    assert list(given["rewards"]) == [1.0, 0.0]
    rewards.close()


# what takes long at first can be had before


def test_prepare_leaves_nothing_to_the_first_reward() -> None:
    """Modules, machine code and workers are there; nothing is counted."""
    code = (
        "import sys\n"
        "from relfast import rewards\n"
        "from relfast.rewards import trl\n"
        "took = rewards.prepare('REL-A1', 'REL-C2', 'SeqBench')\n"
        "assert list(took) == ['REL-A1', 'REL-C2', 'SeqBench']\n"
        "before = rewards.stats()\n"
        "assert before['workers'] == 1\n"
        "assert not any(before[status] for status in ('ok', 'no_answer', 'invalid_record', 'crashed'))\n"
        "loaded = {name for name in sys.modules if name.startswith('relfast.')}\n"
        "gold = [{'target': 3}, {'smiles': 'CCO'}, {'smiles': 'CCCC[Te]'}]\n"
        "said = ['Answer: 4', '<smiles>OCC</smiles>', '<smiles>CCN</smiles>']\n"
        "assert trl.reward(completions=said, answer=gold) == [1.0, 1.0, 0.0]\n"
        "assert rewards.stats()['workers'] == 1\n"
        "print(sorted({name for name in sys.modules if name.startswith('relfast.')} - loaded))\n"
    )
    assert python("-c", code, check=True).stdout.split("\n")[0] == "[]"


def test_prepare_says_what_cannot_be_scored(
    monkeypatch: pytest.MonkeyPatch, caplog: Any, tmp_path: Path
) -> None:
    with pytest.raises(UnknownTaskError, match="REL-Z9"):
        rewards.prepare("REL-Z9")
    with pytest.raises(UsageError, match="polcy"):
        rewards.prepare("REL-A1", polcy="strict")  # type: ignore[call-arg]
    nowhere: Any = {"embedder": str(tmp_path), "workers": 0}
    with pytest.raises(RelfastError):
        rewards.prepare("ReAlign", **nowhere)
    assert "ReAlign" not in rewards.prepare(**nowhere)
    assert "ReAlign cannot be scored here" in caplog.text
    assert trl.make_reward(**nowhere).prepare("REL-A1").keys() == {"REL-A1"}
