"""`relfast report` on scored rows: several tasks, several files, samples, summaries."""

from __future__ import annotations

import gzip
import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from engine_runs import exit_code, rows_of, write_dump

from relfast.errors import InputError, UsageError
from relfast.report.inputs import find_inputs
from relfast.report.scored import generate_report
from relfast.report.scored_rows import read_scored


def row(index: int, task: Any, correct: bool | None, reward: float | None, **metrics: Any) -> dict[str, Any]:
    error = None if correct is not None else {"type": "T", "message": "m"}
    facts = {"status": metrics.pop("status", "ok"), "correct": correct, "reward": reward}
    place = {"index": index, "id": f"p{index // 4}", "task": task, "sample": index % 4}
    return {**place, **facts, "metrics": metrics, "error": error}


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


@pytest.mark.slow
def test_everything_is_drawn_and_tabled(tmp_path: Path) -> None:
    one, two = write_dump(tmp_path / "a.scored.jsonl", ROWS[:90]), tmp_path / "b.scored.jsonl.gz"
    two.write_bytes(gzip.compress(write_dump(tmp_path / "b", ROWS[90:]).read_bytes()))
    made = generate_report([str(one), str(two)], tmp_path / "report")
    names = [path.name for path in made.files]
    assert {path.name for path in (tmp_path / "report").iterdir()} == set(names)
    assert [name for name in names if not name.endswith((".svg", ".pdf"))] == [
        *("accuracy_by_task.png", "reward_distribution.png", "alignment_distribution.png"),
        *("quadrant_analysis.png", "divergence_step_distribution.png", "samples.png"),
        *("summary_stats.csv", "latex_table.txt", "index.html"),
    ]
    lines = (tmp_path / "report" / "summary_stats.csv").read_text().splitlines()
    assert lines[0].startswith("run,task,prompts,responses,correct,correct_se,")
    assert lines[1].split(",")[1:5] == ["REL-A1", "10", "41", "0.35"]
    assert [line.split(",")[1] for line in lines[1:]] == ["REL-A1", "REL-C3", "ReAlign", "(unknown)"]
    page = (tmp_path / "report" / "index.html").read_text()
    assert page.count("<figure") == page.count("<svg") - page.count('class="bar"') == 6
    # rows have no votes, so a majority is not known: it is not shown as 0
    assert "pass@k" in page
    assert "maj@k</td>" not in page


def test_several_files_are_one_run(tmp_path: Path) -> None:
    whole = read_scored([str(write_dump(tmp_path / "all.jsonl", ROWS))])
    # prompts lie in one shard each
    parts = [write_dump(tmp_path / f"part{n}.jsonl", rows) for n, rows in enumerate((ROWS[:80], ROWS[80:]))]
    merged = read_scored([str(path) for path in parts])
    assert merged.summary.to_dict() == whole.summary.to_dict()
    assert merged.counted.rewards == whole.counted.rewards
    # arrays hold NaN for null
    assert repr(merged.counted) == repr(whole.counted)


@pytest.mark.parametrize(
    "rows", [[], [row(0, "REL-A1", None, None, status="crashed")], [row(0, "REL-A1", True, 1.0)]]
)
def test_little_or_nothing_to_show(tmp_path: Path, rows: list[Any]) -> None:
    made = generate_report([str(write_dump(tmp_path / "a.jsonl", rows))], tmp_path / "report")
    assert {path.name for path in made.files} >= {"index.html", "summary_stats.csv", "accuracy_by_task.png"}


def sampled(count: int, first: int = 0) -> list[dict[str, Any]]:
    """Records of REL-A1 with two responses each, of which one is right for one record of three."""
    return [
        {"id": f"q{n}", "task": "REL-A1", "answer": {"target": n % 3}, "response": ["Answer #1", "Answer #3"]}
        for n in range(first, first + count)
    ]


def scored(folder: Path, records: list[dict[str, Any]], *options: object) -> tuple[Path, Path]:
    """The rows and the summary of a run, in a folder with its dump and journal."""
    folder.mkdir()
    dump, summary = write_dump(folder / "dump.jsonl", records), folder / "summary.json"
    assert exit_code("score", dump, "--summary", summary, "--workers", 0, "-q", *options) == 0
    return folder / "dump.jsonl.scored.jsonl", summary


