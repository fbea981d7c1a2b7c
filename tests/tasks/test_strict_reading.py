"""What ``strict`` reads of REL-C2, C3 and SeqBench's plans: the cases of the contract, that the end decides, and that
the kernels say the same as plain code."""

from __future__ import annotations

import json
import random
import tomllib
from typing import Any, Final

import pytest
from corpora import DATA, chemistry_responses, naughty_strings, solutions
from missing_kernels import without

import relfast
from relfast.tasks.rel_c.extract import read_molecules
from relfast.tasks.seqbench import machine


def contract(name: str) -> dict[str, Any]:
    return tomllib.loads((DATA / "contract" / f"{name}.toml").read_text("utf-8"))


MOLECULES: Final = [
    (
        kind == "one",
        [case["reads"]] if isinstance(case["reads"], str) and case["reads"] else case["reads"] or [],
        text,
    )
    for kind in ("one", "set")
    for case in contract("rel_c")[kind]
    for text in case["texts"]
]
FINAL: Final = (
    "<smiles>CCO</smiles>", "**<smiles>CCO</smiles>**", "\\boxed{CCO}", "<answer>CCO</answer>", "Answer: CCO", "## Answer\n\nCCO",
    "Final answer:\n<smiles>CCO</smiles>\n<smiles>COC</smiles>",
    "**Final Answer**\n\n1. <smiles>CCO</smiles>\n2. <smiles>COC</smiles>",
    "The missing isomers are: <smiles>CCO</smiles>, <smiles>COC</smiles>",
)  # fmt: skip
BEFORE_MOLECULES: Final = (
    "<smiles>", "<smiles>CC", "<smiles>CCN</smiles>", "~~", "<del>", "<!--", "```", "\\boxed{", "<answer>", "Answer:", "Final answer:",
    "not", "Final answer:\n<smiles>CCN</smiles>\n<smiles>C", "&lt;smiles&gt;", "<smiles>CCN</smiles> or", "wrong: <smiles>CCN</smiles>,",
    "\\boxed{CCN}", "Answer: CCN", "| Answer |", "<smiles><smiles>", "<s>", "\\text{", "$", "# ", "> ", "- ", "*", "\\",
)  # fmt: skip

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
BEFORE_PLANS: Final = (
    "['start: A1', 'move_to: ", "['start: A1',", "[(", "~~", "<del>", "<!--", "```", "start: A1\n", "- start(A1", "\"", "'",
    "1. start: A1\n2. ", "['move_to: A2']", "[[[['start: A1'", "start: A1, move_to: A2,", "{", "|", "start: ", "\\",
    "No plan works: ['start: A1', 'rescue: Al'] is wrong", "| start | A1 |", "actions.append('start: A1')",
)  # fmt: skip


def filled(text: str) -> str:
    for name, said in WORDS.items():
        text = text.replace(f"«{name}»", said)
    return text


PLANS: Final = [
    (case["plan"], filled(text)) for case in contract("seqbench")["case"] for text in case["texts"]
]


def read(texts: list[str]) -> list[Any]:
    """What is told of plans: their actions, whether they are optimal, the reward."""
    rows = [
        {"task": "SeqBench", "question": FACTS, "answer": {"actions": list(PLAN)}, "response": text}
        for text in texts
    ]
    scored = relfast.score(rows, policy="strict", workers=0)
    return [(row.metrics["n_actions"], row.metrics["optimal"], row.reward) for row in scored]


def test_molecules_of_the_contract() -> None:
    for one, reads, text in MOLECULES:
        found, reason = read_molecules(text, one=one)
        assert found == reads, text
        assert not one or (reason is None) == bool(reads), text


def test_plans_of_the_contract() -> None:
    found = read([text for _, text in PLANS])
    for (n_actions, text), (n, optimal, _) in zip(PLANS, found, strict=True):
        # a key that is picked up and not needed is one action more than the shortest plan
        assert (n, optimal) == (n_actions, False), text


def test_the_end_decides_of_plans() -> None:
    rng = random.Random(8)
    texts = [*BEFORE_PLANS, *FORMS, *naughty_strings()]
    texts += [row["llm_solution"] for row in rng.sample(solutions(), 150)]
    texts += [row["response"] for row in rng.sample(chemistry_responses(), 150)]
    before = [text for text in texts if "<think" not in text.lower() and (text.isprintable() or "\n" in text)]
    pairs = [(text, rng.randrange(len(FORMS))) for text in before]
    pairs += [(text, form) for text in (*BEFORE_PLANS, *FORMS) for form in range(len(FORMS))]
    alone, found = read(FORMS), read([f"{text}\n\n{FORMS[form]}" for text, form in pairs])
    for (text, form), told in zip(pairs, found, strict=True):
        assert told == alone[form], (text, FORMS[form])


def test_the_kernels_say_what_plain_code_says(monkeypatch: pytest.MonkeyPatch) -> None:
    molecules = [text for _, _, text in MOLECULES] + [f"{a}\n\n{b}" for a in BEFORE_MOLECULES for b in FINAL]
    plans = [text for _, text in PLANS] + [a + b for a in BEFORE_PLANS for b in FORMS[:2]]

    def said() -> list[Any]:
        return [*(read_molecules(text, one=one) for text in molecules for one in (True, False)), *read(plans)]

    compiled = said()
    without(monkeypatch, "maze", "tags")
    monkeypatch.setattr(machine._THREADS, "machine", None)
    assert said() == compiled
