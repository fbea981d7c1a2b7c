"""The data in ``tests/data``: published records, parity cases, real solutions, hostile inputs.

``tests/data/NOTICE`` names source and licence of each. Benchmarks read the same files.
"""

from __future__ import annotations

import gzip
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "tests" / "data"

REL_FILES = {f"REL-{kind}": f"REL-{kind}" for kind in ("A1", "A2", "A3", "A4", "B1", "C1", "C2", "C3")}
REL_FILES["REL-B1"] = "REL-B1_all"
"""Task → its published records in ``rel/``."""


@cache
def rows(path: str) -> list[Any]:
    """The rows of a gzipped JSONL file of ``tests/data``."""
    with gzip.open(DATA / path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def rel_records(task: str) -> list[dict[str, Any]]:
    """The published records of a REL task."""
    return rows(f"rel/{REL_FILES[task]}.jsonl.gz")


def b1_names(record: dict[str, Any]) -> list[str]:
    """The names of a REL-B1 record's gold, which the published ones write as places in their sorted list."""
    if re.fullmatch(r"b1_\d{3}", str(record["id"])):
        named: list[str] = rows("rel/REL-B1_names.jsonl.gz")[int(record["id"][3:])]["gold_names"]
        return named
    return [str(taxon) for taxon in record["answer"]["taxa"]]


def solutions() -> list[dict[str, Any]]:
    """2,624 real model solutions with reference solutions."""
    return rows("realign/model_solutions.jsonl.gz")


def real_choices() -> list[dict[str, Any]]:
    """794 real outputs whose final answer is a number from 1 to 8: source, model, choice and response."""
    return rows("real_choices/outputs.jsonl.gz")


def boxed_choices() -> list[dict[str, Any]]:
    """Those of `solutions` whose last box holds nothing but a number from 1 to 8."""
    return [
        row
        for row in solutions()
        if re.findall(r"\\boxed{(.*?)}", row["llm_solution"])[-1:] == [str(row.get("pred"))]
        and re.fullmatch("[1-8]", str(row["pred"]))
    ]


def chemistry_responses() -> list[dict[str, Any]]:
    """1,500 real responses to chemistry questions, with their gold."""
    return rows("rel/chem_llm_responses.jsonl.gz")


def answer_pairs() -> list[dict[str, Any]]:
    """2,283 real pairs of a reference's final answer and a model's, with verdicts; `right` where it was decided."""
    return rows("answers/pairs.jsonl.gz")


def answer_cases() -> list[tuple[str, str, bool]]:
    """Pairs of answers made by hand: gold, answer, and whether it is right."""
    lines = (DATA / "answers/cases.tsv").read_text(encoding="utf-8").splitlines()
    return [(gold, answer, mark == "+") for mark, gold, answer in (line.split("\t") for line in lines)]


def realign_parity(kind: str) -> list[dict[str, Any]]:
    """ReAlign's published code's own outputs of a kind: align, parse or parse_ref."""
    return [row for row in rows("parity/realign.jsonl.gz") if row["kind"] == kind]


@cache
def naughty_strings() -> list[str]:
    """The Big List of Naughty Strings."""
    strings: list[str] = json.loads((DATA / "hostile/naughty_strings.json").read_text(encoding="utf-8"))
    return strings


@cache
def _texts(source: str) -> dict[Any, str]:
    if source == "realign":
        return {row["id"]: row["llm_solution"] for row in solutions()}
    if source == "chem":
        return {row["id"]: row["response"] for row in rows("rel/chem_llm_responses.jsonl.gz")}
    return dict(enumerate(naughty_strings()))


def with_prefix(prefix: list[Any] | None, response: str) -> str:
    """A parity row's full response: ``[source, key, length]`` names the text that stands before it."""
    if prefix is None:
        return response
    source, key, length = prefix
    text = _texts(source)[key]
    return (text if length is None else text[:length]) + "\n" + response
