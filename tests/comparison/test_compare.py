"""`relfast compare` and `relfast.compare`: who is paired with whom, what is refused, what is written."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from engine_runs import exit_code, write_dump
from hypothesis import given, settings
from hypothesis import strategies as st

import relfast
from relfast.comparison import comparing
from relfast.errors import UsageError
from relfast.records import Score, unscored
from relfast.tasks import TASKS


def score(
    prompt: object, right: bool | None, sample: int = 0, task: str = "REL-A1", index: int = 0, **metrics: Any
) -> Score:
    if right is None:
        return unscored(index, prompt, task, sample, "timeout", "Timeout", "late")
    return Score(index, prompt, task, sample, "ok", right, float(right), metrics)


def write(path: Path, scores: Sequence[Score]) -> str:
    return str(write_dump(path, [item.to_row() for item in scores]))


def runs(*outcomes: str) -> list[list[Score]]:
    """A run for each text; a prompt each place: 1 right, 0 wrong, t without a score, blank not there."""
    marks = {"1": True, "0": False, "t": None}
    return [
        [score(f"p{at}", marks[mark], index=at) for at, mark in enumerate(text) if mark != " "]
        for text in outcomes
    ]


def test_what_is_paired() -> None:
    a, b = runs("1100 t1t", "1010110t")
    (only,) = relfast.compare(a, b)
    assert relfast.compare(a, b[::-1]).tasks == (only,), "the order of rows says nothing"
    assert (only.prompts, only.samples_a, only.samples_b) == (5, 5, 5)
    assert (only.wins, only.losses, only.ties) == (2, 1, 2)
    left = only.left_out
    assert (left.only_a, left.only_b, left.unscored_a, left.unscored_b, left.unscored_both) == (0, 1, 1, 0, 1)
    assert (only.side_a.mean, only.side_b.mean, only.difference) == (0.6, 0.4, pytest.approx(0.2))
    assert (only.interval_method, only.p) == ("bonett-price", pytest.approx(0.650, abs=0.001))


def test_lines_that_repeat_an_id_are_samples_of_one_prompt() -> None:
    """Prompts are compared by how often they are right, not sample by sample."""
    a = [score("p", right, index=at) for at, right in enumerate([True, True, False])]
    b = [score("p", right, index=at) for at, right in enumerate([True, False, False, True])]
    (only,) = relfast.compare(a, b)
    assert (only.prompts, only.samples_a, only.samples_b, only.wins, only.losses) == (1, 3, 4, 1, 0)
    assert only.difference == pytest.approx(2 / 3 - 1 / 2)
    assert (only.error, only.interval, only.p, only.p_holm) == (None, None, None, None)
    assert only.left_out.total == 0


@given(
    right=st.lists(st.lists(st.booleans(), min_size=1, max_size=9), min_size=1, max_size=20),
    seed=st.integers(0, 99),
)
@settings(max_examples=40, deadline=None)
def test_a_run_does_not_differ_from_itself_with_its_samples_in_another_order(
    right: list[list[bool]], seed: int
) -> None:
    rng = random.Random(seed)

    def run(shuffled: bool) -> list[Score]:
        return [
            score(f"p{at}", one, sample=sample)
            for at, each in enumerate(right)
            for sample, one in enumerate(rng.sample(each, len(each)) if shuffled else each)
        ]

    comparison = relfast.compare(run(False), run(True))
    (only,) = comparison
    assert (only.difference, only.wins, only.losses, only.gained, only.lost) == (0, 0, 0, 0, 0)
    assert comparison.n_flips == 0
    assert only.p in (None, 1.0)


def test_rows_without_an_id_are_paired_by_line() -> None:
    a = [score(None, True, index=5), score(None, False, index=6)]
    b = [score(None, False, index=6), score(None, False, index=5)]
    (only,) = relfast.compare(a, b)
    assert (only.prompts, only.wins, only.losses) == (2, 1, 0)


def test_tasks_are_corrected_together_and_three_runs_meet_in_pairs() -> None:
    rng = random.Random(2)
    prompts = [(f"p{at}", task) for task in ("REL-B1", "REL-A1") for at in range(200)]
    sides = [
        [score(prompt, rng.random() < chance, task=task) for prompt, task in prompts]
        for chance in (0.7, 0.5, 0.45)
    ]
    sides[2] = sides[2][:-1]
    comparison = relfast.compare(*sides, names=["x", "y", "z"])
    assert [(item.task, item.a, item.b) for item in comparison] == [
        (task, a, b) for a, b in (("x", "y"), ("x", "z"), ("y", "z")) for task in ("REL-A1", "REL-B1")
    ]
    smallest = min(comparison, key=lambda item: item.p or 0)
    assert smallest.p_holm == pytest.approx(6 * (smallest.p or 0))
    # what one run lacks none is judged by: a run has one mean
    assert {(item.task, item.prompts) for item in comparison} == {("REL-A1", 199), ("REL-B1", 200)}
    assert comparison.tasks[0].left_out.elsewhere == 1


def test_other_metrics() -> None:
    a = [score(at, True, f1=0.8, tp=3) for at in range(20)]
    b = [score(at, True, f1=0.1 * (at % 5), tp=2) for at in range(19)] + [score(19, False, tp=2)]
    (f1,) = relfast.compare(a, b, metric="f1")
    assert f1.prompts == 19
    assert f1.left_out.unscored_b == 1
    assert f1.interval_method == "student"
    (tp,) = relfast.compare(a, b, metric="tp")
    assert (tp.difference, tp.interval) == (1.0, None)


def test_the_best_is_in_bold_whichever_way_it_lies() -> None:
    """Fewer false positives are better; of what is neither, nothing is."""
    a = [score(at, True, task="REL-C3", fp=3, tp=2) for at in range(9)]
    b = [score(at, True, task="REL-C3", fp=1, tp=1) for at in range(9)]
    assert r"REL-C3 & 3.000 & \textbf{1.000}" in relfast.compare(a, b, metric="fp").to_latex()
    assert r"REL-C3 & \textbf{2.000} & 1.000" in relfast.compare(a, b, metric="tp").to_latex()
    depths = [[score(at, True, task="SeqBench", n_actions=n + at % 2) for at in range(9)] for n in (4, 5)]
    assert "textbf" not in relfast.compare(*depths, metric="n_actions").to_latex()


@pytest.mark.parametrize(
    ("task", "values", "pairs"),
    [
        ("REL-B1", [1.0, -1.0, 0.5], 2),  # -1 says that an F1 is not there
        ("REL-C3", [0.5, 1e999, float("nan"), 10**400, 0.5], 2),
    ],
)
def test_what_is_no_number_has_no_pair(task: str, values: list[float], pairs: int) -> None:
    a = [score(at, True, task=task, f1=value) for at, value in enumerate(values)]
    (only,) = relfast.compare(
        a, [score(at, True, task=task, f1=0.25) for at in range(len(values))], metric="f1"
    )
    assert (only.prompts, only.left_out.unscored_a) == (pairs, len(values) - pairs)


def test_bootstrap_is_the_same_every_time() -> None:
    a, b = runs("1101011101" * 9, "0101001001" * 9)
    one, again = (relfast.compare(a, b, bootstrap=2000, seed=4).tasks[0] for _ in range(2))
    assert one == again
    assert one.interval_method == "bootstrap"
    assert one.interval == pytest.approx(relfast.compare(a, b).tasks[0].interval, abs=0.04)


@pytest.mark.parametrize(
    ("sides", "options", "words"),
    [
        ([runs("1")[0]], {}, "two runs or more"),
        ([*runs("11", "")], {}, "B has no rows"),
        ([runs("11")[0], [score("p0", True, task="REL-B1")]], {}, "no task in common"),
        ([runs("1t")[0], runs("t1")[0]], {}, "2 prompts in common, none with a value of 'correct'"),
        ([[{"index": 0}], runs("1")[0]], {}, "a run is a file of scored rows"),
        # an id that is a number is no line's number
        ([[score(None, True, index=5)], [score(5, True)]], {}, "no id of REL-A1 in common"),
        ([[score(0, True, f1=0.5)]] * 2, {"metric": "gain"}, "metric 'gain'; there are: correct, reward, f1"),
        (runs("11", "10"), {"bootstrap": 10}, "fewer than 1000"),
        (
            [[score(at, True, gold=[at * n]) for at in range(3)] for n in (1, 2)],
            {},
            r"2 records of REL-A1 are not the same in A and B: .* first in id 1; --allow",
        ),
        (
            [[score(0, True, task="SeqBench", logical_depth=n)] for n in (9, 8)],
            {},
            "SeqBench are not the same",
        ),
        # without a summary rows show it
        ([[score(0, False, reason="empty")], [score(0, True)]], {}, "policy strict, those of B show no sign"),
    ],
)
def test_what_cannot_be_compared(sides: list[Any], options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        relfast.compare(*sides, **options)
    if "not the same" in words:
        assert "gold differs" in relfast.compare(*sides, allow_different=True).notes[0]


def scored(tmp_path: Path, name: str, shift: int, **options: Any) -> relfast.Summary:
    rows = [
        {"id": at, "task": "REL-A1", "answer": {"target": at % 4}, "response": f"Answer {(at + shift) % 5}"}
        for at in range(40)
    ]
    dump, out = write_dump(tmp_path / name, rows), tmp_path / f"{name}.rows.jsonl"
    return relfast.score_file(dump, out, workers=0, overwrite=True, **options)


def test_summaries_compare(tmp_path: Path) -> None:
    ours, theirs = scored(tmp_path, "a", 1), scored(tmp_path, "b", 2)
    comparison = relfast.compare(ours, theirs, names=["ours", "theirs"])
    assert [run.signature for run in comparison.runs] == [ours.signature] * 2
    assert comparison.tasks[0].prompts == 40
    assert comparison.notes == ()
    # the rows are there, but not those that were counted
    ours.merge(theirs)
    with pytest.raises(UsageError, match=r"has 40 rows and the summary of a.rows counts 80"):
        relfast.compare(ours, theirs)
    theirs.output = "-"
    with pytest.raises(UsageError, match="name the file of its rows"):
        relfast.compare(theirs, ours)


def test_policies_and_versions(tmp_path: Path) -> None:
    paths = []
    for name, policy in (("a", "reference"), ("b", "strict")):
        summary = scored(tmp_path, name, 1, policy=policy)
        paths.append(str(summary.output))
        (tmp_path / f"{name}.json").write_text(json.dumps(summary.to_dict()), "utf-8")
    with pytest.raises(UsageError, match="differ in policy: reference and strict"):
        relfast.compare(*paths)
    notes = relfast.compare(*paths, allow_different=True).notes
    assert any("compared all the same" in note and "policy" in note for note in notes)
    # versions and deadlines are noted, not refused; a summary stands for its rows
    other = scored(tmp_path, "c", 1, timeout=7.0)
    (tmp_path / "c.json").write_text(json.dumps(other.to_dict()), "utf-8")
    (note,) = relfast.compare(paths[0], tmp_path / "c.json").notes
    assert "differ in timeout: 6s and 7s" in note
    data = other.to_dict()
    data["signature"] = data["signature"].replace("REL-A1:", "REL-A1:9")
    (tmp_path / "c.json").write_text(json.dumps(data), "utf-8")
    with pytest.raises(UsageError, match="differ in scorer of REL-A1"):
        relfast.compare(paths[0], tmp_path / "c.json")
    strict = [score(at, False, reason="empty") for at in range(3)]
    assert relfast.compare(strict, strict[:])


@pytest.fixture
def two(tmp_path: Path) -> list[str]:
    sides = runs("1101011101" * 8, "0101001001" * 8)
    return [write(tmp_path / f"{name}.scored.jsonl", rows) for name, rows in zip("ab", sides, strict=True)]


def test_command(
    two: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert exit_code("compare", *two, "--flips", str(tmp_path / "flips.jsonl")) == 0
    said = capsys.readouterr()
    lines = said.out.splitlines()
    assert lines[0].split() == ["task", "prompts", "a", "b", "diff.", "95", "%", "interval", "p"]
    assert lines[1].split()[:5] == ["REL-A1", "80", "0.700", "0.400", "+0.300"]
    assert max(map(len, lines)) <= 80
    flips = [json.loads(line) for line in (tmp_path / "flips.jsonl").read_text().splitlines()]
    assert len(flips) == 24
    result = comparing([*two], max_flips=3)  # the others are read again
    assert [flip.id for flip in result.flips()] == [flip["id"] for flip in flips]
    assert [flip.id for flip in result.comparison.flips] == [flip["id"] for flip in flips[:3]]
    assert flips[0] == {
        "task": "REL-A1", "id": "p0", "a": "a", "b": "b", "right": "a",
        "right_a": 1, "scored_a": 1, "right_b": 0, "scored_b": 1, "index_a": 0, "index_b": 0,
    }  # fmt: skip
    assert "24 changed prompts in" in said.err
    # nothing is replaced unasked
    assert exit_code("compare", *two, "--flips", str(tmp_path / "flips.jsonl")) == 2
    assert exit_code("compare", *two, "--flips", str(tmp_path / "flips.csv")) == 0
    assert (tmp_path / "flips.csv").read_text().splitlines()[1] == "REL-A1,p0,a,b,a,1,1,0,1,0,0"


def test_long_names_and_many_runs_fit_80_columns(
    two: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    third = write(tmp_path / "c.scored.jsonl", runs("1111000011" * 8)[0])
    named = f"qwen3-235b-a22b-thinking={two[0]}", f"deepseek-v3.2={two[1]}", f"c={third}"
    assert exit_code("compare", *named) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["A = qwen3-235b-a22b-thinking", "B = deepseek-v3.2", "C = c"]
    assert lines[4].split()[:7] == ["REL-A1", "A", "−", "B", "80", "0.700", "0.400"]
    assert [line.split()[1:4] for line in lines[4:7]] == [list("A−B"), list("A−C"), list("B−C")]
    assert max(map(len, lines)) <= 80
    assert exit_code("compare", *named, "--details") == 0
    assert "REL-A1 A − B: 80 prompts; 24 won, 0 lost, 56 tied" in capsys.readouterr().out


def test_three_models_and_ten_tasks_fit_a_screen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line for each pair and task, whether names of ten letters head the columns or letters do."""
    monkeypatch.setenv("COLUMNS", "80")
    tasks = [*TASKS][:10]
    paths = []
    for name, odd in (("gpt-5-mini", 2), ("qwen3-235b", 3), ("llama-4-70", 5)):
        rows = [score(f"p{n}", n % odd > 0, task=task, index=n) for task in tasks for n in range(24)]
        paths.append(write(tmp_path / f"{name}.scored.jsonl", rows))
    for runs_of, heads, most in (
        (paths[:2], ["gpt-5-mini", "qwen3-235b"], 16),
        (paths, ["first", "second"], 42),
    ):
        assert exit_code("compare", *runs_of) == 0
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) <= most
        assert max(map(len, lines)) <= 80
        (head,) = [line for line in lines if line.startswith("task ")]
        assert [word for word in head.split() if word in heads] == heads
        assert sum(line.startswith(tuple(tasks)) for line in lines) == 10 * (
            len(runs_of) * (len(runs_of) - 1) // 2
        )


