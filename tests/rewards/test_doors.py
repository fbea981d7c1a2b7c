"""One reading for all doors: a response with its record is worth the same wherever it comes in, and what has no score too."""

from __future__ import annotations

import dataclasses
import json
import random
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pytest
from contract_records import REALIGN, SEQBENCH, gold
from corpora import DATA, solutions
from live_server import Live, live_server
from reward_cases import HANG
from reward_doors import DOORS, SINGLE, columns, labels, queries
from tiny_bert import make_checkpoint

import relfast
from relfast import rewards
from relfast.embed.adding import add
from relfast.engine.calls.isolated_scoring import IsolatedScoring
from relfast.engine.columns.kernel_scoring import KernelScoring
from relfast.errors import UnscoredError, UsageError
from relfast.records import fault_of, timed_out_verdict
from relfast.rewards import openrlhf, trl, verl
from relfast.tasks import TASKS

Options = dict[str, Any]

RECORDS_EACH = 3
TRICKS_EACH = 9
THOUGHT = "<think>\nAnswer 3? No. Yes! <Yes> <No> <smiles>C</smiles> taxon_1\n</think>\n"


class Case(NamedTuple):
    """A record with a response to it."""

    record: dict[str, Any]
    response: str

    @property
    def row(self) -> tuple[Any, Any, Any, Any]:
        return self.record["task"], self.record["answer"], self.response, self.record["question"]


def _tricks(task: str) -> list[str]:
    """What the tables of `strict` have of a task, decided cases and exploits: their words stay as they stand."""
    table = DATA / "strict" / f"{task.lower().replace('-', '_')}.toml"
    texts = list(tomllib.loads((DATA / "strict" / "decided.toml").read_text("utf-8")).get(task, ()))
    if table.exists():
        groups = tomllib.loads(table.read_text("utf-8"))
        texts += [text for group in groups["attack"] for text in group["texts"]]
    return texts


def _cases() -> list[Case]:
    rng = random.Random("doors")
    cases = []
    for task in ("REL-A1", "REL-A2", "REL-A3", "REL-A4", "REL-B1", "REL-C1", "REL-C2", "REL-C3"):
        tricks = _tricks("REL-A1" if task.startswith("REL-A") else task)
        for record, right in gold(task)[:RECORDS_EACH]:
            texts = [right, f"{THOUGHT}{right}", f"Row 3 of 8 decides.\n\n{right}", f"{right}<|im_end|>"]
            texts += [f"{record['question']}\n{right}", *rng.sample(tricks, TRICKS_EACH)]
            cases += [Case(record, text) for text in texts]
    plan = SEQBENCH["answer"]["actions"]
    for text in (json.dumps(plan), json.dumps(plan[:3]), f"1. {plan[0]}", "[]", SEQBENCH["question"]):
        cases.append(Case(SEQBENCH, text))
    solved = [row["llm_solution"] for row in solutions()[:3]]
    for text in (REALIGN["answer"]["benchmark_solution"], REALIGN["question"], "5", *solved):
        cases.append(Case(REALIGN, text))
    return cases


CASES = _cases()


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Options]:
    """Those of all doors: no score depends on what the tiny model thinks."""
    home = tmp_path_factory.mktemp("doors")
    with pytest.MonkeyPatch.context() as patch:
        # the model alone: compiled kernels stay where they are
        patch.setenv("RELFAST_CACHE_DIR", str(home / "cache"))
        model = add(str(make_checkpoint(home / "checkpoint", pooling="mean")), "tiny")
    yield {"embedder": model.path, "on_error": -5.0}
    rewards.close()


@pytest.fixture(scope="module")
def alone(options: Options) -> list[float | None]:
    with relfast.Scorer(policy="strict", workers=2, **options) as scorer:
        return [scorer.reward(*case.row) for case in CASES]


def _same(given: Any, expected: list[Any], bits: float = 0.0) -> None:
    """Exactly, but for the last bits of what is embedded in a batch, and the single precision of tensors."""
    wrong = [
        (case.record["task"], mine, theirs, case.response[:80])
        for case, mine, theirs in zip(CASES, given, expected, strict=True)
        if abs(mine - theirs) > (1e-5 if case.record["task"] == "ReAlign" else bits)
    ]
    assert not wrong


def test_there_is_something_to_tell_apart(alone: list[float | None]) -> None:
    assert len(CASES) > 250
    assert -5.0 not in alone
    assert {type(reward) for reward in alone} == {float}
    for task in {case.record["task"] for case in CASES} - {"ReAlign"}:
        mine = [reward for case, reward in zip(CASES, alone, strict=True) if case.record["task"] == task]
        assert {0.0, 1.0} <= set(mine), task


ROWS = [case.row for case in CASES]
NAMES, ANSWERS, RESPONSES, QUESTIONS = columns(ROWS)


