"""Every record has a deadline of its own, whatever it is scored with and wherever."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from engine_runs import rows_of, statuses, write_dump
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tiny_bert import make_checkpoint

import relfast
from relfast.embed.adding import add
from relfast.embed.cache import MemoryCache
from relfast.embed.embedder import get_embedder
from relfast.embed.session import Session
from relfast.engine.columns.kernel_scoring import MAX_CHARS
from relfast.engine.columns.scoring import Scoring
from relfast.engine.job import Job
from relfast.records import Score
from relfast.support.deadlines import Deadlines, WorkingClock
from relfast.tasks import AllOptions
from relfast.tasks.realign import verify

GOLD = {"benchmark_solution": "First 2 + 2 = 4.\nThen 4 + 1 = 5.\nSo \\boxed{5}."}
SECONDS_PER_TOKEN = 0.001


class Clock:
    """Stands still but for the model: a token takes a millisecond."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A model's folder. Kernels are in the cache that is there: they take long to compile."""
    home = tmp_path_factory.mktemp("deadlines")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RELFAST_CACHE_DIR", str(home / "cache"))
        model = add(str(make_checkpoint(home / "checkpoint", pooling="mean")), "tiny")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RELFAST_EMBED_THREADS", "1")
        patch.delenv("RELFAST_EMBED_CACHE", raising=False)
        yield model.path


