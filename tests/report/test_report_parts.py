"""What a report counts and keeps: sizes, published tables, the sample, and the dump beside the rows."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest
from engine_runs import write_dump

import relfast
from relfast.records import Record, Score
from relfast.report import by_size, seqbench_section
from relfast.report.by_size import SizeCounter, SizeTable, point_of
from relfast.report.canvas import STYLES, drawn_in
from relfast.report.figures import Point, lines
from relfast.report.page import Report, Section, Table
from relfast.report.scored_rows import Sample, Scored, prompt_hash, read_scored
from relfast.tasks import TASKS
from relfast.tasks.display import Shown
from relfast.tasks.rel_c.display import isomer_set
from relfast.tasks.seqbench.l0 import fit_l0


def row(index: int, task: str, record_id: str, correct: bool, status: str = "ok", **metrics: Any) -> Score:
    return Score(index, record_id, task, 0, status, correct, float(correct), metrics)  # type: ignore[arg-type]


def scored(tmp_path: Path, scores: list[Score] | None = None) -> Scored:
    """What a report reads of rows: those that are there already, or these."""
    path = tmp_path / "x.jsonl.scored.jsonl"
    if scores is not None:
        write_dump(path, [score.to_row() for score in scores])
    run = read_scored([str(path)], records=1_000)
    run.name = "model"
    return run


def sections(run: Scored, folder: Path) -> list[Section]:
    return by_size.sections({run.name: run.counted.sizes}, [*run.summary.tasks], Report(folder))


def table_of(sections: list[Section], title: str) -> Table:
    return next(table for section in sections for table in section.tables if table.title.startswith(title))


def score_c1(tmp_path: Path) -> Path:
    """Ten records of 5 and ten of 25 molecules, half of them isomers; of the small ones 3 Yes and all No are
    right, of the large ones 1 Yes and 4 No. Their dump."""
    dump: list[dict[str, Any]] = []
    for size, yes_right, no_right in ((5, 3, 5), (25, 1, 4)):
        for k in range(10):
            label, right = ("Yes", k < yes_right) if k < 5 else ("No", k - 5 < no_right)
            record = {"id": f"q2_n{size}_{len(dump):05}", "task": "REL-C1", "question": "?"}
            record["response"] = f"<{label}>" if right else ""
            dump.append({**record, "answer": {"label": label, "molecules": ["C"] * size}})
    path = write_dump(tmp_path / "x.jsonl", dump)
    relfast.score_file(path, workers=0)
    return path


REL_C1 = Path(__file__).parent.parent / "data" / "rel" / "REL-C1.jsonl.gz"


def test_a_molecule_of_another_formula_comes_first_and_is_named() -> None:
    """The published records say themselves which formula most of the molecules have."""
    odd = 0
    for line in gzip.decompress(REL_C1.read_bytes()).splitlines()[::25]:
        row = json.loads(line)
        made = row["metadata"]
        other = "Yes" if row["answer"]["label"] == "No" else "No"
        fields = (row["answer"], f"<{other}>", row["question"])
        record = Record(0, row["id"], "REL-C1", *fields)
        exhibit = isomer_set(Shown(record, False, {}, strict=False))
        drawn = [drawing for group in exhibit.groups for drawing in group.drawings]
        assert all(drawing.svg for drawing in drawn)
        if made["constructed_label"] == "Yes":
            assert exhibit.why.endswith(
                f"All {len(row['answer']['molecules'])} have the formula {made['formula']}."
            )
            continue
        odd += 1
        number, _, caption = drawn[0].caption.partition(". ")
        formula, _, smiles = caption.partition(": ")
        assert row["answer"]["molecules"][int(number) - 1] == smiles
        assert formula != made["base_formula"]
        assert f"{smiles} (number {number}) has {formula}" in exhibit.why
        assert exhibit.why.endswith(f" have {made['base_formula']}.")
    assert odd > 5


def test_published_tables_are_rebuilt(tmp_path: Path) -> None:
    score_c1(tmp_path)
    made = sections(scored(tmp_path), tmp_path)
    table = table_of(made, "Performance by number of molecules")
    assert [list(table.header), *table.rows] == [
        ["Model", "N_molecules", "Count", "Accuracy", "Acc_Yes", "Acc_No", "No_Response"],
        ["model", "5", "10", "0.800", "0.600", "1.000", "0.200"],
        ["model", "25", "10", "0.500", "0.200", "0.800", "0.500"],
    ]
    table = table_of(made, "Task completion")
    assert list(table.header) == ["Model", "n_mol bin", "Task Completion"]
    assert table.rows == [["model", "<20", "0.800000"], ["model", "20-40", "0.500000"]]
    # without the dump ids tell sizes, and nothing gold's label
    (tmp_path / "x.jsonl").unlink()
    table = table_of(sections(scored(tmp_path), tmp_path), "Performance by number of molecules")
    assert table.rows[0] == ["model", "5", "10", "0.800", "–", "–", "0.200"]


def test_task_completion_of_motifs_is_the_mean_of_both_directions(tmp_path: Path) -> None:
    scores = [
        row(k, "REL-C2", f"q1a_n{5 if k < 2 else 45}_0000{k}", False, overlap_metric=k / 4,
            response_is_substructure_of_correct=k != 1, correct_is_substructure_of_response=k == 0)
        for k in range(4)
    ]  # fmt: skip
    made = sections(scored(tmp_path, scores), tmp_path)
    halves = [["model", bin_, "0.500000"] for bin_ in ("<20", ">=40")]
    assert table_of(made, "Task completion").rows == halves
    assert table_of(made, "Exact and overlap").rows == [["model", "0.000000", "0.375000"]]


def counted(task: str, scores: list[Score]) -> SizeTable:
    table = SizeTable()
    counter = SizeCounter(TASKS[task], table)
    for score in scores:
        counter.add(score, None)
    counter.finish()
    return table


def point(task: str, scores: list[Score], metric: str) -> Any:
    return point_of(counted(task, scores).cell(None, None), metric)


def test_size_tables_of_parts_are_those_of_the_whole() -> None:
    numbers = random.Random(0)
    scores = [
        row(k, "REL-C3", f"q3_given{5 * numbers.randint(1, 9)}_{k}", False, tp=k % 3, recall=k % 5 / 4)
        for k in range(200)
    ]
    whole, merged = counted("REL-C3", scores), counted("REL-C3", scores[:70])
    merged.merge(counted("REL-C3", scores[70:]))
    for value in (None, *whole.values("n_molecules")):
        axis = None if value is None else "n_molecules"
        assert merged.cell(axis, value) == whole.cell(axis, value)
    recall = point("REL-C3", scores, "recall")
    assert recall.value == pytest.approx(sum(k % 5 / 4 for k in range(200)) / 200)
    assert 0 < recall.low < recall.value < recall.high < 1


def test_samples_of_one_prompt_are_no_independent_rows() -> None:
    def interval(samples: int) -> float:
        rows = [(k, sample) for k in range(40) for sample in range(samples)]
        scores = [Score(k, k, "REL-A1", sample, "ok", k % 2 == 0, 1.0, {}) for k, sample in rows]
        found = point("REL-A1", scores, "correct")
        assert found.n == 40 * samples
        return float(found.high - found.low)

    # eight equal samples of each prompt say no more than one does, but for the quantile
    assert interval(8) == pytest.approx(interval(1), rel=0.05)


def test_undefined_metrics_count_nowhere() -> None:
    scores = [row(k, "REL-B1", str(k), True, f1=-1 if k % 2 else 0.5) for k in range(4)]
    found = point("REL-B1", scores, "f1")
    assert (found.value, found.n) == (0.5, 2)


@pytest.mark.parametrize("cut", [0, 1, 333, 1_000])
def test_a_sample_does_not_depend_on_how_rows_lie_in_files(cut: int) -> None:
    rows = [
        (row(k, "REL-A1", f"r{k // 2}", k % 50 == 0), "rare" if k % 50 == 0 else "usual")
        for k in range(1_000)
    ]

    def sample(some: list[Any]) -> Sample[Any]:
        made: Sample[Any] = Sample(30, of_each=5)
        for at, (score, kind) in enumerate(some):
            prompt = prompt_hash(score)
            if made.wants(prompt, at, kind):
                made.add(prompt, at, kind, score.index)
        return made

    whole = sample(rows)
    merged = sample(rows[:cut])
    merged.merge(sample(rows[cut:]), cut)
    assert list(merged) == list(whole)
    assert 30 <= len(whole) <= 40
    assert sum(index % 50 == 0 for index in whole) >= 5
    assert list(whole) == sorted(whole)


def test_a_dump_that_is_another_one_is_left_out_and_that_is_said(tmp_path: Path) -> None:
    dump = score_c1(tmp_path)
    dump.write_text(dump.read_text().replace("q2_n5_00003", "another"))
    (note,) = scored(tmp_path).summary.notes
    assert "on line 4 it has id 'another', not 'q2_n5_00003'" in note


@pytest.mark.slow
def test_seqbench_shows_the_decay_that_l0_fits(tmp_path: Path) -> None:
    numbers = random.Random(1)
    scores = []
    for k in range(300):
        depth = numbers.randint(5, 60)
        right = numbers.random() < 0.9 ** (depth / 3)
        scores.append(
            row(k, "SeqBench", str(k), right, exact_match=right, progress_ratio=float(right), valid=right, optimal=right,
                violation=None if right else "not_adjacent", violation_index=None if right else depth // 2,
                n_actions=depth, logical_depth=depth, backtracking=k % 3, noise=0.2)
        )  # fmt: skip
    section = seqbench_section.draw([scored(tmp_path, scores)], "SeqBench", Report(tmp_path))
    drawn = ("pass_by_depth", "progress_by_depth", "depth_by_backtracking", "breaks")
    assert [picture.stem for picture in section.pictures] == [f"seqbench_{name}" for name in drawn]
    fit = fit_l0([s.metrics["logical_depth"] for s in scores], [s.correct for s in scores])
    whole, *by_doors = section.tables[0].rows
    assert whole == ["model", "all", "all", f"{fit.l0:,.2f}", f"{fit.low:,.2f}–{fit.high:,.2f}", f"{fit.least_squares:,.2f}",
                     f"{100 * fit.n_correct / 300:.1f} %", "300"]  # fmt: skip
    assert [row[1] for row in by_doors] == ["0", "1", "2"]


def test_tokens_of_a_sample_beside_one_that_failed(tmp_path: Path) -> None:
    usage = [{"completion_tokens": 5}, {}, {"completion_tokens": 7}]
    dump = {"id": "a", "task": "REL-A1", "answer": {"target": 1}, "response": ["Answer 2", None, "Answer 3"]}
    path = write_dump(tmp_path / "x.jsonl", [dump | {"generation": {"usage": usage}}])
    relfast.score_file(path, workers=0)
    kept = [(each.score.sample, each.tokens) for each in scored(tmp_path).sample]
    assert kept == [(0, 5), (1, None), (2, 7)]


def test_a_figure_for_a_paper_is_as_wide_as_its_column(tmp_path: Path) -> None:
    """The PNG says so itself: its width in pixels stands in bytes 16 to 20."""
    points = {name: {1.0: Point(0.5, 0.4, 0.6), 2.0: Point(0.7, 0.6, 0.8)} for name in "ab"}
    for style, pixels, titled in (("page", 1_920, True), ("paper", 1_005, False)):
        with drawn_in(STYLES[style]):
            canvas = lines("By size", points, "size", "accuracy")
            canvas.save(tmp_path / "x.png")
        assert int.from_bytes((tmp_path / "x.png").read_bytes()[16:20]) == pixels
        assert ("By size" in (tmp_path / "x.svg").read_text()) is titled
        one, other = (container.lines[0].get_xdata() for container in canvas.axes.containers)
        assert all(0 < b - a < 0.34 for a, b in zip(one, other, strict=True))
