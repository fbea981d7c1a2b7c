"""Whether records have the form that the REL document promises: every line checked, every flaw named.

The rules are those of the document's section "Benchmark Format" (`REL/README.md`), for anybody's records: our
generators', the published ones, one's own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeGuard

import orjson

from relfast.engine.lines import iterate_lines
from relfast.errors import InputError

DOMAINS: Final = {"A": "algebra", "B": "biology", "C": "chemistry"}
TASKS: Final = {
    **{f"REL-A{i}": "algebra" for i in range(1, 8)},
    "REL-B1": "biology",
    **{f"REL-C{i}": "chemistry" for i in range(1, 4)},
}
"""Task → its domain."""

N_CHOICES: Final = 8
MAX_SMILES_CHARS: Final = 1_000
"""Longer SMILES are refused unread: the longest published one has 119, and giants hang the toolkit."""

_BOM: Final = b"\xef\xbb\xbf"


class Problem(NamedTuple):
    """What is wrong with a field (dotted path, "" for the record as a whole)."""

    field: str
    message: str


class Flaw(NamedTuple):
    """A problem and where it is: file, 1-based line."""

    file: str
    line: int
    problem: Problem

    def __str__(self) -> str:
        name, message = self.problem
        return f"{self.file}:{self.line}: {name + ': ' if name else ''}{message}"


def check_record(record: Any) -> list[Problem]:
    """Everything that is wrong with one record; an empty list if it has the published form."""
    if not isinstance(record, Mapping):
        return [Problem("", f"a record must be an object, not {_kind(record)}")]
    problems = [*_check_text(record, "id"), *_check_text(record, "question")]
    task = record.get("task")
    if "task" not in record:
        problems.append(Problem("task", "missing"))
    elif not isinstance(task, str) or task not in TASKS:
        problems.append(Problem("task", f"must be one of {', '.join(TASKS)}, not {_show(task)}"))
        task = None
    domain = record.get("domain")
    if "domain" not in record:
        problems.append(Problem("domain", "missing"))
    elif domain not in DOMAINS.values():
        problems.append(Problem("domain", f"must be {' or '.join(DOMAINS.values())}, not {_show(domain)}"))
    elif task and domain != TASKS[task]:
        problems.append(Problem("domain", f"must be {TASKS[task]} for {task}, not {domain}"))
    metadata = record.get("metadata")
    if "metadata" in record and not isinstance(metadata, Mapping):
        problems.append(Problem("metadata", f"must be an object, not {_kind(metadata)}"))
        metadata = None
    answer = record.get("answer")
    if "answer" not in record:
        problems.append(Problem("answer", "missing"))
    elif not isinstance(answer, Mapping):
        problems.append(Problem("answer", f"must be an object, not {_kind(answer)}"))
    elif task:
        problems += _check_answer(task, answer)
    if task and metadata:
        problems += _check_metadata(task, metadata)
    return problems


def _check_answer(task: str, answer: Mapping[str, Any]) -> Iterator[Problem]:
    if task.startswith("REL-A"):
        target = answer.get("target")
        if "target" not in answer:
            yield Problem("answer.target", "missing")
        elif not (_is_int(target) and 0 <= target < N_CHOICES):
            yield Problem(
                "answer.target", f"must be an integer from 0 to {N_CHOICES - 1}, not {_show(target)}"
            )
    elif task == "REL-B1":
        yield from _check_homoplasy(answer)
    else:
        yield from _check_chemistry(task, answer)


def _check_homoplasy(answer: Mapping[str, Any]) -> Iterator[Problem]:
    label, taxa = answer.get("label"), answer.get("taxa")
    yield from _check_label(answer, ("yes", "no"))
    if "taxa" not in answer:
        yield Problem("answer.taxa", "missing")
    elif not isinstance(taxa, list):
        yield Problem("answer.taxa", f"must be a list of integers, not {_kind(taxa)}")
    else:
        for i, taxon in enumerate(taxa):
            if not _is_int(taxon):
                yield Problem(f"answer.taxa[{i}]", f"must be an integer, not {_show(taxon)}")
        if label == "yes" and not taxa:
            yield Problem("answer.taxa", "must not be empty where the label is yes")
        if label == "no" and taxa:
            yield Problem("answer.taxa", "must be empty where the label is no")


def _check_chemistry(task: str, answer: Mapping[str, Any]) -> Iterator[Problem]:
    if task == "REL-C1":
        yield from _check_label(answer, ("Yes", "No"))
    elif task == "REL-C2":
        if "smiles" not in answer:
            yield Problem("answer.smiles", "missing")
        else:
            yield from _check_smiles("answer.smiles", answer["smiles"])
    elif "missing_smiles" not in answer:
        yield Problem("answer.missing_smiles", "missing")
    else:
        yield from _check_smiles_list("answer.missing_smiles", answer["missing_smiles"])
    if "molecules" in answer:
        yield from _check_smiles_list("answer.molecules", answer["molecules"])


def _check_label(answer: Mapping[str, Any], allowed: tuple[str, str]) -> Iterator[Problem]:
    if "label" not in answer:
        yield Problem("answer.label", "missing")
    elif answer["label"] not in allowed:
        shown = " or ".join(f'"{label}"' for label in allowed)
        yield Problem("answer.label", f"must be {shown}, not {_show(answer['label'])}")


def _check_smiles_list(name: str, value: Any) -> Iterator[Problem]:
    if not isinstance(value, list):
        yield Problem(name, f"must be a list of SMILES, not {_kind(value)}")
    elif not value:
        yield Problem(name, "must not be empty")
    else:
        for i, smiles in enumerate(value):
            yield from _check_smiles(f"{name}[{i}]", smiles)


def _check_smiles(name: str, value: Any) -> Iterator[Problem]:
    if not isinstance(value, str):
        yield Problem(name, f"must be a SMILES string, not {_kind(value)}")
    elif not value.strip():
        yield Problem(name, "is empty")
    elif len(value) > MAX_SMILES_CHARS:
        yield Problem(name, f"has {len(value):,} characters; {MAX_SMILES_CHARS:,} are read")
    else:
        from relfast.chem.molecule import parse

        if parse(value) is None:
            yield Problem(name, f"is no readable SMILES: {_show(value)}")


def _check_metadata(task: str, metadata: Mapping[str, Any]) -> Iterator[Problem]:
    # A5…A7 are said to hold tensors, whose form no document gives
    if task not in ("REL-A1", "REL-A2", "REL-A3", "REL-A4"):
        return
    shapes = set()
    for name in ("panels", "choices"):
        value = metadata.get(name)
        if name not in metadata:
            continue
        if not isinstance(value, list) or len(value) != N_CHOICES:
            yield Problem(f"metadata.{name}", f"must be a list of {N_CHOICES} matrices")
            continue
        for i, matrix in enumerate(value):
            shape = _shape(matrix)
            if shape is None:
                yield Problem(f"metadata.{name}[{i}]", "must be a matrix of numbers, rows of one length")
            shapes.add(shape)
    if len(shapes - {None}) > 1:
        yield Problem("metadata", "panels and choices must all have one shape")


def _shape(matrix: Any) -> tuple[int, int] | None:
    if not isinstance(matrix, list) or not matrix or not all(isinstance(row, list) for row in matrix):
        return None
    if len({len(row) for row in matrix}) != 1 or not matrix[0]:
        return None
    numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for row in matrix for v in row)
    return (len(matrix), len(matrix[0])) if numbers else None


def _check_text(record: Mapping[str, Any], name: str) -> Iterator[Problem]:
    value = record.get(name)
    if name not in record:
        yield Problem(name, "missing")
    elif not isinstance(value, str):
        yield Problem(name, f"must be text, not {_kind(value)}")
    elif not value.strip():
        yield Problem(name, "is empty")


def _is_int(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


_KINDS: Final = {
    dict: "an object",
    list: "a list",
    str: "text",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    type(None): "null",
}


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), type(value).__name__)


def _show(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        # keys that are no text, integers of thousands of digits, nesting without end
        return _kind(value)
    # a lone surrogate cannot be printed
    text = text.encode("utf-8", "replace").decode("utf-8")
    return text if len(text) <= 60 else text[:57] + "..."


@dataclass
class FileCheck:
    """The check of one file: go through it for its flaws, then read the counts.

    Going through it raises `InputError` if the file cannot be read at all.

    Attributes
    ----------
    path
        Plain, gzip, zstd or Parquet; ``-`` is stdin.
    n_records, n_good
        Records seen so far, and those without a flaw. Blank lines are no records.
    tasks
        Good records by task.
    """

    path: str
    n_records: int = 0
    n_good: int = 0
    tasks: dict[str, int] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Flaw]:
        first_line: dict[str, int] = {}
        number = 0
        try:
            for number, line in enumerate(iterate_lines(self.path), 1):
                yield from self._check_line(number, line, first_line)
        except InputError as error:
            if not number:
                raise
            # a compressed file that ends early: what came before has been checked
            yield Flaw(self.path, number + 1, Problem("", str(error).removeprefix(f"{self.path}: ")))

    def _check_line(self, number: int, line: bytes, first_line: dict[str, int]) -> Iterator[Flaw]:
        if number == 1:
            line = line.removeprefix(_BOM)
        if not line.strip():
            return
        self.n_records += 1
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            yield Flaw(self.path, number, Problem("", f"no JSON: {error}"))
            return
        problems = check_record(record)
        name = record.get("id") if isinstance(record, dict) else None
        if isinstance(name, str):
            earlier = first_line.setdefault(name, number)
            if earlier != number:
                problems.append(Problem("id", f"{_show(name)} is already the id of line {earlier}"))
        if not problems:
            self.n_good += 1
            self.tasks[record["task"]] = self.tasks.get(record["task"], 0) + 1
        for problem in problems:
            yield Flaw(self.path, number, problem)