@pytest.fixture
def clock(tiny: str, monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock, run = Clock(), Session.run

    def timed(self: Session, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        clock.seconds += ids.size * SECONDS_PER_TOKEN
        return run(self, ids)

    monkeypatch.setattr(Session, "run", timed)
    return clock


def records_of(responses: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {"id": at, "task": "ReAlign", "answer": GOLD, "response": text} for at, text in enumerate(responses)
    ]


def scored(
    tiny: str, responses: Sequence[str], clock: Callable[[], float], timeout: float = 2.0, **more: Any
) -> list[Score]:
    """The scores of one batch, embedded anew."""
    embedder = get_embedder(tiny)
    embedder._memory = MemoryCache(embedder.model.dimensions)
    job = Job(options=AllOptions(embedder=tiny), timeout=timeout)
    scoring = Scoring(job, clock=clock, **more)
    entries = [
        entry for at, row in enumerate(records_of(responses)) for entry in scoring.records_of_row(row, at)
    ]
    return list(scoring.scores(entries))


def lines(n: int, words: int = 30) -> str:
    return "\n".join(f"the step {k} is " + "equal to " * (words // 2) for k in range(n))


def test_a_step_is_charged_to_its_record() -> None:
    clock = Clock()
    deadlines = Deadlines(3, 4.0, clock=clock)
    with deadlines.step(1):
        clock.seconds += 3.0
    assert [deadlines.left(k) for k in range(3)] == [4.0, 1.0, 4.0]
    deadlines.charge(1, 1.5)
    assert [deadlines.passed(k) for k in range(3)] == [False, True, False]
    assert deadlines.left(1) == 0.0
    endless = Deadlines(1, clock=clock)
    endless.charge(0, 1e9)
    assert (endless.passed(0), endless.left(0)) == (False, float("inf"))


@given(
    sizes=st.lists(st.tuples(st.integers(1, 40), st.integers(2, 40)), min_size=1, max_size=8),
    timeout=st.integers(1, 40).map(lambda tenths: tenths / 10 + 0.00005),
)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_company_decides_nothing(
    tiny: str, clock: Clock, sizes: list[tuple[int, int]], timeout: float
) -> None:
    # some steps are said by several, and some records are equal
    responses = [lines(*size) for size in sizes]
    alone = [score for text in responses for score in scored(tiny, [text], clock, timeout)]
    together = scored(tiny, responses, clock, timeout)
    assert [score.status for score in together] == [score.status for score in alone]
    assert [score.metrics for score in together] == [score.metrics for score in alone]


@pytest.mark.slow
def test_loading_and_waiting_are_nobodys_time(
    tiny: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(name: str, device: str) -> Any:
        clock.seconds += 1000.0
        return get_embedder(name, device)

    monkeypatch.setattr("relfast.embed.embedder.get_embedder", slow)
    assert [score.status for score in scored(tiny, ["2 + 2 = 4", "so it is 5"], clock)] == ["ok", "ok"]


def test_many_threads_and_a_long_response(tiny: str, clock: Clock) -> None:
    with relfast.Scorer(timeout=2.0, embedder=tiny, workers=0) as scorer:
        scorer._scoring.clock = clock
        texts = [f"{k} + 2 = 4\nso it is {k}" for k in range(12)]
        texts.insert(5, lines(300))
        barrier = threading.Barrier(len(texts))
        ends = [""] * len(texts)

        def call(at: int) -> None:
            barrier.wait()
            ends[at] = scorer.score_one("ReAlign", GOLD, texts[at]).status

        with ThreadPoolExecutor(len(texts)) as pool:
            list(pool.map(call, range(len(texts))))
    assert ends == ["ok"] * 5 + ["timeout"] + ["ok"] * 7


HANGS = """
import sys, threading
sys.path.remove({directory!r})
del sys.modules["onnxruntime"]
import onnxruntime
run = onnxruntime.InferenceSession.run

def hangs(self, names, feeds):
    if feeds["input_ids"].shape[1] == 40:
        threading.Event().wait()
    return run(self, names, feeds)

onnxruntime.InferenceSession.run = hangs
"""
# found by workers before the real runtime: a text of 40 tokens is never embedded


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_a_model_that_hangs_costs_its_record_only(
    tiny: str, workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import onnxruntime  # noqa: F401 - the real one, here

    runtime = tmp_path / "runtime"
    runtime.mkdir()
    (runtime / "onnxruntime.py").write_text(HANGS.format(directory=str(runtime)))
    monkeypatch.syspath_prepend(str(runtime))
    responses = [f"{k} + 2 = 4\nso it is {k}" for k in range(12)]
    responses[7] = " ".join(["the"] * 38)  # and two tokens around it
    dump = write_dump(tmp_path / "dump.jsonl", records_of(responses))
    expected = relfast.score(records_of(responses), embedder=tiny, workers=0)
    relfast.score_file(dump, tmp_path / "rows.jsonl", embedder=tiny, timeout=1.0, workers=workers)
    rows = rows_of(tmp_path / "rows.jsonl")
    assert (rows[7]["status"], rows[7]["reward"]) == ("timeout", None)
    others = [k for k in range(12) if k != 7]
    assert [rows[k] for k in others] == [expected[k].to_row() for k in others]


def test_an_answer_in_dispute_has_the_time_of_its_record(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []

    def ask(child: None, question: tuple[str, str], seconds: float) -> bool | None:
        asked.append(seconds)
        clock.seconds += seconds
        return True if seconds == verify.SECONDS_PER_ANSWER else None

    module = ModuleType("math_verify")
    module.__spec__ = ModuleSpec("math_verify", None)
    monkeypatch.setitem(sys.modules, "math_verify", module)
    monkeypatch.setattr(verify, "_child", lambda: None)
    monkeypatch.setattr(verify, "_ask", ask)
    deadlines = Deadlines(4, 10.0, clock=clock)
    deadlines.charge(0, 9.0)
    # the first has a second left and the others are not to pay for that, nor is it lost by asking
    pair = ("1", "2")
    assert verify.verify_answers([pair, pair, None, pair], deadlines) == [None, True, None, True]
    assert asked == pytest.approx([0.8, 5.0])
    assert not deadlines.passed(0)


def test_a_clock_leaves_out_what_it_did_not_work() -> None:
    now = worked = 0.0
    clock = WorkingClock(lambda: now, lambda: worked)

    def after(seconds: float, work: float) -> float:
        nonlocal now, worked
        before = clock()
        now, worked = now + seconds, worked + work
        return clock() - before

    assert after(0.5, 0.0) == 0.5
    assert after(5.0, 5.0) == 5.0
    assert after(5.0, 20.0) == 5.0  # several threads
    assert after(5.0, 0.6) == 5.0
    assert after(5.0, 0.4) == 0.0  # stopped, or starved
    assert after(3_600.0, 0.1) == 0.0
    assert after(2.0, 2.0) == 2.0


# texts and mazes: responses of megabytes, alone and in company


def test_a_response_of_megabytes_is_scored_by_a_worker() -> None:
    long = "Answer 2. " + "so " * (MAX_CHARS // 3)
    maze = {"actions": "[('start', 'A1'), ('move_to', 'A2')]"}
    rows = [
        {"task": "REL-A1", "answer": {"target": 1}, "response": long},
        {"task": "SeqBench", "answer": maze, "question": "no maze", "response": long + maze["actions"]},
        {"task": "REL-C2", "answer": {"smiles": "CCO"}, "response": long + "<smiles>OCC</smiles>"},
    ]
    here = relfast.score(rows, workers=0)
    assert [score.correct for score in here] == [True] * 3
    with relfast.Scorer(workers=1) as scorer:
        assert [score.to_row() for score in scorer.score(rows)] == [score.to_row() for score in here]
        assert scorer.stats()["workers"] == 1
    # no response of a megabyte is read in a tenth of a millisecond, but reading it ends by itself
    with relfast.Scorer(workers=1, timeout=1e-4) as scorer:
        batch = scorer.score_batch("REL-A1", [{"target": 1}] * 3, ["Answer 2", long, "Answer 3"])
        assert batch.status.tolist() == ["ok"] * 3
        assert [score.status for score in scorer.score(rows[:2])] == ["ok"] * 2


def test_a_text_that_takes_long_in_a_file(tmp_path: Path) -> None:
    row = {"task": "REL-B1", "answer": {"label": "yes", "taxa": [1]}}
    # two seconds of taxa, for a digit that is no kernel's: that they end is certain, no deadline runs
    responses = ["Yes: taxon_1", "Yes: \u0663 " + "1 2 3 4 5 6 7 8 9 " * 850_000, *["No"] * 41]
    dump = write_dump(tmp_path / "dump.jsonl", [{**row, "response": text} for text in responses])
    relfast.score_file(dump, tmp_path / "rows.jsonl", timeout=0.5, workers=1, details=True)
    assert statuses(tmp_path / "rows.jsonl") == ["ok"] * 43