def test_two_models_are_no_samples_of_one_prompt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (one, one_summary), (other, other_summary) = (scored(tmp_path / n, sampled(6)) for n in ("a", "b"))
    # a summary that names other rows than those beside it: another model's
    other_summary.write_text(other_summary.read_text().replace("dump.jsonl.scored", "other.scored"))
    both = f"{one} and {other} both hold row 0 of REL-A1 with id 'q0', sample 0: "
    unsaid = "both count REL-A1, and a summary does not say which records: "
    remedy = "name the models (NAME=FILE) to have them side by side, or say --shards if they are parts of one run\n"
    for inputs, words in (
        ((f"a={one}", f"a={other}"), f"{both}two runs are not samples of one prompt; {remedy}"),
        ((one_summary, other_summary), f"{one_summary} and {other_summary} {unsaid}{remedy}"),
        ((one, one_summary, other_summary), f"{one} and {other_summary} {unsaid}{remedy}"),
        ((one, one), f"{one} is named twice\n"),
        # parts of one run have no row in common, whatever is said
        ((one, other, "--shards"), f"{both}they are no two parts of one run\n"),
        ((f"a={one}", other), f"{other} has no model's name: name all inputs (NAME=FILE) or none\n"),
        (
            (one, other, "--dump", one),
            "several models: say of which one a dump is, NAME=FILE, as of the inputs\n",
        ),
        ((f"a={one}", f"b={other}", "--dump", "z=x"), "a dump is said to be of z, but no input is\n"),
    ):
        capsys.readouterr()
        assert exit_code("report", *inputs, "-o", tmp_path / "report") == 2
        assert capsys.readouterr().err == f"relfast: {words}"
        assert not (tmp_path / "report").exists()


@pytest.mark.slow
def test_models_side_by_side(tmp_path: Path) -> None:
    (one, _), (other, _) = (scored(tmp_path / n, sampled(6)) for n in ("a", "b"))
    # of the same prompts, in files of the same name
    assert exit_code("report", one, other, "-o", tmp_path / "report") == 0
    page = (tmp_path / "report" / "index.html").read_text()
    assert "a/dump and b/dump" in re.findall("<title>(.*?)</title>", page)[0]
    lines = (tmp_path / "report" / "summary_stats.csv").read_text().splitlines()[1:]
    assert {line.split(",")[0] for line in lines} == {"a/dump", "b/dump"}
    # named: folders, whose rows and summaries count once each
    named = (f"big={tmp_path / 'a'}", f"small={tmp_path / 'b'}")
    assert exit_code("report", *named, "-o", tmp_path / "report", "--overwrite") == 0
    page = (tmp_path / "report" / "index.html").read_text()
    assert "big and small" in re.findall("<title>(.*?)</title>", page)[0]
    assert "maj@k</td>" in page  # which summaries know, and rows do not


NO_ROW = ("{}", "nonsense", '{"status": "fine", "metrics": {}}', '{"status": "ok"}', "[1]")
NO_SUMMARY = ('{"tasks": []}', '{"tasks": [1]}', '{"tasks": {"REL-A1": {}}}', "[]", "{")


def test_what_is_scored_and_what_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for at, text in enumerate(NO_ROW):
        (tmp_path / f"{at}.jsonl").write_text(f"\n{text}\n")
        with pytest.raises(InputError, match=rf"{at}\.jsonl:2"):
            read_scored([str(tmp_path / f"{at}.jsonl")])
    with pytest.raises(InputError, match="no scored rows and no summary in this folder"):
        read_scored([str(tmp_path)])
    rows, summary = scored(tmp_path / "run", sampled(2))
    # a folder may hold any JSON
    for at, text in enumerate(NO_SUMMARY):
        (tmp_path / "run" / f"{at}.json").write_text(text)
    found = {Path(item.path).name for item in find_inputs([str(tmp_path / "run")])}
    assert found == {"dump.jsonl.scored.jsonl", "summary.json"}
    copy = tmp_path / "copy.json"
    copy.write_bytes(summary.read_bytes())
    with pytest.raises(UsageError, match="are the same summary"):
        read_scored([str(summary), str(copy)], shards=True)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(rows.read_bytes())))
    assert read_scored(["-"]).summary.rows == 4
    # rows without ids are known by their lines; other records add up
    unnamed = [{**item, "id": None} for item in ROWS[:8]]
    nameless = [write_dump(tmp_path / f"{name}.jsonl", unnamed) for name in "ab"]
    with pytest.raises(UsageError, match="row 0 of REL-A1 without an id, sample 0"):
        read_scored([str(path) for path in nameless])
    others = [write_dump(tmp_path / f"{first}.jsonl", ROWS[first : first + 40]) for first in (0, 80)]
    assert read_scored([str(path) for path in others]).summary.rows == 80


