"""Long responses under ``strict``, whose ends are read where they stand in the JSON: as the ordinary way reads all."""

from __future__ import annotations

import json
import random
from functools import cache

import pytest
from corpora import rel_records, solutions
from mutated_corpus import ways_of
from seeds import fresh, rounds

_TASKS = ("REL-A1", "REL-A4", "REL-B1", "REL-C1")

# first lines that are an answer, or nearly; marks of reasoning, whole and broken, and what case makes of them
_OPENINGS = (
    "Answer 4\n", "**5**\n", "\t5\n", "5\n\n", "\n6\n", "Answer:\u00a05\n", "The answer is 3.\n", "Answer 4, and why:\n", "≈ 5\n",
    "analysis", "Analysis: ", "analy\u017fis", "ana", "<think>", "<think>\n", "</think>", "İ 5\n", "5" * 101 + "\n", "Panel 8\n",
)  # fmt: skip
_MARKS = (
    "<think>", "</think>", "<thin\u212a>", "</thin\u212a>", "<rea\u017foning>", "</reasoning>", "<\u017feed:think>", "</seed:think>", "◁think▷",
    "◁/think▷", "[THINK]", "[/THINK]", "[/think]", "<|im_end|>", "<｜end▁of▁sentence｜>", "</s>", "<eos>", "<|channel|>final<|message|>", "<end_of_turn>",
    "<", "[", "◁", "<\\", "[t", "<t", "<strong>", "</strong>", "\\[", "\\]", "\\\\u003c", "<unused94>", "<thought", ">",
)  # fmt: skip
_PIECES = (
    "\n", "\n\n", "\u00a0", "Answer:\u00a05", "réponse\u00a0: 5", "\u202f", "²", "①", "Panel 8", "- **Graph B:**\n", "Wait, ", "~~5~~", "\\boxed{48}",
    "answer a: 6, b: 8", "No", "yes", "…", "taxon_3", "\\n", "\\", "\"", "/", "\u2003", "é", "x" * 300, "5\u00a0", "(\u00a05\u00a0)", "ΟΔΟΣ", "’",
)  # fmt: skip
_ENDS = (
    "Answer:\u00a05", "Answer: 5", "**5**", "The panel that completes the matrix is panel 8.", "\\boxed{3}", "The answer is 2.", "5", "<Yes>", "No",
    "No.", "**No**", "< yes >", "Yes: 15, 49", "yes", "Answer 4 or 6", "Answer\u00a04.", "Answer:\u2003 7", "a: 6, b: 8", "It is\u00a03.", "<no>",
    "\u00a05", "5\u00a0", "The correct answer is\u00a0:\u00a02.", "No\u00a0.", "Answer: 5²", "Option 3\n\n", "Answer 3\n\n- a\n- b",
)  # fmt: skip


@cache
def _prose() -> list[str]:
    return [row["llm_solution"] for row in solutions()[:300]]


def _response(rng: random.Random) -> str:
    parts = [rng.choice(_OPENINGS)] if rng.random() < 0.4 else []
    size = 0
    while size < rng.choice((200, 1_100, 2_000)):
        chance = rng.random()
        if chance < 0.2:
            part = rng.choice(_PIECES)
        elif chance < 0.26:
            part = rng.choice(_MARKS)
        else:
            text = rng.choice(_prose())
            at = rng.randrange(len(text))
            part = text[at : at + rng.randrange(20, 600)]
        parts.append(part)
        size += len(part)
    parts += [
        rng.choice(("\n", "\n\n", " ", "")),
        rng.choice(_PIECES) if rng.random() < 0.2 else "",
        rng.choice(_ENDS),
    ]
    return "".join(parts)


def _as_json(text: str, rng: random.Random) -> str:
    """A text as one of the ways to write JSON has it."""
    written = json.dumps(text, ensure_ascii=rng.random() < 0.6)
    if rng.random() < 0.2:
        written = written.replace("/", "\\/")
    if rng.random() < 0.2:
        written = written.replace("<", "\\u003C").replace("[", "\\u005b")
    if rng.random() < 0.2:
        written = "".join(f"\\u{ord(c):04x}" if c.isascii() and c.isalpha() and before not in "\\u" and rng.random() < 0.02 else c
                          for before, c in zip(" " + written, written, strict=False))  # fmt: skip
        try:
            json.loads(written)
        except ValueError:
            return json.dumps(text)
    return written


@pytest.mark.slow
def test_ends_are_read_as_all_of_a_response() -> None:
    rng = fresh(41)
    records = {task: rel_records(task) for task in _TASKS}
    for kind in ("strict", "strict with details"):
        ways = ways_of(kind, "")
        n_lines = n_fast = 0
        for _ in range(rounds(4)):
            lines = []
            for _ in range(300):
                record = rng.choice(records[rng.choice(_TASKS)])
                head = json.dumps({name: record[name] for name in ("id", "task", "answer")})[:-1]
                response = ", ".join(_as_json(_response(rng), rng) for _ in range(rng.choice((1, 1, 2))))
                lines.append(f'{head}, "response": [{response}]}}'.encode())
            n_fast += ways.same(lines).n_fast
            n_lines += len(lines)
        assert n_fast > 0.8 * n_lines
