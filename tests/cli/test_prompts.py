"""Which rows are samples of one prompt, in the table, the summary, the page and comparisons; and that ids are the same
in every format of rows. What the prompts of a file are is counted here by the definition, from the input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from engine_runs import exit_code, rows_of, write_dump

import relfast
from relfast.report.scored import generate_report
from relfast.report.scored_rows import read_scored

Json = dict[str, Any]

SAMPLES = 4


def asked(n: int, of: str) -> str:
    return f'Are the molecules of "{of}" {n}\nisomers? \u00e9'


def native(id: Any, n: int, of: str, sample: int, **more: Any) -> Json:
    record = {"id": id, "task": "REL-C1", "question": asked(n, of), "answer": {"label": "Yes"}}
    return record | {"response": "<Yes>" if (n * n + sample) % 3 else "<No>"} | more


def vllm(n: int, of: str, sample: int) -> Json:
    row = native(None, n, of, sample)
    outputs = [{"text": row["response"], "finish_reason": "stop"}]
    return {
        "request_id": str(n), "prompt": row["question"], "task": row["task"], "answer": row["answer"], "outputs": outputs
    }  # fmt: skip


def without(row: Json, *names: str) -> Json:
    return {name: value for name, value in row.items() if name not in names}


def of_opencompass(of: str) -> Json:
    return {
        str(n): {
            "origin_prompt": asked(n, of),
            "prediction": native(0, n, of, 0)["response"],
            "gold": {"label": "Yes"},
        }
        for n in range(8)
    }


GOLDS = ({"label": "Yes"}, {"label": "No"})
CASES: dict[str, tuple[list[list[Json] | Json], int, str]] = {
    # files, prompts, what the note says
    "parts of a data set, numbered from 0": ([of_opencompass("a"), of_opencompass("b")], 16, "8 ids occur with different"),
    "the same part twice: two samples of each": ([of_opencompass("a"), of_opencompass("a")], 8, "8 ids occur on more"),
    "shards of vLLM": ([[vllm(n, of, 0) for n in range(8)] for of in "ab"], 16, "8 ids occur with different"),
    "shards of vLLM in one file": ([[vllm(n, of, 0) for of in "ab" for n in range(8)]], 16, "8 ids occur with different"),
    "ids of ours in two files": ([[native(f"q{n}", n, of, 0) for n in range(8)] for of in "ab"], 16, "8 ids occur with different"),
    "samples in two files": ([[native(f"q{n}", n, "a", s) for n in range(8)] for s in range(2)], 8, "8 ids occur on more"),
    "numbers of ours in one file": ([[native(n, n, of, 0) for of in "ab" for n in range(8)]], 8, "8 ids occur on more"),
    "only gold in two files": (
        [[without(native(n, n, "a", 0, answer=gold), "question") for n in range(6)] for gold in GOLDS], 12, "6 ids occur with different",
    ),
    "no id, but questions": ([[without(native(0, n, "a", s), "id") for s in range(SAMPLES) for n in range(6)]], 6, "without an id, 6 questions"),
    "no id, the same questions with other gold": (
        [[without(native(0, n, "a", 0, answer=gold), "id") for gold in GOLDS for n in range(6)]], 12, "",
    ),
    "neither id nor question": ([[without(native(0, n, "a", 0), "id", "question") for n in range(6)]], 6, ""),
}  # fmt: skip


def written(folder: Path, name: str) -> list[Path]:
    paths = []
    for number, content in enumerate(CASES[name][0]):
        path = folder / f"part{number}.{'json' if isinstance(content, dict) else 'jsonl'}"
        text = json.dumps(content, indent=1) if isinstance(content, dict) else ""
        paths.append(path if text else write_dump(path, content))
        if text:
            path.write_text(text, encoding="utf-8")
    return paths


@pytest.mark.parametrize("name", CASES)
def test_prompts_are_counted_alike_everywhere(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, n, note = CASES[name]
    inputs, out, summary = written(tmp_path, name), tmp_path / "rows.jsonl", tmp_path / "summary.json"
    assert exit_code("score", *inputs, "-o", out, "--workers", 0, "--summary", summary) == 0
    printed = " ".join(capsys.readouterr().err.split())
    told = json.loads(summary.read_bytes())
    assert told["tasks"]["REL-C1"]["prompts"] == n
    assert (note in printed) if note else ("occur" not in printed)
    assert note in " ".join(told["notes"])
    assert f"REL-C1 {n} {len(rows_of(out))} " in printed
    # the page, from the rows alone; and from tables of them
    read = read_scored([str(out)])
    assert read.summary.tasks["REL-C1"].to_dict() == {
        **told["tasks"]["REL-C1"], "merge": read.summary.tasks["REL-C1"].to_dict()["merge"],
        **{key: value for key, value in read.summary.tasks["REL-C1"].to_dict().items() if key.startswith("maj@")},
    }  # fmt: skip
    for suffix in ("parquet", "csv"):
        table = tmp_path / f"rows.{suffix}"
        assert relfast.score_file(list(map(str, inputs)), table, workers=0).tasks["REL-C1"].prompts == n
        assert read_scored([str(table)]).summary.tasks["REL-C1"].prompts == n
        found = relfast.compare(out, table)
        assert (found.tasks[0].prompts, found.tasks[0].difference) == (n, 0)


def test_a_shard_counts_as_the_whole_does(tmp_path: Path) -> None:
    inputs = list(map(str, written(tmp_path, "ids of ours in two files")))
    whole = relfast.score_file(inputs, tmp_path / "whole.jsonl", workers=0)
    for number in range(2):
        relfast.score_file(inputs, tmp_path / f"{number}.jsonl", workers=0, shard=(number, 2))
    rows = b"".join((tmp_path / f"{number}.jsonl").read_bytes() for number in range(2))
    assert rows == (tmp_path / "whole.jsonl").read_bytes()
    merged = read_scored([str(tmp_path / f"{number}.jsonl") for number in range(2)], shards=True)
    assert (
        merged.summary.tasks["REL-C1"].histogram == whole.tasks["REL-C1"].histogram == {(1, 0): 6, (1, 1): 10}
    )


def test_runs_of_one_and_of_several_files_are_compared_by_their_prompts(tmp_path: Path) -> None:
    """An id tells a prompt unless it is several in one of the runs; without ids, questions do."""
    records = [native(f"q{n}", n, "a", 0) for n in range(8)]
    one, many = write_dump(tmp_path / "one.jsonl", records), tmp_path / "many.jsonl"
    parts = [write_dump(tmp_path / f"p{k}.jsonl", records[4 * k : 4 * k + 4]) for k in range(2)]
    relfast.score_file(one, tmp_path / "one.rows.jsonl", workers=0)
    relfast.score_file(list(map(str, parts)), many, workers=0)
    assert relfast.compare(tmp_path / "one.rows.jsonl", many).tasks[0].prompts == 8
    shuffled = [without(record, "id") for record in records[::-1]]
    rows = []
    for name, lines in (("x", [without(record, "id") for record in records]), ("y", shuffled)):
        rows.append(tmp_path / f"{name}.rows.jsonl")
        relfast.score_file(write_dump(tmp_path / f"{name}.jsonl", lines), rows[-1], workers=0)
    found = relfast.compare(*rows).tasks[0]
    assert (found.prompts, found.gained, found.lost) == (8, 0, 0)


IDS: list[Any] = [
    "a\ud800", "a\ud801", "b\0c", "\0", "x" * 70_000, 2**70, -(2**65), 2**63, 7, "7", True, "true", 1.5, 1e300, "1.5",
    None, "null", "", '"q"', 'a,b\n\r"c', "\u00e9\U0001f600", [1, "\ud800"], {"k": 1}, "=1+1", "\ufeffz", " lead",
]  # fmt: skip


def test_ids_are_the_same_in_every_format(tmp_path: Path) -> None:
    """Also those that a format cannot hold; and they are found again in the dump, in frames and in another run."""
    dump = write_dump(tmp_path / "dump.jsonl", [native(id, n, "a", 0) for n, id in enumerate(IDS)])
    out = [tmp_path / f"rows.{suffix}" for suffix in ("jsonl", "parquet", "csv")]
    for path in out:
        relfast.score_file(dump, path, workers=0)
        batch = relfast.read_rows(path)
        assert [(type(score.id), score.id) for score in batch.scores] == [(type(id), id) for id in IDS]
        frames = [batch.to_arrow().column("id").to_pylist(), list(batch.to_pandas()["id"])]
        assert [frame[0] for frame in frames] == ['"a\\ud800"'] * 2
        run = read_scored([str(path)], records=len(IDS))
        assert [kept.record is not None for kept in run.sample] == [True] * len(IDS)
        assert relfast.compare(out[0], path).tasks[0].prompts == len(IDS) if path != out[0] else True
    made = generate_report([str(out[1])], tmp_path / "report")
    assert not made.notes
