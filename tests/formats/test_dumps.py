"""Files that the tools themselves wrote (`tests/data/dumps`): counts, prompts and figures are the tools' own; and what a
file is, seen from its first bytes."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pytest
import tool_rows
import zstandard
from corpora import ROOT
from engine_runs import rows_of, write_dump
from processes import started

import relfast
from relfast.engine.files.io import reader
from relfast.engine.files.io.sources import find_sources
from relfast.formats import detect

DUMPS = ROOT / "tests" / "data" / "dumps"
RECORDS = [json.loads(line) for line in (DUMPS / "records.jsonl").read_text("utf-8").splitlines()]
GOLD = {"data": DUMPS / "records.jsonl"}


def scored(name: str, tmp_path: Path, **options: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The figures of the task, and the rows."""
    output = tmp_path / "rows.jsonl"
    summary = relfast.score_file(DUMPS / name, output, workers=0, overwrite=True, **options)
    assert list(summary.tasks) == ["REL-C1"]
    return summary.tasks["REL-C1"].to_dict(), rows_of(output)


def own(tmp_path: Path, responses: int = 4) -> dict[str, Any]:
    """The same responses as records of ours."""
    path = tmp_path / "own.jsonl"
    records = [{**record, "response": record["response"][:responses]} for record in RECORDS]
    write_dump(path, records)
    return relfast.score_file(path, workers=0, overwrite=True).tasks["REL-C1"].to_dict()


VERL = ("verl.json", ["REL-C1", "reward", "mean@4"], 1)
TOOLS: list[tuple[str, dict[str, Any], tuple[str, list[Any], float] | None]] = [
    ("inspect.eval", {}, None),
    ("samples_rel_c1.jsonl", {}, None),
    ("samples_rel_c1.jsonl", {"filter": "maj"}, None),
    ("verl_v0.jsonl", {}, VERL),
    ("verl_v1.jsonl", {}, VERL),
    ("vllm.jsonl", GOLD, None),
    ("completions_00001.parquet", GOLD, ("trl.json", ["reward"], 1)),
    ("details_rel_c1.parquet", {}, ("lighteval.json", ["yes_or_no"], 1)),
    ("scenario_state.json", GOLD, ("helm_stats.json", [0, "mean"], 1)),
    ("opencompass.json", {}, ("opencompass_result.json", ["accuracy"], 100)),
    ("lmms_eval.jsonl", {}, None),
]
"""File, gold, and where the tool itself reports accuracy, in which unit; docs/formats.md. Of Inspect and
lm-evaluation-harness further below."""


@pytest.mark.parametrize(("name", "options", "report"), TOOLS)
def test_figures_are_those_of_all_responses_and_those_that_the_tool_reports(
    name: str, options: dict[str, Any], report: tuple[str, list[Any], float] | None, tmp_path: Path
) -> None:
    figures, rows = scored(name, tmp_path, **options)
    each = 1 if name in ("opencompass.json", "lmms_eval.jsonl") else 4
    assert (figures["records"], figures["prompts"]) == (8 * each, 8)
    assert figures["samples_per_prompt"] == {"min": each, "max": each}
    # not a rollout more, less, or of another prompt
    assert figures == own(tmp_path, each)
    ids = (
        [*(str(n) if "opencompass" in name else n for n in range(8))]
        if each == 1
        else [r["id"] for r in RECORDS]
    )
    if "verl" not in name:  # which has no id: ours is a digest
        assert {row["id"] for row in rows} == {*ids}
    if report is not None:
        told = json.loads((DUMPS / report[0]).read_text("utf-8"))
        assert figures["correct"] == pytest.approx(reduce(getitem, report[1], told) / report[2], abs=1e-12)
        if "yes_or_no_stderr" in told:
            assert figures["correct_se"] == pytest.approx(told["yes_or_no_stderr"], abs=1e-12)


def test_gold_is_found_by_what_evalscope_asked(tmp_path: Path) -> None:
    """Its predictions have neither gold nor ids of ours, and one request failed."""
    figures, rows = scored("evalscope.jsonl", tmp_path, **GOLD)
    said = [[*record["response"][:2]] for record in RECORDS]
    said[0][1] = None
    dump = write_dump(
        tmp_path / "own.jsonl", [{**r, "response": s} for r, s in zip(RECORDS, said, strict=True)]
    )
    assert figures == relfast.score_file(dump, workers=0).tasks["REL-C1"].to_dict()
    assert rows[1]["error"] == {"type": "MissingResponse", "message": "429 Too Many Requests"}


