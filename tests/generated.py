"""What the tests of all generators ask of records, in code of their own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from contract_records import plain
from corpora import rows

from relfast.records import Outcome, Record
from relfast.tasks import get_task
from relfast.tasks.options import AllOptions
from relfast.validate import check_record

Rec = dict[str, Any]


def outcome(record: Rec, response: str, policy: str) -> Outcome:
    task, options = get_task(record["task"]), AllOptions(policy=policy)  # type: ignore[arg-type]
    asked = Record(0, record["id"], task.name, record["answer"], response, record["question"])
    (judged,) = task.scorer.score([(asked, task.scorer.extract(asked, options))], options)
    return judged


def check_run(records: Iterable[Rec], n: int) -> list[Rec]:
    """Gold is right under both policies, ids are unique, the published form holds; the records as a list."""
    found = list(records)
    assert len(found) == n
    assert len({record["id"] for record in found}) == n
    # questions of one run are all different, too
    assert len({record["question"] for record in found}) == n
    for record in found:
        assert check_record(record) == []
        for policy in ("reference", "strict"):
            judged = outcome(record, plain(record["answer"]), policy)
            assert judged.error is None
            assert judged.correct, (policy, record["id"], judged)
    return found


def wrong_scores_less(record: Rec, response: str) -> None:
    for policy in ("reference", "strict"):
        assert not outcome(record, response, policy).correct


def generate(task: str, n: int, seed: int, **parameters: Any) -> list[Rec]:
    return list(get_task(task).source.generate(task, n, seed, **parameters))


def published(name: str) -> list[Rec]:
    """The published records of a file such as ``REL-A1``."""
    return rows(f"rel/{name}.jsonl.gz")
