"""What the tests of all generators ask of records, in code of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from corpora import ROOT, rows

from relfast.records import Outcome, Record
from relfast.tasks import get_task
from relfast.tasks.options import AllOptions
from relfast.validate import check_record

Rec = dict[str, Any]


def gold_response(record: Rec) -> str:
    """The gold of a record as a model might word it."""
    answer = record["answer"]
    match record["task"]:
        case "REL-B1":
            taxa = ", ".join(f"taxon_{t}" for t in answer["taxa"])
            return f"Yes. The taxa involved are {taxa}." if answer["label"] == "yes" else "No."
        case "REL-C1":
            return f"<{answer['label']}>"
        case "REL-C2":
            return f"<smiles>{answer['smiles']}</smiles>"
        case "REL-C3":
            return "\n".join(f"<smiles>{s}</smiles>" for s in reversed(answer["missing_smiles"]))
        case _:
            return f"The answer is Answer #{answer['target'] + 1}"


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
            judged = outcome(record, gold_response(record), policy)
            assert judged.error is None
            assert judged.correct, (policy, record["id"], judged)
    return found


def wrong_scores_less(record: Rec, response: str) -> None:
    for policy in ("reference", "strict"):
        assert not outcome(record, response, policy).correct


def generate(task: str, n: int, seed: int, **parameters: Any) -> list[Rec]:
    return list(get_task(task).source.generate(task, n, seed, **parameters))


def in_fresh_process(arguments: list[str], output: Path, hash_seed: str) -> bytes:
    """The bytes that ``relfast generate`` writes in a process with its own hash seed."""
    environment = os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": f"{ROOT}:{ROOT / 'kernels'}"}
    command = [sys.executable, "-m", "relfast.cli.main", "generate", *arguments, "-o", str(output)]
    subprocess.run(command, check=True, env=environment, cwd=ROOT)
    return output.read_bytes()


def published(name: str) -> list[Rec]:
    """The published records of a file such as ``REL-A1``."""
    return rows(f"rel/{name}.jsonl.gz")
