"""Single reward calls as trainers make them: prose of 2 kB, gold as the trainer carries it, the question at hand."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Coroutine, Sequence
from types import SimpleNamespace
from typing import Any, Final, NamedTuple

from corpora import b1_names, rel_records, solutions
from honest import answer as honest_answer

import relfast
from relfast.rewards import nemo_rl, openrlhf, reasoning_gym, slime, trl, verifiers, verl

from .workloads_dumps import N_CHARS, typographic

TASKS: Final = ("REL-A1", "REL-B1", "REL-C1")


class Call(NamedTuple):
    """A response with its record."""

    task: str
    answer: dict[str, Any]
    gold: str
    response: str
    question: str


def as_it_is(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return row


class Door(NamedTuple):
    """A trainer's call.

    Attributes
    ----------
    arguments
        What it has at hand of a response before it asks.
    reward
        The reward of that; or, ``awaited``, what gives it.
    at_last
        What it makes right before it asks, so that it is in the processor's caches: its row → the same row.
    """

    arguments: Callable[[Call], tuple[Any, ...]]
    reward: Callable[..., Any]
    awaited: bool = False
    at_last: Callable[[tuple[Any, ...]], tuple[Any, ...]] = as_it_is

    @property
    def call(self) -> Callable[..., Any]:
        """The reward as a plain function."""
        return (lambda *row: _result(self.reward(*row))) if self.awaited else self.reward


def calls(task: str, n: int, seed: int = 0) -> list[Call]:
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
    made: list[Call] = []
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
        made.append(Call(task, answer, json.dumps(answer), prose + final, record["question"]))
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


def _messages(call: Call) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """Prompt and completion of a chat."""
    return [{"role": "user", "content": call.question}], [{"role": "assistant", "content": call.response}]


def _result(awaited: Coroutine[Any, Any, Any]) -> Any:
    """What a coroutine gives that waits for nothing."""
    try:
        awaited.send(None)
    except StopIteration as done:
        return done.value
    raise RuntimeError("the reward of a text waits for something")


def _verl() -> Door:
    function = verl.make_compute_score(on_error=0.0)
    return Door(
        lambda call: (call.task, call.response, call.gold, {"question": call.question}),
        lambda *row: function(*row)["score"],
    )


def _trl(prompts: Any, completions: Any, tasks: Any, answers: Any) -> list[Any]:
    return trl.reward(prompts, completions, task=tasks, answer=answers)


def _openrlhf() -> Door:
    """It decodes the query, and asks (openrlhf 0.11, `utils/agent.py`: `SingleTurnAgentExecutor`)."""
    function = openrlhf.make_reward(on_error=0.0)
    return Door(
        lambda call: (
            [call.question + call.response],
            [call.question],
            [json.dumps({"task": call.task, "answer": call.answer})],
        ),
        lambda *columns: float(function(*columns)["rewards"][0]),
        at_last=lambda row: ([row[0][0].encode().decode()], *row[1:]),
    )


def _verifiers_trace(call: Call) -> tuple[Any, ...]:
    """Its v1: a task's data and a trace."""
    told = {"answer": call.gold, "question": call.question, "benchmark": call.task}
    return SimpleNamespace(**told, info=None, prompt=None), SimpleNamespace(last_reply=call.response)


def _slime(call: Call) -> tuple[Any, ...]:
    label = {"task": call.task, "answer": call.answer}
    return None, SimpleNamespace(label=label, response=call.response, prompt=call.question, metadata={})


def _nemo_rl() -> Door:
    environment = nemo_rl.make_environment(on_error=0.0)
    return Door(
        lambda call: (
            [[message for said in _messages(call) for message in said]],
            [{"task": call.task, "answer": call.gold}],
        ),
        lambda *columns: float(environment.step(*columns).rewards[0]),
    )


DOORS: Final[dict[str, Callable[[], Door]]] = {
    "Scorer": lambda: Door(
        lambda call: (call.task, call.answer, call.response, call.question),
        relfast.Scorer(policy="strict").reward,
    ),
    "verl": _verl,
    "TRL": lambda: Door(
        lambda call: ([call.question], [call.response], [call.task], [call.gold]), lambda *row: _trl(*row)[0]
    ),
    "OpenRLHF": _openrlhf,
    "verifiers": lambda: Door(
        lambda call: (*_messages(call), call.gold, {"task": call.task}), verifiers.reward
    ),
    "verifiers v1": lambda: Door(_verifiers_trace, verifiers.make_trace_reward(on_error=0.0), awaited=True),
    "reasoning-gym": lambda: Door(
        lambda call: (
            call.response,
            {"answer": call.gold, "question": call.question, "metadata": {"task": call.task}},
        ),
        reasoning_gym.make_reward(on_error=0.0),
    ),
    "NeMo-RL": _nemo_rl,
    "slime": lambda: Door(_slime, slime.make_reward(on_error=0.0), awaited=True),
}
"""Whose call it is → a function that makes one. What slime and verifiers' v1 await is there at once: no event loop
has a turn in it."""


class Batch(NamedTuple):
    """A trainer's call with many responses: what it has at hand of their tasks, golds, responses and questions, and
    their rewards of that."""

    arguments: Callable[[list[Any], list[Any], list[Any], list[Any]], tuple[Any, ...]]
    rewards: Callable[..., list[Any]]


def columns(chosen: Sequence[Call]) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
    """Tasks, golds, responses and questions of a batch."""
    tasks, _, golds, responses, questions = map(list, zip(*chosen, strict=True))
    return tasks, golds, responses, questions


def _scorer_batch() -> Batch:
    scorer = relfast.Scorer(policy="strict")
    return Batch(
        lambda tasks, golds, *others: (tasks, list(map(json.loads, golds)), *others),
        lambda *columns: scorer.rewards(*columns[:3], questions=columns[3]),
    )


def _verl_batch() -> Batch:
    function = verl.make_compute_score(on_error=0.0)
    return Batch(
        lambda tasks, golds, responses, questions: (
            tasks,
            responses,
            golds,
            [{"question": question} for question in questions],
        ),
        lambda *columns: [row["score"] for row in function.batch(*columns)],
    )


BATCHES: Final[dict[str, Callable[[], Batch]]] = {
    "Scorer": _scorer_batch,
    "TRL": lambda: Batch(
        lambda tasks, golds, responses, questions: (questions, responses, tasks, golds), _trl
    ),
    "verl": _verl_batch,
}
"""Whose call it is → a function that makes one with many responses; `DOORS` has its calls with one."""
