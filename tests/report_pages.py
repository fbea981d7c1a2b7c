"""Dumps of several benchmarks with hostile and ordinary responses, scored and reported on."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from contract_records import SEQBENCH
from engine_runs import write_dump

from relfast.report.scored import generate_report

SCRIPT = "<script>window.hacked = 1</script>"
HOSTILE = {
    "script": f"{SCRIPT} <img src=x onerror='window.hacked = 1'> Answer 3",
    "closing": "</script></pre></textarea>-->]]><script>window.hacked = 1</script> Answer 3",
    "right-to-left": "Answer \u202e3\u202c \u2066a\u2069 \u200f Answer 3",
    "separators": "one\u2028two\u2029three\x00\x1b[31m Answer 3",
    "surrogate": "\ud800 Answer 3",
    "megabyte": "x" * 400_000 + " Answer 3 " + "y" * 600_000,
    "braces": "{{ 7 * 7 }} {% raw %} ${window.hacked = 1} Answer 3",
}
"""By id; all of them name the third choice."""


def records(shift: int) -> list[dict[str, Any]]:
    """A model's dump; ``shift`` tells models apart."""
    made: list[dict[str, Any]] = [
        {"id": f"a{n}", "task": "REL-A1", "question": f"Which? {n}", "answer": {"target": n % 8},
         "response": f"Answer {(n + shift) % 5 + 1}", "usage": {"completion_tokens": n + 1}}
        for n in range(60)
    ]  # fmt: skip
    made += [
        {"id": name, "task": "REL-A1", "question": SCRIPT, "answer": {"target": 1}, "response": text}
        for name, text in HOSTILE.items()
    ]
    made += [
        {"id": f"c{n}", "task": "REL-C2", "question": "1. CCO\n2. CCCO", "answer": {"smiles": "CCO", "molecules": ["CCO", "CCCO"][: n + 1]},
         "response": f"It is <smiles>{smiles}</smiles>."}
        for n, smiles in enumerate(("OCC", "CCC", "no molecule"))
    ]  # fmt: skip
    made.append(
        {"id": "isomers", "task": "REL-C3", "question": "1. CCO", "answer": {"missing_smiles": ["COC", "CCC"], "molecules": ["CCO"]},
         "response": "<smiles>COC</smiles><smiles>CCCC</smiles>"}
    )  # fmt: skip
    made += [
        {**SEQBENCH, "id": "maze", "response": "['start: B1', 'move_to: B2']"},
        {"id": "b", "task": "REL-B1", "question": ">1\nACGT\n>2\nACGA", "answer": {"label": "yes", "taxa": [1]},
         "response": "Yes: taxon_2"},
        {"id": "none", "task": "REL-B1", "question": ">1\nACGT\n>2\nACGA", "answer": {"label": "no", "taxa": []},
         "response": "No"},
    ]  # fmt: skip
    made.append({"id": "lost", "task": "REL-A1", "question": "?", "answer": {}, "response": "Answer 1"})
    return made


def report(folder: Path, models: int = 2) -> Path:
    """The page of some models' responses."""
    import relfast

    scored = []
    for n in range(models):
        dump = write_dump(folder / f"model{n}.jsonl", records(n))
        relfast.score_file(str(dump), workers=0)
        scored.append(f"{dump}.scored.jsonl")
    generate_report(scored, folder / "report")
    return folder / "report" / "index.html"


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def tags(page: str) -> list[tuple[str, dict[str, str | None]]]:
    """Tags of HTML with their attributes."""
    parser = _Tags()
    parser.feed(page)
    return parser.found
