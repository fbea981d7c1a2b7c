"""The published table of REL-C1, scored again: replies rebuilt from its accuracies give its numbers back.

``tests/data/rel/published_results.md`` keeps the printed output of the paper's notebooks.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner
from corpora import DATA, rel_records

from relfast.cli.main import cli

OVERALL = {
    "claude-opus-4-5": ("0.712", (223, 277, 11, 489)),
    "gpt-5.2": ("0.501", (1, 499, 0, 500)),
    "gemini-3-pro-preview": ("0.757", (261, 239, 4, 496)),
}
"""Model → printed accuracy, and its confusion matrix: Yes as Yes, Yes as No, No as Yes, No as No."""


class Printed(NamedTuple):
    count: int
    accuracy: str
    of_yes: str
    of_no: str


def printed_table() -> dict[str, dict[int, Printed]]:
    """Model → number of molecules → the line of the table."""
    text = (DATA / "rel/published_results.md").read_text("utf-8")
    section = text.split("## C1 by number of molecules")[1].split("## ")[0]
    line = re.compile(
        r"^\s*(\S+)\s+(\d+)\s+(\d+)\s+(\d\.\d{3})\s+(\d\.\d{3})\s+(\d\.\d{3})\s+0\.000$", re.MULTILINE
    )
    table: dict[str, dict[int, Printed]] = defaultdict(dict)
    for model, size, count, *accuracies in line.findall(section):
        table[model][int(size)] = Printed(int(count), *accuracies)
    return dict(table)


@pytest.mark.parametrize("model", OVERALL)
def test_printed_numbers_come_back(model: str, tmp_path: Path) -> None:
    table = printed_table()[model]
    assert sorted(table) == list(range(5, 55, 5))
    by_size: dict[int, dict[str, list[dict]]] = defaultdict(lambda: defaultdict(list))
    for record in rel_records("REL-C1"):
        by_size[len(record["answer"]["molecules"])][record["answer"]["label"]].append(record)
    assert {
        size: {label: len(rows) for label, rows in labels.items()} for size, labels in by_size.items()
    } == {size: {"Yes": 50, "No": 50} for size in table}
    records = []
    for size, labels in by_size.items():
        for label, other, printed in (("Yes", "No", table[size].of_yes), ("No", "Yes", table[size].of_no)):
            right = round(float(printed) * len(labels[label]))
            for number, record in enumerate(labels[label]):
                records.append({**record, "response": f"<{label if number < right else other}>"})
    dump, out, summary_path = tmp_path / "run.jsonl", tmp_path / "rows.jsonl", tmp_path / "summary.json"
    dump.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    result = CliRunner().invoke(
        cli,
        [
            "score",
            str(dump),
            "-o",
            str(out),
            "--workers",
            "0",
            "-q",
            "--details",
            "--summary",
            str(summary_path),
        ],
    )
    assert result.exit_code == 0
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]

    groups: dict[tuple[int, str], list[bool]] = defaultdict(list)
    confusion: dict[tuple[str, str], int] = defaultdict(int)
    for record, row in zip(records, rows, strict=True):
        groups[len(record["answer"]["molecules"]), row["metrics"]["gold"]].append(row["correct"])
        confusion[row["metrics"]["gold"], row["metrics"]["pred"]] += 1
    for size, printed in table.items():
        yes, no = groups[size, "Yes"], groups[size, "No"]
        assert len(yes + no) == printed.count
        assert f"{sum(yes + no) / len(yes + no):.3f}" == printed.accuracy
        assert f"{sum(yes) / len(yes):.3f}" == printed.of_yes
        assert f"{sum(no) / len(no):.3f}" == printed.of_no

    accuracy, matrix = OVERALL[model]
    found = tuple(confusion[pair] for pair in (("Yes", "Yes"), ("Yes", "No"), ("No", "Yes"), ("No", "No")))
    assert found == matrix
    task = json.loads(summary_path.read_text("utf-8"))["tasks"]["REL-C1"]
    assert (task["records"], f"{task['correct']:.3f}", task["parsed"]) == (1000, accuracy, 1.0)
