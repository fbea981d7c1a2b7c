"""Textbook twins of the text kernels: JSON decoded, answers found with `re`, as the documents say it."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple


class Line(NamedTuple):
    """What a kernel should find in a line: bits of its key, counts, and the id's text."""

    task: str
    found: bool
    correct: bool
    gold_yes: bool
    tp: int
    n_pred: int
    n_gold: int
    id_text: bytes


def choice(text: str) -> int | None:
    """REL-A: 0-based choice, or None where nothing in the text names one."""
    match = re.search(r"Answer\s*#?\s*(\d+)", text.strip(), re.IGNORECASE)
    if match:
        number = int(match[1])
        return number - 1 if 1 <= number <= 8 else 0
    match = re.search(r"\b([1-8])\b", text)
    if match:
        return int(match[1]) - 1
    match = re.search(r"\b([0-7])\b", text)
    return int(match[1]) if match else None


def tag(text: str) -> str | None:
    """REL-C1: the first tag, capitalised."""
    match = re.search(r"<\s*(yes|no)\s*>", text, re.IGNORECASE)
    return match[1].capitalize() if match else None


def claim(text: str) -> tuple[str | None, set[str]]:
    """REL-B1: label and taxa."""
    text = text.lower()
    yes, no = "yes" in text, "no" in text
    taxa = re.findall(r"taxon[_\s]?(\d+)", text) or re.findall(r"\b(\d+)\b", text)
    return (None if yes == no else "yes" if yes else "no"), set(taxa)


def read_line(line: bytes) -> Line:
    """A record of a text task, decoded and scored the slow way."""
    row: dict[str, Any] = json.loads(line)
    task, answer, text = row["task"].upper(), row["answer"], row["response"]
    id_text = json.dumps(row["id"], ensure_ascii=False).encode()
    if task.startswith("REL-A"):
        pred = choice(text)
        return Line(task, pred is not None, (pred or 0) == answer["target"], False, 0, 0, 0, id_text)
    if task == "REL-C1":
        label = tag(text)
        return Line(task, label is not None, label == answer["label"], False, 0, 0, 0, id_text)
    gold = {str(taxon).lower() for taxon in answer.get("taxa", [])}
    label, taxa = claim(text)
    if answer["label"].lower() == "no":
        return Line(task, label is not None, label == "no" and not taxa, False, 0, 0, 0, id_text)
    tp = len(gold & taxa)
    return Line(task, label is not None, label == "yes" and tp > 0, True, tp, len(taxa), len(gold), id_text)
