"""The generated parts of docs/strict.md: forms, what each task looks for and asks, what real outputs lose.

``python docs/forms.py`` writes them into the page; tests/test_docs.py holds the page against them.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from relfast_kernels.text.form_table import FORMS, LANGUAGES, STATED, Form

import relfast
from relfast.tasks import TASKS

PAGE: Final = Path(__file__).with_name("strict.md")
DATA: Final = Path(__file__).parent.parent / "tests" / "data"

VALUE: Final = "4"
"""What stands for X in the table's examples."""

SPELLED_OUT: Final = {"line": "line: the last one, or the last sentence, is nothing but X"}


def forms() -> Iterator[str]:
    """The table of forms, as REL-A reads them; a new line is shown as ↵."""
    yield "| form | examples, for X = 4 |"
    yield "|---|---|"
    for form in (*FORMS, STATED):
        yield f"| {SPELLED_OUT.get(form.kind, form.kind)} | {', '.join(_shown(form))} |"


def _shown(form: Form) -> Iterator[str]:
    for example in form.examples:
        text = example.format(X=VALUE).replace("\n", "↵").replace("|", "\\|")
        yield f"`` {text} ``" if "`" in text else f"`{text}`"


def ends() -> Iterator[str]:
    """The words that end a value, in English."""
    yield f"  *{', '.join(sorted(LANGUAGES[0].ends.split()))}*."


def tasks() -> Iterator[str]:
    """What strict looks for in each task's responses, and the sentence that asks for it."""
    yield "| task | looked for | sentence to add to a prompt |"
    yield "|---|---|---|"
    told: dict[tuple[str, str], list[str]] = {}
    for name, task in TASKS.items():
        sentence = next((prompt.sentence for prompt in task.prompts if prompt.sentence), None)
        asked = f"`{sentence}`" if sentence else "none: the task's own prompt asks for it"
        told.setdefault((task.forms.replace("<", "\\<"), asked), []).append(name)
    for (looked_for, asked), names in told.items():
        first, last = names[0], names[-1]
        yield f"| {first if first == last else f'{first}…{last[-2:]}'} | {looked_for} | {asked} |"


def losses() -> Iterator[str]:
    """What real outputs lose that were asked for no form of ours."""
    yield "| real outputs | read as | another answer | `no_answer` | `several_answers`, others |"
    yield "|---|---|---:|---:|---:|"
    choices = _rows("real_choices/outputs.jsonl.gz")
    yield _lost(
        "seventy models, a choice from 1 to 8 (MMLU-Pro, ZeroEval)", "REL-A1",
        [(row["response"], {"target": row["choice"] - 1}) for row in choices],
    )  # fmt: skip
    solutions = _rows("realign/model_solutions.jsonl.gz")
    boxed = [(row["llm_solution"], re.findall(r"\\boxed{([1-8])}", row["llm_solution"])) for row in solutions]
    yield _lost(
        "Qwen2.5-Math and ToRA, solutions whose `pred` is 1 to 8, boxed", "REL-A1",
        [
            (text, {"target": int(row["pred"]) - 1})
            for (text, found), row in zip(boxed, solutions, strict=True)
            if found and str(row.get("pred")) == found[-1]
        ],
    )  # fmt: skip
    chemistry = _rows("rel/chem_llm_responses.jsonl.gz")
    yield _lost(
        'seventeen models, asked for `{"output": "Yes"}`', "REL-C1",
        [(row["response"], None) for row in chemistry if row["kind"] == "yesno"],
    )  # fmt: skip
    yield _lost(
        'the same, asked for `{"output": "SMILES"}`', "REL-C2",
        [(row["response"], None) for row in chemistry if row["kind"] == "smiles"],
    )  # fmt: skip


def _rows(name: str) -> list[dict[str, Any]]:
    with gzip.open(DATA / name, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _lost(what: str, task: str, pairs: Sequence[tuple[str, Mapping[str, Any] | None]]) -> str:
    """A row of the table; gold is None where only whether an answer was read can be told."""
    stand_in = {"REL-C1": {"label": "Yes"}, "REL-C2": {"smiles": "CCO"}}.get(task)
    rows = [
        {"task": task, "question": "?", "answer": gold or stand_in, "response": text} for text, gold in pairs
    ]
    reasons: Counter[str] = Counter()
    for (_, gold), score in zip(pairs, relfast.score(rows, policy="strict", workers=0), strict=True):
        if score.correct is None:
            raise RuntimeError(f"{task} was not scored: {score.error}")
        if score.status == "no_answer":
            reasons["no_answer" if score.metrics["reason"] == "no_answer" else "other"] += 1
        elif gold is not None and not score.correct:
            reasons["wrong"] += 1
    told = "" if pairs and pairs[0][1] is None else str(reasons["wrong"])
    cells = (f"{reasons[kind]} ({reasons[kind] / len(pairs):.1%})" for kind in ("no_answer", "other"))
    return f"| {len(pairs):,} of {what} | {task} | {told or '–'} | {' | '.join(cells)} |"


PARTS: Final = {"forms": forms, "ends": ends, "tasks": tasks, "losses": losses}


def part(page: str, name: str) -> str:
    """What stands between a part's marks on the page."""
    found = re.search(rf"<!-- {name} -->\n(.*?)\n<!-- /{name} -->", page, re.DOTALL)
    return found[1] if found else ""


def filled(page: str) -> str:
    """The page with its generated parts as they are now."""
    for name, made in PARTS.items():
        before, _, rest = page.partition(f"<!-- {name} -->\n")
        _, mark, after = rest.partition(f"<!-- /{name} -->")
        page = "\n".join([f"{before}<!-- {name} -->", *made(), mark + after])
    return page


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text("utf-8")), "utf-8")
