"""Every way in which a trainer asks for rewards, called as that trainer calls it: rows of a task, its gold, a response
and the question (None: it is not passed on) → rewards."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any, Final, NamedTuple

import numpy as np
from reward_cases import Sample, chat

from relfast.rewards import nemo_rl, openrlhf, reasoning_gym, slime, trl, verifiers, verl

Row = tuple[Any, Any, Any, Any]
Arguments = dict[str, Any]


class Door(NamedTuple):
    """A trainer's way to ask.

    Attributes
    ----------
    make
        Options → its function.
    asks
        Rows → the arguments of each call that it makes for them.
    read
        What a call gives → rewards.
    awaited
        Whether it awaits that.
    """

    make: Callable[..., Callable[..., Any]]
    asks: Callable[[Sequence[Row]], list[Arguments]]
    read: Callable[[Any], list[Any]] = lambda given: [given]
    awaited: bool = False

    def __call__(self, rows: Sequence[Row], **options: Any) -> list[Any]:
        """The rewards of rows."""
        function, calls = self.make(**options), self.asks(rows)

        async def together() -> list[Any]:
            return await asyncio.gather(*(function(**arguments) for arguments in calls))

        given = asyncio.run(together()) if self.awaited else [function(**arguments) for arguments in calls]
        return [reward for each in given for reward in self.read(each)]


def each(one: Callable[..., Arguments]) -> Callable[[Sequence[Row]], list[Arguments]]:
    """A call a row."""
    return lambda rows: [one(at, *row) for at, row in enumerate(rows)]


def columns(rows: Sequence[Row]) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
    tasks, answers, responses, questions = map(list, zip(*rows, strict=True))
    return tasks, answers, responses, questions


def as_text(answer: Any) -> Any:
    """Gold as a column of texts has it."""
    return answer if answer is None or isinstance(answer, str) else json.dumps(answer)


def asked(question: Any) -> list[dict[str, Any]]:
    return [{"role": "user", "content": question}]


def _trl(rows: Sequence[Row], *, wrap: Callable[[str], Any]) -> list[Arguments]:
    tasks, answers, responses, questions = columns(rows)
    prompts = {} if None in questions else {"prompts": list(map(asked, questions))}
    golds = list(map(as_text, answers)) if wrap is chat else answers
    return [{"completions": list(map(wrap, responses)), "answer": golds, "task": tasks, **prompts}]


PLACES: Final[tuple[Callable[[Any], Any], ...]] = (
    lambda question: {"question": question},
    lambda question: {"prompt": asked(question)},
    lambda question: {"raw_prompt": question, "index": 3},
)
"""Where data sets for verl have the question."""


def _verl(at: int, task: Any, answer: Any, text: Any, question: Any) -> Arguments:
    about = None if question is None else PLACES[at % 3](question)
    # what reward managers of some releases add
    more = {"sandbox_fusion_url": None, "strict_box_verify": False}
    return {"data_source": task, "solution_str": text, "ground_truth": as_text(answer), "extra_info": about, **more}  # fmt: skip


def _verl_by_keyword(at: int, task: Any, answer: Any, text: Any, question: Any) -> Arguments:
    more = {} if question is None else {"raw_prompt": asked(question)}
    return {"data_source": task, "solution_str": text, "ground_truth": answer, "extra_info": {}, **more}


def _verl_in_batches(rows: Sequence[Row]) -> list[Arguments]:
    tasks, answers, responses, questions = columns(rows)
    about = [
        {"split": "train"} | ({} if question is None else {"question": question}) for question in questions
    ]
    return [
        {
            "data_sources": np.array(tasks, dtype=object),
            "solution_strs": responses,
            "ground_truths": answers,
            "extra_infos": np.array(about, dtype=object),
        }
    ]


TEMPLATES: Final = {
    "bare": "{}\n",
    "chatml": "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n",
    "llama": (
        "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\n{}<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\n"
    ),
    "gemma": "<bos><start_of_turn>user\n{}<end_of_turn>\n<start_of_turn>model\n",
    "mistral": "<s>[INST]{}[/INST]",
    "deepseek": "<｜begin▁of▁sentence｜><｜User｜>{}<｜Assistant｜>",
    "r1": "A conversation. User: {} Assistant: ",
}


def queries(rows: Sequence[Row], template: str) -> tuple[list[str], list[str]]:
    """What OpenRLHF sends: prompts with their responses, and prompts."""
    prompts = [TEMPLATES[template].replace("{}", question) for *_, question in rows]
    return [prompt + text for prompt, (_, _, text, _) in zip(prompts, rows, strict=True)], prompts


def labels(rows: Sequence[Row], *, with_question: bool) -> list[str]:
    return [
        json.dumps({"task": task, "answer": answer} | ({"question": question} if with_question else {}))
        for task, answer, _, question in rows
    ]


def _openrlhf(rows: Sequence[Row], *, template: str, prompts: str) -> list[Arguments]:
    sent, wrapped = queries(rows, template)
    given: Any = {"wrapped": wrapped, "questions": [row[3] for row in rows], "none": None}[prompts]
    if template == "mistral":
        sent = [query.removeprefix("<s>") for query in sent]
        given = [text.removeprefix("<s>") for text in given] if given else None
    return [{"queries": sent, "prompts": given, "labels": labels(rows, with_question=prompts == "none")}]


def _of_openrlhf(given: Any) -> list[Any]:
    """None, or NaN in a tensor where torch is loaded."""
    return [None if reward is None or reward != reward else float(reward) for reward in given["rewards"]]


def _verifiers(at: int, task: Any, answer: Any, text: Any, question: Any) -> Arguments:
    """Gold in its column, or in ``info``; responses as messages or as texts."""
    info = {"task": task} if at % 2 else {"task": task, "answer": answer}
    return {
        "prompt": None if question is None else asked(question),
        "completion": text if at % 3 else chat(text),
        "answer": as_text(answer) if at % 2 else "",
        "info": info if at % 4 < 2 else json.dumps(info),
        "state": {"task": "default"},
        "parser": object(),
    }


def _trace(at: int, task: Any, answer: Any, text: Any, question: Any) -> Arguments:
    """Its v1: a task's data and a trace."""
    told = {"answer": as_text(answer), "question": question, "benchmark": task, "info": None, "prompt": None}
    return {"task": SimpleNamespace(**told), "trace": SimpleNamespace(last_reply=text)}


