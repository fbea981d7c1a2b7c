"""Every published output of REL's scorers that we have, through the function and through files.

The rows of ``parity/`` were made by running the published scorers unmodified. A row that made them raise
must give an ``error`` here, never an exception.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pytest
from corpora import REL_FILES, rel_records, rows, with_prefix
from engine_runs import write_dump

import relfast

COUNTS = {"rel": 948, "edge_cases": 192, "isomorphic_pairs": 161}


class Case(NamedTuple):
    """A call of the published scorer: what went in, what came out (None: it raised)."""

    name: str
    task: str | None
    question: str
    answer: Any
    response: Any
    expected: dict[str, Any] | None


def cases(source: str) -> Iterator[Case]:
    records = {record["id"]: record for task in REL_FILES for record in rel_records(task)}
    for number, row in enumerate(rows(f"parity/{source}.jsonl.gz")):
        name = f"{source}[{number}] {row.get('note', '')}"
        if source == "rel":
            asked, expected = records[row["id"]], row["expected"]
            response = with_prefix(row.get("prefix"), row["response"])
            published = None if "raises" in expected else expected
            yield Case(name, row["task"], asked["question"], asked["answer"], response, published)
        elif source == "edge_cases":
            task, expected = row["task"] if row["task_arg"] else None, row["expected"].get("result")
            yield Case(name, task, row["question"], row["answer"], row["response"], expected)
        else:
            said, expected = f"<smiles>{row['a']}</smiles>", {"correct": row["are_isomorphic"]}
            yield Case(name, "REL-C2", "", {"smiles": row["b"]}, said, expected)


def disagreement(expected: dict[str, Any] | None, result: dict[str, Any]) -> str | None:
    """What differs from the published result, in words; more keys than published are welcome."""
    if expected is None:
        return None if result.get("error") and result["correct"] is False else f"no error: {result}"
    for key, value in expected.items():
        if key not in result or not _same(result[key], value):
            return f"{key}: published {value!r}, ours {result.get(key, 'missing')!r}"
    return None


def _same(ours: Any, published: Any) -> bool:
    if isinstance(published, float):
        return isinstance(ours, int | float) and abs(ours - published) <= 1e-12
    return type(ours) is type(published) and ours == published


@pytest.mark.parametrize("source", COUNTS)
def test_evaluate_response(source: str) -> None:
    wrong, every = [], list(cases(source))
    assert len(every) == COUNTS[source]
    for case in every:
        result = relfast.evaluate_response(case.question, case.answer, case.response, case.task)
        if difference := disagreement(case.expected, result):
            wrong.append(f"{case.name}: {difference}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("source", COUNTS)
def test_records_to_rows(source: str, tmp_path: Path) -> None:
    # in a file a list is the samples of one prompt, null a response that never came, and what else is no text
    # is not scored: the published function knows none of these
    every = [case for case in cases(source) if isinstance(case.response, str)]
    out = tmp_path / "rows.jsonl"
    records = [
        {"id": number, "question": case.question, "answer": case.answer, "response": case.response}
        | ({} if case.task is None else {"task": case.task})
        for number, case in enumerate(every)
    ]
    relfast.score_file(write_dump(tmp_path / "dump.jsonl", records), out, workers=0, details=True)
    scored = [orjson.loads(line) for line in out.read_bytes().splitlines()]
    assert [row["index"] for row in scored] == list(range(len(every)))
    found = [(case.name, _row_disagreement(case, row)) for case, row in zip(every, scored, strict=True)]
    wrong = [f"{name}: {difference}" for name, difference in found if difference]
    assert not wrong, "\n".join(wrong)


def _row_disagreement(case: Case, row: dict[str, Any]) -> str | None:
    if case.expected is None or "error" in case.expected:
        if row["status"] != "invalid_record" or row["correct"] is not None or not row["error"]["message"]:
            return f"not an invalid_record with its reason: {row}"
        return None
    if row["status"] not in ("ok", "no_answer"):
        return f"not scored: {row}"
    return disagreement(case.expected, {"correct": row["correct"], **row["metrics"]})


BOMB = "<smiles>CC |atomProp:0.molAtomMapNumber.x|</smiles>"
"""RDKit reads this molecule and cannot write it."""


@pytest.mark.parametrize(
    ("task", "answer", "response", "policy", "message"),
    [
        ("REL-A1", {"target": 0}, "Answer " + "1" * 4_300, "reference", None),
        ("REL-A1", {"target": 0}, "Answer " + "1" * 4_301, "reference", "digits"),  # Python's limit
        ("REL-A1", {"target": True}, "Answer 2", "strict", "0 to 7"),
        *(("REL-A1", {"target": target}, "Answer 1", "strict", "0 to 7") for target in (-1, 8, 10**30)),
        *(("REL-B1", {"label": "yes", "taxa": taxa}, "yes", "reference", "must be a list") for taxa in (0, False)),
        *(("REL-B1", {"label": "yes", "taxa": taxa}, "no", "reference", None) for taxa in (None, 0)),
        *(("REL-B1", {"label": "no", "taxa": taxa}, "no", "strict", "taxa") for taxa in (0, 3, False)),
        ("REL-B1", {"label": "no", "taxa": None}, "no", "strict", None),
        *(("REL-C3", {"missing_smiles": gold}, BOMB, "reference", "any_cast") for gold in (["CC"], ["C", "CC"])),
        *(("REL-C3", {"missing_smiles": gold}, BOMB, "reference", None) for gold in ([], ["C1CC("])),
        *(("REL-C3", {"missing_smiles": gold}, "", "strict", "missing_smiles") for gold in ([], [""], None)),
    ],
)  # fmt: skip
def test_what_cannot_be_scored_is_said_where_it_is_asked_for(
    task: str, answer: dict[str, Any], response: str, policy: Any, message: str | None
) -> None:
    """As the published scorers raise: only once they come to it. ``strict`` refuses gold that means nothing."""
    result = relfast.evaluate_response("", answer, response, task, policy=policy)
    assert ("error" in result) is (message is not None)
    assert message is None or message in result["error"]
