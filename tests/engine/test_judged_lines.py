"""REL-C2 and C3 by the block: rows and what is counted of them are those of the ordinary way, for any response."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from both_ways import Scored, Ways
from rel_c_texts import (
    PIECES,
    POLICIES,
    RECORDS,
    Json,
    as_models_write,
    build_units,
    molecules,
    tags_with_pieces,
)
from seeds import SEED, fresh, rounds

from relfast.engine import block_rows
from relfast.engine.file_run.block_scoring import BlockScoring
from relfast.engine.io.blocks import Block
from relfast.engine.job import Job
from relfast.engine.scoring import Scoring
from relfast.tasks.options import AllOptions
from relfast.tasks.rel_c import extract, judges
from relfast.tasks.rel_c.judges import IsomersJudge


@pytest.fixture(scope="session", autouse=True)
def units() -> None:
    build_units()


def same(lines: Sequence[Json | bytes], job: Job, **options: Any) -> Scored:
    """What both ways give."""
    return Ways.of_job(job).same(lines, segment_lines=7, **options)


def left(found: Scored) -> int:
    """Lines of which an extractor read the response."""
    return found.n_left + found.n_exact


def job_of(policy: str, *, strip: bool = False, **options: Any) -> Job:
    return Job(options=AllOptions(policy=policy, strip_reasoning=strip), **options)  # type: ignore[arg-type]


HELD = (
    "not sure", "n/a", "I don't know", "C C", "c1:c:c:c:c:c:1", "C:C", "F/C=C/F", "F\\C=C\\F", "C~C", "C*", "*C", "CC.O",
    "C.", " CCO ", "\nCCO\n", "CCO\tO", "your smiles here", "YOUR_SMILES_HERE", "Motif: CC", "motif 1: CC", "isomer", "?",
    "...", "1. CC", "- CC", "(1) CC", "[1] CC", "#1 CC", "'CC'", "_CC_", "\\(CC\\)", "C\\(C\\)", "C\\nC", "C\\n", "C\\r\\nC",
    "~~CC~~", "C/*C", "*/", "**CC**", "the SMILES", "Molecule 3", "none", "[C:1]", "C:", ":", "$CC$", "smiles = CC", "C#C:",
    "c1ccc", "C" * 1_001 + ":", "CC!", "CC, CO", "C\u00a0C", "13", "1.", "wait, no", "never mind", "not the answer?",
)  # fmt: skip
"""What tags hold that is not plain."""

REASONING = (
    "<think>a</think>", "a <smiles>CC</smiles>\n</think>\n\n", "<think>\nFor example:\n</think>", "<think>", "\n<think>b</think>",
    "<THINK>not\n</Think>This is it: ", "<thin\u212a>c</think>", "<th\u0130nk>", "x<think>y</think>", "<think></think></think>",
    "<think>a</think>Not the answer: ", "<thinking>a</thinking>", "[THINK]a[/THINK]", "[reasoned]</think>", "\u2192 <think>\u97aa</think>",
)  # fmt: skip
"""What may stand before the tags."""


def texts_of_pieces(rng: random.Random, some: list[str], n: int) -> Iterator[str]:
    """Texts of whatever means something to an extractor, and of plain tags with a piece or two among them."""
    for number in range(n):
        if number % 2:
            yield "".join(rng.choices((*PIECES, *some), k=rng.randrange(1, 14)))
        else:
            said = rng.choices((*some, "CCO", "C1CC("), k=rng.randrange(1, 3))
            if rng.random() < 0.5:
                said.append(rng.choice(HELD))
            before = [rng.choice(REASONING)] if rng.random() < 0.4 else []
            yield tags_with_pieces(rng, said, rng.randrange(3), before)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("task", RECORDS)
def test_any_text_gives_the_same_rows(task: str, policy: str) -> None:
    rng = random.Random(f"{SEED} {task} {policy}")
    for _ in range(rounds(4)):
        lines = []
        for record in RECORDS[task]:
            for number, text in enumerate(texts_of_pieces(rng, molecules(record), 40)):
                lines.append({**record, "id": f"{record['id']} {number}", "response": text})
        rng.shuffle(lines)
        found = same(lines, job_of(policy, strip=rng.random() < 0.5, details=rng.random() < 0.5))
        # else the ordinary way would be compared with itself
        assert left(found) < 0.95 * len(lines)


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
def test_responses_as_models_write_them(policy: str) -> None:
    lines = [
        {**record, "id": str(number), "response": text}
        for number, (record, text) in enumerate(as_models_write(fresh(77)))
    ]
    found = same(lines, job_of(policy))
    assert left(found) < 0.8 * len(lines)


IDS = ("a", 'quote" and \\', "\u00e9\u2028", "", None, 0, 17, -3, 10**25, 1.5, True, ["x"], "x" * 300)


@pytest.mark.parametrize("policy", POLICIES)
def test_shapes_of_lines(policy: str) -> None:
    """Ids of all kinds, samples in a list, lines of other tasks between, blank ones and gold that is none."""
    two, three = RECORDS["REL-C2"][0], RECORDS["REL-C3"][0]
    right = "".join(f"<smiles>{one}</smiles>\n" for one in three["answer"]["missing_smiles"])
    motif = f"So \u00e9:\n<smiles>{two['answer']['smiles']}</smiles>"
    lines: list[Json] = []
    for id in IDS:
        lines += [{**two, "id": id, "response": motif}, {**three, "id": id, "response": right}]
        lines.append({**three, "id": id, "response": [right, "none", right[9:], right, "<smiles>C</smiles>"]})
        lines.append({"id": id, "task": "REL-A1", "answer": {"target": 3}, "response": "Answer 3"})
    wrong: list[Any] = [None, [], "C", ["C", 7], ["C\n"], ["CC[Te]C", "C"], ["\u00e9"], ["["], ["C"] * 9]
    for gold in wrong:
        lines.append({"id": 1, "task": "REL-C3", "answer": {"missing_smiles": gold}, "response": right})
        lines.append({"id": 1, "task": "REL-C2", "answer": {"smiles": gold}, "response": motif})
        text = gold[0] if isinstance(gold, list) and gold else gold
        lines.append(
            {"id": 1, "task": "REL-C2", "answer": {"smiles": text}, "response": "<smiles>C</smiles>"}
        )
    lines.append({**two, "response": 5})
    found = same(lines, job_of(policy))
    assert sum(row["correct"] is True for row in found.rows) >= 4 * len(IDS)
    for reward in ("correct", "f1"):
        same(lines, job_of(policy, rewards={"REL-C3": reward, "REL-C2": "overlap_metric"}))


def plain_lines(n: int) -> list[Json]:
    return [
        {**record, "id": f"{record['id']} {number}", "response": f"<smiles>{molecules(record)[number % 3]}</smiles>"}
        for number in range(n)
        for records in RECORDS.values()
        for record in records
    ]  # fmt: skip


@pytest.mark.parametrize("policy", POLICIES)
def test_plain_tags_are_read_by_kernels(policy: str) -> None:
    """Molecules with aromatic bonds written out and stereo in published records apart."""
    lines = plain_lines(9)
    assert left(same(lines, job_of(policy))) == 0
    assert left(same(lines, job_of(policy, details=True))) == 0


@pytest.mark.parametrize("policy", POLICIES)
def test_little_room(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Golds are forgotten between blocks, one has more than there is room for, and texts need more."""
    from relfast.chem import common_substructure

    monkeypatch.setattr(block_rows, "MAX_AT_ONCE", 5)
    monkeypatch.setattr(judges, "GOLDS", 4)
    monkeypatch.setattr(extract, "ROOM", 64)
    monkeypatch.setattr(common_substructure, "MOLECULES", 300)
    lines = plain_lines(5)
    random.Random(SEED).shuffle(lines)
    many = [
        {"id": n, "task": "REL-C2", "answer": {"smiles": "C" * (1 + n % 59)}, "response": f"<smiles>{'C' * (n % 50)}O</smiles>"}
        for n in range(90)
    ]  # fmt: skip
    assert left(same(lines, job_of(policy), size=3)) == 0
    same(many, job_of(policy), size=50)
    assert 0 < left(same(lines, job_of(policy))) < len(lines)