def _slime(at: int, task: Any, answer: Any, text: Any, question: Any) -> Arguments:
    sample = Sample(question, text, {"task": task, "answer": answer})
    if at % 2:
        sample = Sample(question, text, json.dumps(answer), {"task": task})
    return {"args": None, "sample": sample}


def _nemo(rows: Sequence[Row]) -> list[Arguments]:
    logs = [([] if question is None else asked(question)) + chat(text) for _, _, text, question in rows]
    about = [
        {"task": task, ("ground_truth" if at % 2 else "answer"): answer}
        for at, (task, answer, _, _) in enumerate(rows)
    ]
    return [{"message_log_batch": logs, "metadata": about}]


def _gym(at: int, task: Any, answer: Any, text: Any, question: Any) -> Arguments:
    entry = {"question": question, "answer": as_text(answer), "metadata": {"task": task}}
    if at % 2 and answer is not None:
        entry |= {"answer": "text", "metadata": {"task": task, "answer": answer}}
    return {"answer": text, "entry": entry}


def _scores(given: Any) -> list[Any]:
    return [result["score"] for result in given]


DOORS: Final[dict[str, Door]] = {
    "trl": Door(trl.make_reward, partial(_trl, wrap=chat), list),
    "trl, texts": Door(trl.make_reward, partial(_trl, wrap=str), list),
    "verl": Door(verl.make_compute_score, each(_verl), lambda given: [given["score"]]),
    "verl by keyword": Door(
        lambda **options: partial(verl.compute_score, metrics=False, **options), each(_verl_by_keyword)
    ),
    "verl, batched": Door(
        lambda **options: partial(verl.compute_score_batched, **options), _verl_in_batches, _scores
    ),
    "verl in the plural": Door(
        lambda **options: partial(verl.compute_score, **options), _verl_in_batches, _scores
    ),
    **{
        f"openrlhf {template} {prompts}": Door(
            openrlhf.make_reward, partial(_openrlhf, template=template, prompts=prompts), _of_openrlhf
        )
        for template in TEMPLATES
        for prompts in ("wrapped", "questions", "none")
        if (template, prompts) not in {("bare", "questions"), ("bare", "none")}
    },
    "verifiers": Door(verifiers.make_reward, each(_verifiers)),
    "verifiers, awaited": Door(
        partial(verifiers.make_reward, asynchronous=True), each(_verifiers), awaited=True
    ),
    "verifiers, traces": Door(verifiers.make_trace_reward, each(_trace), awaited=True),
    "slime": Door(slime.make_reward, each(_slime), awaited=True),
    "slime, batched": Door(
        slime.make_reward,
        lambda rows: [{"args": None, "sample": [call["sample"] for call in each(_slime)(rows)]}],
        list,
        awaited=True,
    ),
    "nemo": Door(
        lambda **options: nemo_rl.make_environment(**options).step,
        _nemo,
        lambda given: list(map(float, given.rewards)),
    ),
    "reasoning-gym": Door(reasoning_gym.make_reward, each(_gym)),
}
NO_NONE: Final = ("verifiers, traces", "slime", "slime, batched", "nemo", "reasoning-gym")
"""Trainers that would take None for a number: where there is no score, these doors raise."""

SINGLE: Final = ("openrlhf", "nemo")
"""Doors that give single precision where torch is loaded."""