@pytest.mark.parametrize("name", DOORS)
def test_adapters(name: str, alone: list[float | None], options: Options) -> None:
    _same(DOORS[name](ROWS, **options), alone, bits=1e-6 if name.startswith(SINGLE) else 0.0)


@pytest.mark.parametrize("workers", [0, 2])
def test_batches(workers: int, alone: list[float | None], options: Options) -> None:
    with relfast.Scorer(policy="strict", workers=workers, **options) as scorer:
        _same(scorer.rewards(NAMES, ANSWERS, RESPONSES, questions=QUESTIONS), alone)
        _same([s.reward for s in scorer.score([{**c.record, "response": c.response} for c in CASES])], alone)


def test_files(alone: list[float | None], options: Options, tmp_path: Path) -> None:
    model = options["embedder"]
    dump, out = tmp_path / "dump.jsonl", tmp_path / "rows.jsonl"
    dump.write_bytes(
        b"".join(orjson.dumps({**case.record, "response": case.response}) + b"\n" for case in CASES)
    )
    for workers in (0, 2):
        relfast.score_file(dump, out, policy="strict", embedder=model, workers=workers, overwrite=True)
        _same([orjson.loads(line)["reward"] for line in out.read_bytes().splitlines()], alone)


@pytest.fixture(scope="module")
def live(options: Options) -> Iterator[Live]:
    with live_server("--embedder", options["embedder"], "--on-error", "-5") as server:
        yield server
        assert server.stop() == 0


def test_http(live: Live, alone: list[float | None]) -> None:
    """Rows, slime's way to ask, and OpenRLHF's, with prompts and without."""

    def ask(path: str, **body: Any) -> Any:
        status, answer = live.ask(path, body)
        assert status == 200
        return answer

    rows = ask("/score", records=[{**case.record, "response": case.response} for case in CASES])["rows"]
    _same([row["reward"] for row in rows], alone)
    labelled = [({"task": task, "answer": answer}, text, question) for task, answer, text, question in ROWS]
    _same([ask("/get_reward", label=about, response=text, prompt=q) for about, text, q in labelled], alone)
    sent, wrapped = queries(ROWS, "chatml")
    for more in ({"prompts": wrapped}, {}):
        asked = {"query": sent, "labels": labels(ROWS, with_question=not more), **more}
        _same(ask("/get_reward", **asked)["rewards"], alone)


# what is worth what that has no score: hanging does not pay, and what the machine did costs nothing


LATE = timed_out_verdict(0.5)
DEAD = ("crashed", "WorkerDied", "it ended its worker 2 times (killed by SIGSEGV)")
BROKEN = ("crashed", "WorkerError", "no workers")
INTERRUPTED = ("crashed", "Interrupted", "its caller was interrupted")
STOPPED = ("timeout", "Stopped", "the machine was busy")
BAD_GOLD = ("invalid_record", "InvalidGold", "no smiles")
OF_RESPONSES, OF_MACHINES = (LATE, DEAD), (BROKEN, INTERRUPTED, STOPPED)