def test_a_judge_that_fails_leaves_its_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(IsomersJudge, "judge", fail)
    lines = plain_lines(2)
    assert left(same(lines, job_of("reference"))) == sum(line["task"] == "REL-C3" for line in lines)
    scoring = Scoring(job_of("reference"))
    blocks = BlockScoring(scoring, large=True)
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    (segment,) = blocks.segments(Block(0, 0, 0, len(lines), 0, len(data), data=data))
    assert dict(segment.detours) == {"a batch before the judge of REL-C3": (1, "MemoryError()")}


def test_records_with_a_verdict_are_not_judged() -> None:
    lines = plain_lines(2)
    found = same(lines, job_of("reference"), verdicts={(2, 0): ("timeout", "Timeout", "too slow")})
    assert [row["status"] for row in found.rows].count("timeout") == 1
    assert found.rows[2]["status"] == "timeout"


def test_labels_are_counted_in_the_order_of_lines() -> None:
    """Of one task, by the text kernel, decoded, and by the text kernel, beside a line that a judge takes."""
    panel: Json = {"task": "REL-A2", "answer": {"target": 2}}
    motif: Json = {"task": "REL-C2", "answer": {"smiles": "CCO"}, "response": "<smiles>CCO</smiles>"}
    lines = [{**panel, "response": response} for response in ("nothing", 5, "Answer: 3", "3 or 4", None)]
    for at in range(len(lines) + 1):
        same([*lines[:at], motif, *lines[at:]], job_of("strict"))
