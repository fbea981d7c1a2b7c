"""An output that exists: every command leaves it alone, says what to do, and exits with the same code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from relfast.cli.main import EXIT_USAGE, main

RECORD = {"id": "a", "task": "REL-A1", "question": "Which?", "answer": {"target": 3}, "response": "Answer 4"}
ROW = {"index": 0, "id": "a", "task": "REL-A1", "sample": 0, "status": "ok", "correct": True, "reward": 1.0, "metrics": {}, "error": None}  # fmt: skip

REPLACED = "--overwrite replaces it"
RESUMED = "--resume continues it, --overwrite starts over"


@pytest.mark.parametrize(
    ("arguments", "existing", "ways"),
    [
        (["score", "{record}", "-o", "{out}.jsonl"], "{out}.jsonl", RESUMED),
        (["score", "{record}", "-o", "{out}.parquet"], "{out}.parquet", RESUMED),
        (["score", "{record}", "-o", "{out}.csv"], "{out}.csv", RESUMED),
        (["run", "{record}", "--api", "http://127.0.0.1:9/v1", "--model", "m", "-o", "{out}.jsonl"], "{out}.jsonl", RESUMED),
        (["generate", "rel-a1", "-n", "1", "-o", "{out}.jsonl"], "{out}.jsonl", REPLACED),
        (["generate", "seqbench", "-n", "1", "--seed", "0", "--workers", "1", "-o", "{out}.jsonl"], "{out}.jsonl", REPLACED),
        (["report", "{row}", "-o", "{out}"], "{out}/index.html", REPLACED),
    ],
    ids=lambda value: "-".join(value[:2]) if isinstance(value, list) else "",
)  # fmt: skip
def test_it_is_left_alone(
    arguments: list[str], existing: str, ways: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if "{out}.parquet" in arguments:
        pytest.importorskip("pyarrow")
    inputs: dict[str, Any] = {"record": RECORD, "row": ROW}
    for name, row in inputs.items():
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(row) + "\n")
    places = {name: str(tmp_path / f"{name}.jsonl") for name in inputs} | {"out": str(tmp_path / "out")}
    target = Path(existing.format(**places))
    target.parent.mkdir(exist_ok=True)
    target.write_text("mine\n")
    before = sorted(path for path in tmp_path.rglob("*") if "out" in path.name)
    with pytest.raises(SystemExit) as left:
        main([argument.format(**places) for argument in arguments])
    assert left.value.code == EXIT_USAGE
    assert capsys.readouterr() == ("", f"relfast: {target} exists; {ways}\n")
    assert target.read_text() == "mine\n"
    assert sorted(path for path in tmp_path.rglob("*") if "out" in path.name) == before


def test_it_can_be_replaced(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text(json.dumps(ROW) + "\n")
    target = tmp_path / "out" / "index.html"
    target.parent.mkdir()
    target.write_text("mine\n")
    with pytest.raises(SystemExit) as left:
        main(["report", str(source), "-o", str(target.parent), "--overwrite"])
    assert not left.value.code
    assert "mine" not in target.read_text()
