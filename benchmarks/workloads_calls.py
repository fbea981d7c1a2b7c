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


def _scorer() -> Door:
    scorer = relfast.Scorer(policy="strict")
    return Door(lambda call: (call.task, call.answer, call.response, call.question), scorer.reward)


def _verl() -> Door:
    function = verl.make_compute_score(on_error=0.0)
    return Door(
        lambda call: (call.task, call.response, call.gold, {"question": call.question}),
        lambda *row: function(*row)["score"],
    )


def _trl() -> Door:
    return Door(
        lambda call: ([call.question], [call.response], [call.task], [call.gold]),
        lambda prompts, completions, tasks, answers: trl.reward(
            prompts, completions, task=tasks, answer=answers
        )[0],
    )


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


def _verifiers() -> Door:
    return Door(lambda call: (*_messages(call), call.gold, {"task": call.task}), verifiers.reward)


def _verifiers_trace() -> Door:
    """Its v1: awaited, with a task's data and a trace."""
    function = verifiers.make_trace_reward(on_error=0.0)

    def arguments(call: Call) -> tuple[Any, ...]:
        data = SimpleNamespace(
            answer=call.gold, question=call.question, benchmark=call.task, info=None, prompt=None
        )
        return data, SimpleNamespace(last_reply=call.response)

    return Door(arguments, function, awaited=True)


def _reasoning_gym() -> Door:
    function = reasoning_gym.make_reward(on_error=0.0)
    return Door(
        lambda call: (
            call.response,
            {"answer": call.gold, "question": call.question, "metadata": {"task": call.task}},
        ),
        function,
    )


def _nemo_rl() -> Door:
    environment = nemo_rl.make_environment(on_error=0.0)
    return Door(
        lambda call: (
            [[message for said in _messages(call) for message in said]],
            [{"task": call.task, "answer": call.gold}],
        ),
        lambda *columns: float(environment.step(*columns).rewards[0]),
    )


def _slime() -> Door:
    function = slime.make_reward(on_error=0.0)

    def arguments(call: Call) -> tuple[Any, ...]:
        label = {"task": call.task, "answer": call.answer}
        return None, SimpleNamespace(label=label, response=call.response, prompt=call.question, metadata={})

    return Door(arguments, function, awaited=True)


def _messages(call: Call) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """Prompt and completion of a chat."""
    return (
        [{"role": "user", "content": call.question}],
        [{"role": "assistant", "content": call.response}],
    )


def _result(awaited: Coroutine[Any, Any, Any]) -> Any:
    """What a coroutine gives that waits for nothing."""
    try:
        awaited.send(None)
    except StopIteration as done:
        return done.value
    raise RuntimeError("the reward of a text waits for something")


DOORS: Final[dict[str, Callable[[], Door]]] = {
    "Scorer": _scorer,
    "verl": _verl,
    "TRL": _trl,
    "OpenRLHF": _openrlhf,
    "verifiers": _verifiers,
    "verifiers v1": _verifiers_trace,
    "reasoning-gym": _reasoning_gym,
    "NeMo-RL": _nemo_rl,
    "slime": _slime,
}
"""Whose call it is → a function that makes one. What slime and verifiers' v1 await is there at once: no event loop
has a turn in it."""


def columns(chosen: Sequence[Call]) -> tuple[list[Any], ...]:
    """Tasks, golds, responses and questions of a batch."""
    return (
        [call.task for call in chosen],
        [call.gold for call in chosen],
        [call.response for call in chosen],
        [call.question for call in chosen],
    )


class Batch(NamedTuple):
    """A trainer's call with many responses: what it has at hand of them, and their rewards of that."""

    arguments: Callable[[Sequence[Call]], tuple[Any, ...]]
    rewards: Callable[..., list[Any]]


def _scorer_batch() -> tuple[Batch, Door]:
    scorer = relfast.Scorer(policy="strict")
    together = Batch(columns, lambda *columns: scorer.rewards(*columns[:3], questions=columns[3]))
    return together, Door(lambda call: (call.task, call.gold, call.response, call.question), scorer.reward)


def _trl_batch() -> tuple[Batch, Door]:
    def arguments(chosen: Sequence[Call]) -> tuple[Any, ...]:
        tasks, golds, responses, questions = columns(chosen)
        return questions, responses, tasks, golds

    return Batch(
        arguments,
        lambda prompts, completions, tasks, answers: trl.reward(
            prompts, completions, task=tasks, answer=answers
        ),
    ), _trl()


def _verl_batch() -> tuple[Batch, Door]:
    function = verl.make_compute_score(on_error=0.0)

    def arguments(chosen: Sequence[Call]) -> tuple[Any, ...]:
        tasks, golds, responses, questions = columns(chosen)
        return tasks, responses, golds, [{"question": question} for question in questions]

    return Batch(arguments, lambda *columns: [row["score"] for row in function.batch(*columns)]), _verl()


BATCHES: Final[dict[str, Callable[[], tuple[Batch, Door]]]] = {
    "Scorer": _scorer_batch,
    "TRL": _trl_batch,
    "verl": _verl_batch,
}
"""Whose call it is → a function that makes one with many responses, and one with one."""
