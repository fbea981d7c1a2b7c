"""Saved benchmark runs → benchmarks/results.md.

``python -m benchmarks.render`` writes the newest saved run into it. Targets are for ratios to a floor or
rival measured in the same run, never for times; whether something became slower is for `benchmarks.gate` to say.
"""

from __future__ import annotations

import json
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results.md"


def newest_run(folder: Path = ROOT / ".benchmarks") -> dict[str, Any]:
    """The last saved run by its date: pytest-benchmark's numbers begin anew on another machine."""
    runs = [json.loads(path.read_text()) for path in folder.glob("*/*.json")]
    if not runs:
        sys.exit("no saved run under .benchmarks: make bench")
    newest: dict[str, Any] = max(runs, key=lambda run: datetime.fromisoformat(run["datetime"]))
    return newest


def within(info: dict[str, Any]) -> bool:
    """Whether a ratio keeps its limit; one without a limit does."""
    if "limit" not in info:
        return True
    found: float = info["value"] if "value" in info else info["ratio"]
    return found >= info["limit"] if info.get("at_least") else found <= info["limit"]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _ratio(info: dict[str, Any]) -> str:
    """A row's ratio, or what it measured instead, with its unit."""
    if "ratio" in info:
        return f"{_number(info['ratio'])} ×"
    return f"{_number(info['value'])} {info['unit']}" if "value" in info else "–"


def _latencies(info: dict[str, Any]) -> str:
    if "p50_us" not in info:
        return "–"
    return ", ".join(_number(info.get(name)) for name in ("p50_us", "p99_us", "max_us")) + " µs"


def table(run: dict[str, Any]) -> str:
    """The table in Markdown."""
    machine = run["machine_info"]
    cpu = {"brand_raw": machine.get("machine", "unknown"), "count": "?"} | machine.get("cpu", {})
    lines = [
        f"{cpu['brand_raw']}, {cpu['count']} cores, Python {machine['python_version']},"
        f" {run['datetime'][:10]}; ratios are medians of runs taken in turn with their floor or rival.",
        "",
        "| what | items/s | MB/s | a call: p50, p99, max | ratio | target |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for info in (bench["extra_info"] for bench in run["benchmarks"] if "task" in bench["extra_info"]):
        limit = f"{'≥' if info.get('at_least') else '≤'} {info['limit']:g}" if "limit" in info else "–"
        missed = "" if within(info) else " (missed)"
        lines.append(
            f"| {info['task']} | {_number(info.get('items_per_s'))} | {_number(info.get('mb_per_s'))}"
            f" | {_latencies(info)} | {_ratio(info)} | {limit}{missed} |"
        )
    return "\n".join(lines)


def main() -> int:
    run = newest_run()
    RESULTS.write_text(f"# The newest run\n\nWritten by `make render`.\n\n{table(run)}\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