def test_a_file_of_matharena_is_a_problem_with_its_answers(tmp_path: Path) -> None:
    """Not their thoughts, which say the contrary."""
    for n, record in enumerate(RECORDS):
        row = tool_rows.matharena(record, record["response"], n)
        (tmp_path / f"{n}.json").write_text(json.dumps(row, indent=4), encoding="utf-8")
    summary = relfast.score_file(
        sorted(map(str, tmp_path.glob("*.json"))), tmp_path / "rows.jsonl", workers=0, **GOLD
    )
    assert summary.tasks["REL-C1"].to_dict() == own(tmp_path)


def test_a_request_that_the_batch_refused_is_no_response(tmp_path: Path) -> None:
    output = tmp_path / "rows.jsonl"
    summary = relfast.score_file(DUMPS / "vllm_batch.jsonl", output, workers=0, **GOLD)
    assert summary.tasks["REL-C1"].to_dict() == own(tmp_path)
    (refused,) = [row for row in rows_of(output) if row["task"] != "REL-C1"]
    assert (refused["id"], refused["status"]) == ("refused", "invalid_record")
    assert "the engine refused this request" in refused["error"]["message"]


def test_of_inspect_every_epoch_is_scored_as_inspect_scored_it(tmp_path: Path) -> None:
    log = json.loads((DUMPS / "inspect.json").read_text("utf-8"))
    _, rows = scored("inspect.json", tmp_path)
    assert [row["index"] for row in rows] == list(range(len(log["samples"])))
    for row, sample in zip(rows, log["samples"], strict=True):
        assert row["id"] == sample["id"]
        if sample.get("error"):
            assert row["error"] == {"type": "MissingResponse", "message": sample["error"]["message"]}
        else:
            assert row["correct"] is (sample["scores"]["yes_or_no"]["value"] == "C")
    # Inspect weighs prompts alike; so do we, where each keeps as many epochs
    by_prompt = {
        id: [row["correct"] for row in rows if row["id"] == id and row["correct"] is not None]
        for id in log["eval"]["dataset"]["sample_ids"]
    }
    means = [sum(right) / len(right) for right in by_prompt.values()]
    (scores,) = log["results"]["scores"]
    assert sum(means) / len(means) == pytest.approx(scores["metrics"]["accuracy"]["value"])


def test_lm_eval_reports_the_same_figures_of_what_its_filter_takes(tmp_path: Path) -> None:
    reported = json.loads((DUMPS / "results_rel_c1.json").read_text("utf-8"))["rel_c1"]
    _, rows = scored("samples_rel_c1.jsonl", tmp_path)
    first = [row for row in rows if row["sample"] == 0]
    written = [row for row in rows_of(DUMPS / "samples_rel_c1.jsonl") if row["filter"] == "first"]
    assert [row["correct"] for row in first] == [row["exact_match"] == 1 for row in written]
    path = tmp_path / "first.jsonl"
    path.write_text(
        "".join(json.dumps({**row, "resps": [row["resps"][0][:1]]}) + "\n" for row in written), "utf-8"
    )
    summary = relfast.score_file(path, workers=0)
    figures = summary.tasks["REL-C1"].to_dict()
    assert figures["correct"] == reported["exact_match,first"]
    assert figures["correct_se"] == pytest.approx(reported["exact_match_stderr,first"], abs=1e-12)
    assert summary.notes == ["lm-eval filter 'first' was scored, no other (--filter chooses)"]


def test_verifiers_gave_the_same_rewards(tmp_path: Path) -> None:
    rewards = json.loads((DUMPS / "verifiers.json").read_text("utf-8"))
    figures, rows = scored("traces.jsonl", tmp_path)
    assert (figures["records"], figures["prompts"], figures["statuses"]["invalid_record"]) == (32, 8, 1)
    found: dict[str, list[float]] = {}
    for row in rows:
        if row["reward"] is not None:
            found.setdefault(row["id"], []).append(row["reward"])
    assert found == rewards
    assert rows[-1]["error"] == {"type": "ProviderError", "message": "the server is overloaded"}


