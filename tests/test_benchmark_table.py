"""The table of benchmarks/results.md: the newest run, every column of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.render import newest_run, table, within

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