def test_formats(two: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("out.json", "out.csv", "out.tex"):
        assert exit_code("compare", *two, "-o", str(tmp_path / name)) == 0
    text = (tmp_path / "out.json").read_text()
    assert text.startswith('{\n  "metric"'), "for people too"
    data = json.loads(text)
    assert data["tasks"][0]["interval"] == list(relfast.compare(*two).tasks[0].interval or ())
    assert data["n_flips"] == len(relfast.compare(*two, max_flips=None).flips) == 24
    (row,) = csv.DictReader(io.StringIO((tmp_path / "out.csv").read_text()))
    assert (row["task"], row["difference"], row["interval_method"]) == ("REL-A1", "0.3", "bonett-price")
    assert exit_code("compare", *two, "-o", str(tmp_path / "out.md")) == 0
    head, rule, line = (tmp_path / "out.md").read_text().splitlines()[:3]
    assert [len(each.split(" | ")) for each in (head, rule, line)] == [8, 8, 8]
    assert line.startswith("| REL-A1 |      80 | 0.700 | 0.400 | +0.300 | [+0.")
    tex = (tmp_path / "out.tex").read_text()
    assert r"\toprule" in tex
    assert r"\textbf{70.0}" in tex
    assert r"$+30.0^{*}$" in tex
    comparison = relfast.compare(*two)
    assert repr(comparison) == "<Comparison of a, b by correct: REL-A1 +0.300>"
    capsys.readouterr()
    assert exit_code("compare", f"x={two[0]}", f"y={two[1]}", "-f", "csv") == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("REL-A1,x,y,")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["A"], "two runs or more"),
        (["A", "A"], "is named twice"),
        (["A", "missing.jsonl"], "missing.jsonl"),
        (["A", "text.jsonl"], "is no scored row"),
        (["A", "broken.jsonl"], 'sample is "first", no number from 0 on'),
        (["x=A", "B"], "name all runs"),
        (["x=A", "x=B"], "two runs are called 'x'"),
        (["A", "B", "--flips", "f.txt"], "must end in .jsonl or .csv"),
        (["A", "-"], "cannot be read twice"),
    ],
)
def test_one_clear_line(
    two: list[str],
    tmp_path: Path,
    arguments: list[str],
    words: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.jsonl").write_text('{"id": 1}\n')
    row = {**score("p", True).to_row(), "sample": "first"}
    (tmp_path / "broken.jsonl").write_text(json.dumps(row) + "\n")
    places = {"A": two[0], "B": two[1], "x=A": f"x={two[0]}", "x=B": f"x={two[1]}"}
    assert exit_code("compare", *(places.get(item, item) for item in arguments)) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert words in line


def test_what_is_not_distinguishable_from_the_best_is_bold_too() -> None:
    """Of three runs, one is far behind, and the other two differ in one prompt."""
    runs = [[score(at, at < right) for at in range(40)] for right in (30, 31, 5)]
    tex = relfast.compare(*runs, names=["a", "b", "c"]).to_latex().splitlines()
    (row,) = (line for line in tex if line.startswith("REL") and line.count("&") == 3 and "75.0" in line)
    assert [r"\textbf" in cell for cell in row.split("&")] == [False, True, True, False]
    # two that nobody can tell apart: none is the best
    assert "textbf" not in relfast.compare(*runs[:2]).to_latex()


def test_nothing_runs_in_a_terminal_or_a_spreadsheet(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nasty = "@cmd|'c calc'!A1 \x1b[2J \u202e & 50% $x_1$ \\input{x} [red]"
    a, b = ([score("@SUM(1)", right)] for right in (True, False))
    paths = [write(tmp_path / name, rows) for name, rows in (("a.jsonl", a), ("b.jsonl", b))]
    assert exit_code("compare", f"{nasty}={paths[0]}", f"b={paths[1]}") == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "[red]" in "".join(out.split("\n"))
    comparison = relfast.compare(*paths, names=[nasty, "<script>"])
    assert next(csv.DictReader(io.StringIO(comparison.to_csv())))["a"] == f"'{nasty}"
    tex = comparison.to_latex()
    assert r"\textbackslash{}input\{x\}" in tex
    assert "\u202e" not in tex
    assert exit_code("compare", *paths, "--flips", str(tmp_path / "flips.csv")) == 0
    (flip,) = csv.DictReader(io.StringIO((tmp_path / "flips.csv").read_text()))
    assert flip["id"] == "'@SUM(1)"
