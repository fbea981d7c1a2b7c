"""The table of benchmarks/results.md: the newest run, every column of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks import history
from benchmarks.render import newest_run, ratios, table, within

MACHINE = {"python_version": "3.11.2", "cpu": {"brand_raw": "a processor", "count": 2}}


def saved(folder: Path, name: str, date: str, *infos: dict[str, Any]) -> None:
    run = {
        "datetime": date,
        "machine_info": MACHINE,
        "benchmarks": [{"extra_info": info} for info in infos],
    }
    path = folder / "machine" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(run), "utf-8")


def test_the_newest_run_by_date(tmp_path: Path) -> None:
    saved(tmp_path, "0002_a.json", "2026-11-01T10:00:00+00:00")
    saved(tmp_path, "0001_b.json", "2026-11-02T10:00:00+01:00")
    assert newest_run(tmp_path)["datetime"].startswith("2026-11-02")


def test_every_row_says_what_it_measured(tmp_path: Path) -> None:
    call = {"task": "a call", "items_per_s": 1e4, "vs": 1.5, "p50_us": 4.0, "p99_us": 20.0, "max_us": 900.0}
    memory = {"task": "memory", "value": 120.0, "unit": "MB", "limit": 100, "limit_is": "at most"}
    saved(tmp_path, "0001_a.json", "2026-11-01T10:00:00+00:00", call, memory)
    lines = table(newest_run(tmp_path)).splitlines()
    assert lines[-2] == "| a call | 10,000 | – | 4, 20, 900 µs | 1.5 × | – |"
    assert lines[-1] == "| memory | – | – | – | 120 MB | ≤ 100 (missed) |"
    assert not within(memory)


def test_the_history_keeps_a_run_once_and_draws_what_was_measured_twice(tmp_path: Path) -> None:
    path, plot = tmp_path / "history.jsonl", tmp_path / "plot.svg"
    info = {"task": "a dump", "floor_ratio": 1.5, "limit": 1.0}
    for day, name in ((2, "0001_b.json"), (1, "0002_a.json")):
        saved(tmp_path, name, f"2026-11-0{day}T10:00:00+00:00", info, {"task": "no target", "vs": 2.0})
        run = json.loads((tmp_path / "machine" / name).read_text())
        for _ in range(2):
            history.remember(run["datetime"], "a processor", ratios(run), path)
        drawn = history.draw(history.read(path), plot)
        assert drawn == (day == 1)
    runs = history.read(path)
    assert [run.date.day for run in runs] == [1, 2]
    assert list(history.series(runs)) == ["a dump"]
    first = plot.read_bytes()
    history.draw(runs, plot)
    assert plot.read_bytes() == first


def test_the_kept_history_is_readable() -> None:
    assert len(history.series(history.read())) >= 10
