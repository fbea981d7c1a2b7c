"""Single reward calls as trainers make them: prose of 2 kB, gold as the trainer carries it, the question at hand."""

from __future__ import annotations

import random
from typing import Any, Final

from corpora import b1_names, rel_records, solutions
from honest import answer as honest_answer
from reward_doors import DOORS as TRAINERS
from reward_doors import Arguments, Door, Row, each

import relfast

from .workloads_dumps import N_CHARS, typographic

TASKS: Final = ("REL-A1", "REL-B1", "REL-C1")


def calls(task: str, n: int, seed: int = 0) -> list[Row]:
    """``n`` responses of about 2 kB to published records of a task, eight or so a record, half of them right.

    Prose of real model solutions, with an answer in one of the ways in which models write it (`honest`); 15 % have
    typography. What answers REL-B1 speaks of taxa in half of its prose, and mostly lists some: of a yes it says the
    right ones, others, a part of them or no, of a no three times in seven a yes. A response of another ``seed`` has
    sentences that those of this one have not.
    """
    rng = random.Random(f"{task} {seed}")
    records = rel_records(task)
    texts = [row["llm_solution"].strip() for row in solutions()]
    texts = [text for at, text in enumerate(texts) if at % SEEDS == seed % SEEDS and len(text) > 200]
    made: list[Row] = []
    record = rng.choice(records)
    for number in range(n):
        if number % ROLLOUTS == 0:
            record = rng.choice(records)
        prose = ""
        while len(prose) < N_CHARS - 200:
            prose += rng.choice(texts)[:N_CHARS] + "\n\n"
        if task == "REL-B1" and rng.random() < 0.5:
            prose += _on_taxa(record, rng) + "\n\n"
        if rng.random() < 0.15:
            prose = typographic(prose)
        answer = record["answer"]
        final = honest_answer(record if rng.random() < 0.5 else _wrong(record, rng), rng)
        made.append((task, answer, prose + final, record["question"]))
    return made


SEEDS: Final = 4
"""How many seeds have sentences of their own."""

ROLLOUTS: Final = 8


def _wrong(record: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """A record whose right answer is a wrong one to this."""
    task, answer = record["task"], record["answer"]
    if task == "REL-C1":
        wrong: dict[str, Any] = {"label": "No" if answer["label"] == "Yes" else "Yes"}
    elif task != "REL-B1":
        wrong = {"target": (answer["target"] + rng.randint(1, 7)) % 8}
    elif answer["label"] == "no":
        wrong = {"label": "no", "taxa": []}
        if rng.random() < 6 / 7:
            wrong = {"label": "yes", "taxa": rng.sample(range(1, 50), rng.choice((2, 2, 2, 3, 5)))}
    else:
        named = [*map(int, b1_names(record))]
        others = rng.sample(range(1, 50), len(named))
        part = rng.sample(named, (len(named) + 1) // 2)
        taxa = rng.choice((others, others, part, []))
        wrong = {"label": "yes" if taxa else "no", "taxa": taxa}
    return {"task": task, "id": "wrong", "answer": wrong}


def _on_taxa(record: dict[str, Any], rng: random.Random) -> str:
    """What a model says of an alignment on its way to an answer."""
    said = []
    for _ in range(rng.randint(2, 4)):
        one, other, third = rng.sample(range(1, 50), 3)
        motif, column = "".join(rng.choices("ACGT", k=5)), rng.randint(1, 290)
        said.append(
            rng.choice(
                (
                    f"Taxa {one} and {other} share the motif {motif} at columns {column}-{column + 4}.",
                    f"In the tree, taxon {one} is close to {other}, so what they share says little.",
                    f"- taxon_{one}: {motif} at position {column}, as in taxon_{other} but not in taxon_{third}",
                    f"Comparing sequences {one}, {other} and {third}: columns {column} to {column + 4} read {motif}.",
                )
            )
        )
    return "\n".join(said)


def read_anew(arguments: Arguments) -> Arguments:
    """What OpenRLHF does right before it asks (0.11, `utils/agent.py`: `SingleTurnAgentExecutor`): it decodes the
    query, which is in the processor's caches then."""
    if "queries" not in arguments:
        return arguments
    return {**arguments, "queries": [query.encode().decode() for query in arguments["queries"]]}


def _asked_of_scorer(at: int, task: Any, answer: Any, text: Any, question: Any) -> Arguments:
    return {"task": task, "answer": answer, "response": text, "question": question}


def _all_asked_of_scorer(rows: Any) -> list[Arguments]:
    names = ("tasks", "answers", "responses", "questions")
    return [dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))]


DOORS: Final[dict[str, Door]] = {
    "Scorer": Door(lambda **_: relfast.Scorer(policy="strict").reward, each(_asked_of_scorer)),
    "verl": TRAINERS["verl"],
    "TRL": TRAINERS["trl, texts"],
    "OpenRLHF": TRAINERS["openrlhf bare wrapped"],
    "verifiers": TRAINERS["verifiers"],
    "verifiers v1": TRAINERS["verifiers, traces"],
    "reasoning-gym": TRAINERS["reasoning-gym"],
    "NeMo-RL": TRAINERS["nemo"],
    "slime": TRAINERS["slime"],
}
"""Whose call it is; the reward of a text that is awaited is there at once: no event loop has a turn in it."""

BATCHES: Final[dict[str, Door]] = {
    "Scorer": Door(lambda **_: relfast.Scorer(policy="strict").rewards, _all_asked_of_scorer, list),
    "TRL": TRAINERS["trl, texts"],
    "verl": TRAINERS["verl in the plural"],
}
"""Whose call with many responses it is."""


def made(door: Door) -> Any:
    """A door's function, a plain one."""
    function = door.make(on_error=0.0)
    return (lambda **arguments: _result(function(**arguments))) if door.awaited else function


def _result(awaited: Any) -> Any:
    """What a coroutine gives that waits for nothing."""
    try:
        awaited.send(None)
    except StopIteration as done:
        return done.value
    raise RuntimeError("the reward of a text waits for something")