@pytest.mark.parametrize("name", ["vllm.jsonl", "completions_00001.parquet", "scenario_state.json"])
def test_gold_of_another_question_is_not_joined(name: str, tmp_path: Path) -> None:
    """A tool's own numbers (0, 1, …) are not ids of ours, unless no question is known."""
    gold = tmp_path / "gold.jsonl"
    others = [{**record, "id": n, "question": f"Another question, {n}?"} for n, record in enumerate(RECORDS)]
    others[0]["question"] = RECORDS[0]["question"]
    write_dump(gold, others)
    output = tmp_path / "rows.jsonl"
    relfast.score_file(DUMPS / name, output, workers=0, data=gold)
    rows = rows_of(output)
    assert {row["id"] for row in rows if row["status"] != "invalid_record"} >= {0}
    errors = [row["error"]["message"] for row in rows if row["error"]]
    assert len(errors) == (28 if name.startswith("completions") else 7)
    assert all("asks this row's question" in message for message in errors)
    # two records with one question join nothing
    gold.write_text("".join(json.dumps({**RECORDS[0], "id": id}) + "\n" for id in ("one", "other")), "utf-8")
    relfast.score_file(DUMPS / name, output, workers=0, data=gold, overwrite=True)
    assert {row["status"] for row in rows_of(output)} == {"invalid_record"}


DOCUMENTS = ["inspect.eval", "inspect.json", "opencompass.json", "scenario_state.json"]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_are_cut_sharded_limited_and_resumed_like_lines(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "BLOCK_BYTES", 2_000)
    out = tmp_path / "rows.jsonl"

    def rows(**options: Any) -> bytes:
        more = {"overwrite": "resume" not in options, **GOLD, **options}
        relfast.score_file(DUMPS / name, out, workers=0, **more)
        return out.read_bytes()

    whole = rows()
    of_prompts = [row for row in rows_of(out) if row["sample"] == 0]
    assert [row["index"] for row in of_prompts] == list(range(len(of_prompts)))
    assert b"".join(rows(shard=(number, 3)) for number in range(3)) == whole
    assert whole.startswith(rows(limit=5))
    assert {row["index"] for row in rows_of(out)} == {*range(5)}

    def stop(state: Any) -> None:
        if state.rows >= 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rows(progress=stop)
    assert 0 < out.stat().st_size < len(whole)
    assert rows(resume=True) == whole


def test_a_member_that_is_damaged_is_one_row_after_those_before_it(tmp_path: Path) -> None:
    data = bytearray((DUMPS / "inspect.eval").read_bytes())
    with zipfile.ZipFile(DUMPS / "inspect.eval") as log:
        samples = [info for info in log.infolist() if info.filename.startswith("samples/")]
    at = samples[10].header_offset + samples[10].compress_size
    data[at : at + 8] = bytes(8)
    broken = tmp_path / "broken.eval"
    broken.write_bytes(data)
    assert [source.codec for source in find_sources([str(tmp_path)])] == ["zip"]
    output = tmp_path / "rows.jsonl"
    relfast.score_file(broken, output, workers=0)
    *rows, last = rows_of(output)
    assert [row["index"] for row in rows] == list(range(10))
    assert last["error"]["type"] == "DamagedInput"
    assert samples[10].filename in last["error"]["message"]


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_logs_of_older_releases_are_deflated(method: int, tmp_path: Path) -> None:
    samples = json.loads((DUMPS / "inspect.json").read_text("utf-8"))["samples"]
    path = tmp_path / "old.eval"
    with zipfile.ZipFile(path, "w", method) as log:
        log.writestr("header.json", "{}")
        for sample in samples:
            log.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample, indent=2))
    new, old = tmp_path / "new.jsonl", tmp_path / "old.jsonl"
    relfast.score_file(DUMPS / "inspect.json", new, workers=0)
    relfast.score_file(path, old, workers=0)
    assert old.read_bytes() == new.read_bytes()


