"""What ``strict`` reads of SeqBench's plans: the cases of the contract, that the end decides, and that the kernel
says the same as plain code."""

from __future__ import annotations

import json
import random
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest
from missing_kernels import without

import relfast
from relfast.tasks.seqbench import machine

DATA: Final = Path(__file__).resolve().parents[2] / "data"
FACTS: Final = (
    "Room A1 and A2 are connected by an open door. Room A2 and A3 are connected by an open door. "
    "Key 7 is in room A2. Bob is in room A1. Al is in room A3."
)
PLAN: Final = ("start: A1", "move_to: A2", "pick_up_key: 7", "move_to: A3", "rescue: Al")
PAIRS: Final = [tuple(action.split(": ")) for action in PLAN]
WORDS: Final = {
    "list": str(list(PLAN)),
    "body": str(list(PLAN))[1:-1],
    "wrong": "['start: A1', 'rescue: Al']",
    "pairs": str(PAIRS),
    "calls": "\n".join(f'{name}("{to}")' for name, to in PAIRS),
    "lines": "\n".join(f"{n}. {action} (legal)" for n, action in enumerate(PLAN, 1)),
    "objects": json.dumps([{"action": name, "target": to} for name, to in PAIRS]),
    "table": "| # | Action | Target |\n|---|---|---|\n"
    + "\n".join(f"| {n} | {name} | {to} |" for n, (name, to) in enumerate(PAIRS, 1)),
}
FORMS: Final = [WORDS[name] for name in ("list", "pairs", "calls", "lines", "objects", "table")]
HOSTILE: Final = (
    "['start: A1', 'move_to: ", "['start: A1',", "[(", "~~", "<del>", "<!--", "```", "start: A1\n", "- start(A1", "\"", "'",
    "1. start: A1\n2. ", "['move_to: A2']", "[[[['start: A1'", "start: A1, move_to: A2,", "{", "|", "start: ", "\\",
    "No plan works: ['start: A1', 'rescue: Al'] is wrong", "| start | A1 |", "actions.append('start: A1')",
)  # fmt: skip


def filled(text: str) -> str:
    for name, said in WORDS.items():
        text = text.replace(f"«{name}»", said)
    return text


CASES: Final = [
    (case["plan"], filled(text))
    for case in tomllib.loads((DATA / "contract" / "seqbench.toml").read_text("utf-8"))["case"]
    for text in case["texts"]
]


def read(texts: list[str]) -> list[Any]:
    """What is told of responses: actions of the plan, whether it is optimal, its reward."""
    rows = [
        {"task": "SeqBench", "question": FACTS, "answer": {"actions": list(PLAN)}, "response": text}
        for text in texts
    ]
    scored = relfast.score(rows, policy="strict", details=True)
    return [(row.metrics["n_actions"], row.metrics["optimal"], row.reward) for row in scored]


def test_the_cases_of_the_contract() -> None:
    found = read([text for _, text in CASES])
    for (n_actions, text), (n, optimal, _) in zip(CASES, found, strict=True):
        # a key that is picked up and not needed is one action more than the shortest plan
        assert n == n_actions, text
        assert not optimal


def prefixes(n: int) -> list[str]:
    import gzip

    rng = random.Random(7)
    with gzip.open(DATA / "realign" / "model_solutions.jsonl.gz", "rt", encoding="utf-8") as lines:
        solutions = [json.loads(line)["llm_solution"] for line in lines]
    with gzip.open(DATA / "rel" / "chem_llm_responses.jsonl.gz", "rt", encoding="utf-8") as lines:
        answers = [json.loads(line)["response"] for line in lines]
    texts = [*HOSTILE, *FORMS, *json.loads((DATA / "hostile" / "naughty_strings.json").read_text("utf-8"))]
    texts += rng.sample(solutions, n) + rng.sample(answers, n)
    return [text for text in texts if "<think" not in text.lower() and text.isprintable() | ("\n" in text)]


def test_the_end_decides() -> None:
    before = prefixes(150)
    alone = read(FORMS)
    rng = random.Random(8)
    pairs = [(text, rng.randrange(len(FORMS))) for text in before]
    pairs += [(text, form) for text in (*HOSTILE, *FORMS) for form in range(len(FORMS))]
    found = read([f"{text}\n\n{FORMS[form]}" for text, form in pairs])
    for (text, form), told in zip(pairs, found, strict=True):
        assert told == alone[form], (text, FORMS[form])


def test_the_kernel_says_what_plain_code_says(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [text for _, text in CASES] + [a + b for a in HOSTILE for b in FORMS[:2]]

    def said() -> list[float]:
        scorer = relfast.Scorer(policy="strict", workers=0)
        return [scorer.reward("SeqBench", {"actions": list(PLAN)}, text, FACTS) for text in texts]

    compiled = said()
    without(monkeypatch, "maze")
    monkeypatch.setattr(machine._THREADS, "machine", None)
    assert said() == compiled