GOLD = {"smiles": "CCO"}
TEXT = "<smiles>CCCCN</smiles>"


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Have whatever goes to workers end in a verdict, so that each kind of end can be looked at."""

    def judge(verdict: Any) -> None:
        def submit(self: IsolatedScoring, pending: Any) -> None:
            for each in pending:
                broken = each.record.answer.get("smiles") is None
                each.set_unscored(*(BAD_GOLD if broken else verdict))

        monkeypatch.setattr(IsolatedScoring, "submit", submit)
        # what an earlier test has begun and not waited for may end in the scorers that it shared
        monkeypatch.setattr("relfast.engine.calls.scorer._scorers", {})
        # scorers that adapters share keep the short way that they have found
        monkeypatch.setattr(KernelScoring, "of", lambda self, name: None)

    return judge


@pytest.mark.parametrize("verdict", OF_RESPONSES + OF_MACHINES, ids=lambda verdict: verdict[1])
@pytest.mark.parametrize(
    ("policy", "on_error", "response", "machinery"),
    [
        ("strict", None, 0.0, None),
        ("strict", -1, 0.0, -1.0),
        ("strict", "raise", 0.0, "raise"),
        ("strict", {"machinery": -1}, 0.0, -1.0),
        ("strict", {"response": -2}, -2.0, None),
        ("strict", {"response": None}, None, None),
        ("strict", {"response": "raise", "machinery": 0.5}, "raise", 0.5),
        ("strict", {}, 0.0, None),
        ("reference", None, None, None),
        ("reference", -1, -1.0, -1.0),
        ("reference", "raise", "raise", "raise"),
        ("reference", {"machinery": -1}, -1.0, -1.0),
        ("reference", {"response": -2}, -2.0, None),
    ],
)
def test_by_whose_fault_it_is(
    judge: Any, verdict: Any, policy: Any, on_error: Any, response: Any, machinery: Any
) -> None:
    judge(verdict)
    expected = response if verdict in OF_RESPONSES else machinery
    with relfast.Scorer(policy=policy, on_error=on_error, workers=1) as scorer:
        score = scorer.score_one("REL-C2", GOLD, TEXT)
        # the row is what it was: a file is no training loop
        assert (score.status, score.correct, score.reward) == (verdict[0], None, None)
        assert fault_of(score) == ("response" if verdict in OF_RESPONSES else "machinery")
        if expected == "raise":
            with pytest.raises(UnscoredError):
                scorer.reward("REL-C2", GOLD, TEXT)
            with pytest.raises(UnscoredError):
                scorer.rewards("REL-C2", [GOLD], [TEXT])
        else:
            assert scorer.reward("REL-C2", GOLD, TEXT) == expected
            assert scorer.rewards("REL-C2", [GOLD], [TEXT]) == [expected]
    function = trl.make_reward(policy=policy, on_error=on_error, name="other")
    if expected != "raise":
        assert function(completions=[TEXT], answer=[GOLD], task=["REL-C2"]) == [expected]


@pytest.mark.parametrize(
    "on_error", ["zero", [0], {"respnse": 0}, {"response": "zero"}, {"machinery": [1]}, {1: 0}, float("nan")]
)
def test_what_cannot_be_meant(on_error: Any) -> None:
    for make in (relfast.Scorer, trl.make_reward, verl.make_compute_score, openrlhf.make_reward):
        with pytest.raises(UsageError, match="on_error"):
            make(on_error=on_error)


def test_a_task_has_a_lowest_reward_of_its_own(judge: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    judge(LATE)
    lower = dataclasses.replace(TASKS["REL-C2"], lowest_reward=-1.0)
    monkeypatch.setattr("relfast.engine.calls.unscored.find_task", lambda name: lower)
    with relfast.Scorer(policy="strict", workers=1) as scorer:
        assert scorer.reward("REL-C2", GOLD, TEXT) == -1.0


ONE_OF_EACH = [door for door in DOORS if not door.startswith("openrlhf") or "chatml" in door]


@pytest.mark.parametrize("verdict", OF_RESPONSES, ids=lambda verdict: verdict[1])
@pytest.mark.parametrize("door", ONE_OF_EACH)
def test_hanging_pays_nothing_at_any_door(judge: Any, door: str, verdict: Any) -> None:
    judge(verdict)

    def reward(gold: Any, on_error: Any) -> Any:
        (value,) = DOORS[door]([("REL-C2", gold, TEXT, "q")], on_error=on_error)
        return value

    broken = {"smiles": None, "x": 1}
    for on_error in (None, 0.75, "raise", {"machinery": 0.75}):
        if not (door.startswith("openrlhf") and on_error == "raise"):
            assert reward(GOLD, on_error) == 0.0
    assert reward(GOLD, {"response": -1.0}) == -1.0
    # broken gold is the data's fault
    assert reward(broken, 0.75) == 0.75
    if not door.startswith("openrlhf"):
        with pytest.raises(UnscoredError):
            reward(broken, "raise")


@pytest.mark.parametrize(("verdict", "on_error", "reward"), [(LATE, None, 0.0), (BROKEN, 0.5, 0.5)])
def test_openrlhf_counts_it_as_wrong(judge: Any, verdict: Any, on_error: Any, reward: float) -> None:
    judge(verdict)
    label = json.dumps({"task": "REL-C2", "answer": GOLD})
    given = openrlhf.make_reward(on_error=on_error)(["q" + TEXT], ["q"], [label])
    assert (float(given["rewards"][0]), float(given["scores"][0])) == (reward, 0.0)


@pytest.mark.slow
def test_over_http() -> None:
    # long enough for a busy machine to give the worker its tenth of a processor: less is the machine's fault
    label = {"task": "REL-C2", "answer": HANG[0]}
    bad = {"task": "REL-C2", "answer": {"smiles": None, "x": 1}}
    values = ("--on-error", "response=-1", "--on-error", "machinery=-2")
    with live_server("--timeout", "1.5", *values) as server:
        asked = {"prompt": "q", "response": HANG[1]}
        assert server.ask("/get_reward", {**asked, "label": label}) == (200, -1.0)
        assert server.ask("/get_reward", {**asked, "label": bad}) == (200, -2.0)
        body = {"query": ["q" + HANG[1], "q"], "prompts": ["q", "q"], "labels": [label, bad]}
        status, answer = server.ask("/get_reward", body)
        assert (status, answer["rewards"]) == (200, [-1.0, -2.0])
        status, answer = server.ask("/get_reward", {"query": ["q" + TEXT], "labels": [bad]})
        assert status == 422
        assert "pass prompts" in answer["detail"]
