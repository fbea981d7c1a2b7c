"""Texts and mazes have deadlines too: responses of megabytes, alone and in company."""

from __future__ import annotations

import json
from pathlib import Path

import relfast
from relfast.engine.job import Job
from relfast.engine.judged_texts import MAX_CHARS
from relfast.engine.scoring import LOAD_SECONDS, NoGuard, Place, Scoring


class Watch(NoGuard):
    def __init__(self) -> None:
        self.entered: list[tuple[Place | None, float]] = []

    def enter(self, place: Place | None, seconds: float, *, limited: bool = True) -> None:
        self.entered.append((place, seconds))


def test_the_guard_of_texts() -> None:
    guard = Watch()
    scoring = Scoring(Job(timeout=3.0), guard=guard)
    row = {"task": "REL-A1", "answer": {"target": 1}, "response": "Answer 2"}
    entries = [scoring.row(row, at)[0] for at in range(3)]
    assert [score.status for score in scoring.entries(entries)] == ["ok"] * 3
    assert [score.status for score in scoring.entries(entries[:1])] == ["ok"]
    # together they have the time of one, which then each has again
    assert guard.entered == [(None, LOAD_SECONDS), (None, 3.0), ((0, 0), 3.0)]


def test_a_response_of_megabytes_is_scored_by_a_worker() -> None:
    long = "Answer 2. " + "so " * (MAX_CHARS // 3)
    maze = {"actions": "[('start', 'A1'), ('move_to', 'A2')]"}
    rows = [
        {"id": 1, "task": "REL-A1", "answer": {"target": 1}, "response": long},
        {
            "id": 2,
            "task": "SeqBench",
            "answer": maze,
            "question": "no maze",
            "response": long + maze["actions"],
        },
        {"id": 3, "task": "REL-C2", "answer": {"smiles": "CCO"}, "response": long + "<smiles>OCC</smiles>"},
    ]
    here = relfast.score(rows, workers=0)
    assert [score.correct for score in here] == [True] * 3
    with relfast.Scorer(workers=1) as scorer:
        assert [score.to_row() for score in scorer.score(rows)] == [score.to_row() for score in here]
        assert scorer.stats()["workers"] == 1
    # no response of a megabyte is read in a tenth of a millisecond
    with relfast.Scorer(workers=1, timeout=1e-4) as scorer:
        batch = scorer.score_batch("REL-A1", [{"target": 1}] * 3, ["Answer 2", long, "Answer 3"])
        assert batch.status.tolist() == ["ok", "timeout", "ok"]
        assert scorer.score_one("REL-A1", {"target": 1}, long).status == "timeout"


def test_a_text_that_takes_long_in_a_file(tmp_path: Path) -> None:
    row = {"task": "REL-B1", "answer": {"label": "yes", "taxa": [1]}}
    # two seconds of taxa, which are not to be had in half a second (for a digit that is no kernel's)
    responses = ["Yes: taxon_1", "Yes: \u0663 " + "1 2 3 4 5 6 7 8 9 " * 850_000, "No"] + [
        "Yes: taxon_2"
    ] * 40
    dump = tmp_path / "dump.jsonl"
    dump.write_text("".join(json.dumps({**row, "response": text}) + "\n" for text in responses))
    relfast.score_file(dump, tmp_path / "rows.jsonl", timeout=0.5, workers=1, details=True)
    statuses = [json.loads(line)["status"] for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert statuses == ["ok", "timeout"] + ["ok"] * 41
