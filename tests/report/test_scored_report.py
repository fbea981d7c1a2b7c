"""`relfast report` on scored rows: several tasks, several files, samples, summaries."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from relfast.cli.main import main
from relfast.errors import InputError
from relfast.report.scored import generate_report, read_scored


def row(
    index: int, task: str | None, correct: bool | None, reward: float | None, **metrics: Any
) -> dict[str, Any]:
    status = metrics.pop("status", "ok")
    return {
        "index": index,
        "id": f"p{index // 4}",
        "task": task,
        "sample": index % 4,
        "status": status,
        "correct": correct,
        "reward": reward,
        "metrics": metrics,
        "error": None if correct is not None else {"type": "T", "message": "m"},
    }


ROWS = [
    *(row(n, "REL-A1", n % 3 == 0, float(n % 3 == 0)) for n in range(40)),
    *(row(n, "REL-C3", n % 2 == 0, n % 5 / 4, tp=n % 5, fp=1, precision=0.5) for n in range(40, 80)),
    *(
        row(
            n, "ReAlign", n % 2 == 0, n / 160, alignment_score=n / 160, weighted_score=n / 320, coverage=0.5,
            symbolic_correct=False, first_divergence=None if n % 4 == 0 else n % 7 + 1,
            quadrant="robust" if n % 2 == 0 else "failure", n_benchmark_steps=3, n_llm_steps=4, n_matches=2,
        )
        for n in range(80, 160)
    ),
    row(160, "REL-A1", None, None, status="invalid_record"),
    row(161, None, None, None, status="invalid_record"),
    row(162, "REL-C3", None, None, status="timeout"),
]  # fmt: skip


def write(path: Path, rows: Sequence[Any]) -> Path:
    text = "".join(f"{json.dumps(item)}\n" for item in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def test_everything_is_drawn_and_tabled(tmp_path: Path) -> None:
    one, two = write(tmp_path / "a.scored.jsonl", ROWS[:90]), write(tmp_path / "b.scored.jsonl.gz", ROWS[90:])
    made = generate_report([str(one), str(two)], tmp_path / "report")
    assert [path.name for path in made.files] == [
        "accuracy_by_task.png",
        "reward_distribution.png",
        "status_by_task.png",
        "samples.png",
        "quadrant_by_task.png",
        "alignment_distribution.png",
        "quadrant_analysis.png",
        "divergence_step_distribution.png",
        "summary_stats.csv",
        "metrics.csv",
        "latex_table.txt",
        "index.html",
    ]
    lines = (tmp_path / "report" / "summary_stats.csv").read_text().splitlines()
    assert lines[0].startswith("task,records,prompts,correct,standard_error,reward,parsed,ok,")
    assert lines[1].split(",")[:4] == ["REL-A1", "41", "10", "0.35"]
    assert [line.split(",")[0] for line in lines[1:]] == ["REL-A1", "REL-C3", "ReAlign", "(unknown)"]
    page = (tmp_path / "report" / "index.html").read_text()
    assert page.count("data:image/png") == 8
    # rows have no votes, so a majority is not known: it is not shown as 0
    assert "pass@k" in page
    assert "maj@k</td>" not in page


def test_several_files_are_one_run(tmp_path: Path) -> None:
    whole = read_scored([str(write(tmp_path / "all.jsonl", ROWS))])
    # prompts lie in one shard each
    parts = [write(tmp_path / f"part{n}.jsonl", ROWS[a:b]) for n, (a, b) in enumerate(((0, 80), (80, 163)))]
    merged = read_scored([str(path) for path in parts])
    assert merged.summary.to_dict() == whole.summary.to_dict()
    assert merged.rewards == whole.rewards
    assert merged.aligned == whole.aligned


def test_a_run_its_rows_and_its_summary(tmp_path: Path) -> None:
    records = [
        {"id": n // 2, "task": "REL-A1", "answer": {"target": n % 3}, "response": ["Answer #1", "Answer #2"]}
        for n in range(10)
    ]
    dump = write(tmp_path / "dump.jsonl", records)
    rows, summary = tmp_path / "rows.jsonl", tmp_path / "summary.json"
    with pytest.raises(SystemExit) as left:
        main(["score", str(dump), "-o", str(rows), "--summary", str(summary), "--workers", "0", "-q"])
    assert not left.value.code
    from_rows, from_summary = read_scored([str(rows)]).summary, read_scored([str(summary)]).summary
    a, b = from_rows.to_dict()["tasks"]["REL-A1"], from_summary.to_dict()["tasks"]["REL-A1"]
    assert (a["correct"], a["correct_se"], a["pass@k"]) == (b["correct"], b["correct_se"], b["pass@k"])
    assert a["maj@k"] == {}
    assert b["maj@k"]
    assert from_summary.signature.startswith("relfast")
    with pytest.raises(SystemExit) as left:
        main(["report", str(summary), "-o", str(tmp_path / "report")])
    assert not left.value.code
    assert "maj@k</td>" in (tmp_path / "report" / "index.html").read_text()


@pytest.mark.parametrize(
    "rows", [[], [row(0, "REL-A1", None, None, status="crashed")], [row(0, "REL-A1", True, 1.0)]]
)
def test_little_or_nothing_to_show(tmp_path: Path, rows: list[Any]) -> None:
    made = generate_report([str(write(tmp_path / "a.jsonl", rows))], tmp_path / "report")
    assert {path.name for path in made.files} >= {"index.html", "summary_stats.csv", "accuracy_by_task.png"}


@pytest.mark.parametrize(
    "text", ["{}", "nonsense", '{"status": "fine", "metrics": {}}', '{"status": "ok"}', "[1]"]
)
def test_what_is_no_scored_file_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "dump.jsonl"
    path.write_text(f"\n{text}\n")
    with pytest.raises(InputError, match=r"dump\.jsonl:2"):
        generate_report([str(path)], tmp_path / "report")