@pytest.mark.parametrize(
    "row", [{"error": "timed out"}, {"response": "x"}, {"custom_id": "a", "response": None}]
)
def test_a_row_that_says_what_is_wrong_with_it_is_no_reason_to_refuse(
    row: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(json.dumps(row) + "\n", "utf-8")
    assert relfast.score_file(path, workers=0).count("invalid_record") == 1


def test_a_row_with_a_response_is_a_record_whatever_else_it_has() -> None:
    """As the text kernel reads it."""
    other = {"prompt": "?", "completion": "x", "step": 1, "outputs": [{"text": "x"}], "prediction": "x"}
    assert detect({**other, "origin_prompt": "?", "example_id": 1, "response": "x"}) == "native"
    assert (
        detect({"custom_id": "a", "response": "x"}) == detect({"task": "REL-A1", "output": "x"}) == "native"
    )


# what a file is: a list of records over lines, gzip, or text of another name


def packed(data: bytes, suffix: str) -> bytes:
    if suffix == ".zst":
        return zstandard.compress(data)
    return gzip.compress(data) if suffix == ".gz" else data


BETWEEN = (",\n ", ", \n ", "\n,", ",\n\n")
LISTS = [
    *(json.dumps(RECORDS, indent=indent) for indent in (None, 0, 2, "\t")), json.dumps(RECORDS) + "\n",
    # as PostgreSQL's json_agg writes it: read as lines, the last record alone would be scored
    *("[" + between.join(map(json.dumps, RECORDS)) + "\n]\n" for between in BETWEEN),
    "[\n" + ",\n".join(map(json.dumps, RECORDS)) + "\n]\n",
]  # fmt: skip


@pytest.mark.parametrize("name", ["run.json", "run.jsonl", "run.jsonl.gz", "run.jsonl.zst"])
def test_a_list_of_records_is_a_document(name: str, tmp_path: Path) -> None:
    expected = own(tmp_path)
    path, output = tmp_path / name, tmp_path / "rows.jsonl"
    for text in LISTS:
        path.write_bytes(packed(text.encode(), path.suffix))
        summary = relfast.score_file(path, output, workers=0, overwrite=True)
        assert summary.tasks["REL-C1"].to_dict() == expected
        assert not summary.unusable
    # integers keep their digits
    text = json.dumps([{**RECORDS[0], "id": 2**70 + 1}], indent=2)
    path.write_bytes(packed(text.encode(), path.suffix))
    relfast.score_file(path, output, workers=0, overwrite=True)
    assert rows_of(output)[0]["id"] == 2**70 + 1


TAIL = '"id": "a"},\n {"id": "b"}\n]\n'
INDENTED = json.dumps({"results": RECORDS}, indent=2)
NO_STREAMS = [
    *((f"{head}{TAIL}".encode(), "a JSON array") for head in ("[{", "[\n{", "[      {", "\ufeff[\r\n{")),
    *((INDENTED.replace("\n", end).encode(), "indented JSON") for end in ("\n", "\r\n")),
    ((DUMPS / "inspect.json").read_bytes(), "indented JSON"),
    ((DUMPS / "inspect.eval").read_bytes(), "a ZIP"),
]


@pytest.mark.parametrize(("data", "seen"), NO_STREAMS, ids=range(len(NO_STREAMS)))
def test_a_document_cannot_come_through_a_pipe(
    data: bytes, seen: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = f"{seen} cannot be read from a pipe: name the file"
    for suffix in ("",) if seen == "a ZIP" else ("", ".gz", ".zst"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(packed(data, suffix))))
        with pytest.raises(relfast.InputError, match=said):
            relfast.score_file("-", workers=0)
    os.mkfifo(pipe := tmp_path / "pipe")
    with ThreadPoolExecutor(1) as writer:
        writer.submit(pipe.write_bytes, data[:4096])
        with pytest.raises(relfast.InputError, match=said):
            relfast.score_file(pipe, tmp_path / "rows.jsonl", workers=0)
    assert not (tmp_path / "rows.jsonl").exists()


def test_lines_that_are_lists_stay_lines(tmp_path: Path) -> None:
    path, output = tmp_path / "run.jsonl", tmp_path / "rows.jsonl"
    path.write_text('[{"id": "a"}]\n' + json.dumps(RECORDS[0]) + "\n", "utf-8")
    relfast.score_file(path, output, workers=0)
    assert [row["status"] == "invalid_record" for row in rows_of(output)][:2] == [True, False]


MARKS = (
    b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\0\0", b"BZh", b"\xfd7zXZ", b"ARROW1", b"\xff\xff\xff\xff", b"SQLite format 3",
    b"%PDF", b"\x89PNG", b"\x80\x04", b"\x1f\x8b", b"\x1f\x8b\x08\0", b"PK\x03\x04", b"PAR1", b"\x28\xb5\x2f\xfd",
    b"[", b"{", b"[[", b"[{", b"\t[", b'"', b"\xef\xbb\xbf[", b'{"columns":',
)  # fmt: skip
TORN = (b"[", b"{", b"[{", b"]", b'{"columns":', b"[1,", b'{"id": "a"', b'[{"id": "a"},', b'[{"id"]')


@pytest.mark.parametrize("first", [*((mark, True) for mark in MARKS), *((text, False) for text in TORN)])
def test_a_damaged_first_line_is_a_row(
    first: tuple[bytes, bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it looks like, long or short, in files and pipes: the lines behind it say that it is a line."""
    text, before = first
    for padding in (0, 100_000):
        records = [{**record, "more": "x" * padding * (not number)} for number, record in enumerate(RECORDS)]
        lines = [json.dumps(record).encode() for record in records]
        lines[0] = text + lines[0] if before else text
        data = b"\n".join(lines) + b"\n"
        for name in ("run.jsonl", "run.json", "run.jsonl.gz", "-"):
            if name == "-":
                monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
            path = name if name == "-" else tmp_path / name
            if name != "-":
                Path(path).write_bytes(packed(data, Path(name).suffix))
            relfast.score_file(path, output := tmp_path / "rows.jsonl", workers=0, overwrite=True)
            useless = {row["index"]: row["status"] == "invalid_record" for row in rows_of(output)}
            assert list(useless) == list(range(len(lines))), name
            assert not any(useless[at] for at in range(1, len(lines))), name


def test_a_pipe_that_comes_in_drops_is_read(tmp_path: Path) -> None:
    """The first bytes alone say nothing, and are no line either."""
    command = ("-m", "relfast", "score", "-", "-o", "-", "--workers", 0, "-q")
    line = json.dumps(RECORDS[0]).encode() + b"\n"
    with started(*command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        for byte in line[:3]:
            process.stdin.write(bytes([byte]))
            process.stdin.flush()
        output, _ = process.communicate(line[3:])
    assert {json.loads(row)["id"] for row in output.splitlines()} == {RECORDS[0]["id"]}


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_name_that_is_wrong_about_the_codec_is_not_believed(suffix: str, tmp_path: Path) -> None:
    expected = own(tmp_path)
    lines = "".join(json.dumps(record) + "\n" for record in RECORDS)
    texts = [lines, "\ufeff" + lines, json.dumps(RECORDS, indent=2)]
    for n, data in enumerate([*(text.encode() for text in texts), gzip.compress(lines.encode())]):
        path = tmp_path / f"{n}.jsonl{suffix}"
        path.write_bytes(data)
        for workers in (0, 1):
            summary = relfast.score_file(path, overwrite=True, workers=workers)
            assert summary.tasks["REL-C1"].to_dict() == expected


@pytest.mark.parametrize(
    "reason",
    ["The prompt violates OpenAI's content policy.", "content_filter", "SAFETY", {"reason": "refusal"}],
)
def test_what_helm_has_filtered_is_no_answer_of_the_model(reason: Any) -> None:
    """It writes such a completion as an empty one, with success: REL-A reads its first choice in that."""
    record = {**RECORDS[0], "task": "REL-A1", "answer": {"target": 0}}
    row = tool_rows.helm(record, ["", "Answer 1"], 0)
    row["result"]["completions"][0]["finish_reason"] = (
        reason if isinstance(reason, dict) else {"reason": reason}
    )
    filtered, other = relfast.score([row], task="REL-A1", workers=0)
    assert (filtered.status, filtered.correct, other.correct) == ("invalid_record", None, True)
    row["result"]["completions"][0]["finish_reason"] = {"reason": "stop"}
    assert relfast.score([row], task="REL-A1", workers=0)[0].status == "no_answer"