@pytest.mark.parametrize("repeated", [False, True])
def test_shards_are_the_whole(repeated: bool, tmp_path: Path) -> None:
    records = sampled(9)
    if repeated:  # an id whose samples stand on several lines, in several shards
        records = [{**record, "id": f"q{n % 3}"} for n, record in enumerate(records)]
    whole, _ = scored(tmp_path / "whole", records)
    parts = [scored(tmp_path / f"part{n}", records, "--shard", f"{n}/3") for n in range(3)]
    # a small file is one block; cut its rows instead (then journals have no votes for them)
    whole.with_name(f"{whole.name}.journal").unlink()
    rows = whole.read_text().splitlines(keepends=True)
    for n, (path, _) in enumerate(parts):
        path.write_text("".join(rows[6 * n : 6 * n + 6]))
    paths = [str(path) for path, _ in parts]
    merged = read_scored(paths, shards=True).summary.to_dict()["tasks"]
    assert merged == read_scored([str(whole)]).summary.to_dict()["tasks"]
    assert merged["REL-A1"]["prompts"] == (3 if repeated else 9)
    if repeated:
        with pytest.raises(UsageError, match="--shards"):
            read_scored(paths)


@pytest.mark.parametrize("named", ["folder", "files"])
def test_rows_and_their_own_summary_count_once(named: str, tmp_path: Path) -> None:
    rows, summary = scored(tmp_path / "run", sampled(6))
    both = read_scored([str(tmp_path / "run")] if named == "folder" else [str(summary), str(rows)])
    alone = json.loads(summary.read_text())
    found = both.summary.to_dict()
    assert found["responses"] == 12
    assert sorted(both.inputs) == ["dump.jsonl.scored.jsonl", "summary.json"]
    # the rows' numbers, and what only the summary knows
    assert found["tasks"] == alone["tasks"]
    assert found["tasks"]["REL-A1"]["maj@k_prompts"] == {"2": 6}
    assert found["signature"] == alone["signature"]
    assert found["notes"] == ["rows and their own summaries are counted once"]


@pytest.mark.parametrize("known_by", ["journal", "details", "nothing", "a journal of other rows"])
def test_majorities_of_rows_without_their_summary(known_by: str, tmp_path: Path) -> None:
    options = ("--details",) if known_by == "details" else ()
    rows, summary = scored(tmp_path / "run", sampled(6), *options)
    expected = json.loads(summary.read_text())["tasks"]["REL-A1"]["maj@k"]
    if known_by in ("details", "nothing"):
        rows.with_name(f"{rows.name}.journal").unlink()
    elif known_by == "a journal of other rows":
        write_dump(rows, rows_of(rows)[::-1])
    found = read_scored([str(rows)]).summary.to_dict()["tasks"]["REL-A1"]["maj@k"]
    assert found == (expected if known_by in ("journal", "details") else {})


def test_samples_on_several_lines_have_names_of_their_own(tmp_path: Path) -> None:
    path = write_dump(
        tmp_path / "rows.jsonl", [row(n, "REL-A1", n == 0, float(n == 0)) | {"id": "q"} for n in range(3)]
    )
    assert [kept.score.sample for kept in read_scored([str(path)], records=10).sample] == [0, 1, 2]


def test_majorities_of_a_prompt_in_two_files_are_not_shown(tmp_path: Path) -> None:
    same_id = [{**record, "id": "q"} for record in sampled(6)]
    scored(tmp_path / "a", same_id[:2])
    other, _ = scored(tmp_path / "b", same_id[2:])
    # as the second shard of one run would count its lines
    write_dump(other, [{**item, "index": item["index"] + 2} for item in rows_of(other)])
    merged = read_scored([str(tmp_path / "a"), str(tmp_path / "b")], shards=True).summary
    assert merged.tasks["REL-A1"].histogram == {(12, 4): 1}
    assert merged.tasks["REL-A1"].majority == {}
