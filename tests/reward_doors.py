"""Every way in which a trainer asks for rewards, called as that trainer calls it: rows of a task, its gold, a response
and the question (None: it is not passed on) → rewards."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
from reward_cases import Sample, chat

from relfast.rewards import nemo_rl, openrlhf, reasoning_gym, slime, trl, verifiers, verl

Row = tuple[Any, Any, Any, Any]
Door = Callable[..., list[Any]]


def columns(rows: Sequence[Row]) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
    tasks, answers, responses, questions = map(list, zip(*rows, strict=True))
    return tasks, answers, responses, questions


def as_text(answer: Any) -> Any:
    """Gold as a column of texts has it."""
    return answer if answer is None or isinstance(answer, str) else json.dumps(answer)


def asked(question: Any) -> list[dict[str, Any]]:
    return [{"role": "user", "content": question}]


def _trl(rows: Sequence[Row], *, wrap: Callable[[str], Any] = chat, **options: Any) -> list[Any]:
    tasks, answers, responses, questions = columns(rows)
    prompts = {} if None in questions else {"prompts": list(map(asked, questions))}
    given: list[Any] = trl.make_reward(**options)(
        completions=list(map(wrap, responses)),
        answer=list(map(as_text, answers)) if wrap is chat else answers,
        task=tasks,
        **prompts,
    )
    return given


PLACES: Final[tuple[Callable[[Any], Any], ...]] = (
    lambda question: {"question": question},
    lambda question: {"prompt": asked(question)},
    lambda question: {"raw_prompt": question, "index": 3},
)
"""Where data sets for verl have the question."""


def _verl(rows: Sequence[Row], **options: Any) -> list[Any]:
    return [
        verl.compute_score(
            task,
            text,
            as_text(answer),
            None if question is None else PLACES[at % 3](question),
            # what reward managers of some releases add
            sandbox_fusion_url=None,
            strict_box_verify=False,
            **options,
        )["score"]
        for at, (task, answer, text, question) in enumerate(rows)
    ]


def _verl_by_keyword(rows: Sequence[Row], **options: Any) -> list[Any]:
    return [
        verl.compute_score(
            task,
            text,
            answer,
            {},
            metrics=False,
            **({} if question is None else {"raw_prompt": asked(question)}),
            **options,
        )
        for task, answer, text, question in rows
    ]


def _verl_in_batches(rows: Sequence[Row], *, function: Any, **options: Any) -> list[Any]:
    tasks, answers, responses, questions = columns(rows)
    about = [
        {"split": "train"} | ({} if question is None else {"question": question}) for question in questions
    ]
    given = function(
        data_sources=np.array(tasks, dtype=object),
        solution_strs=responses,
        ground_truths=answers,
        extra_infos=np.array(about, dtype=object),
        **options,
    )
    return [result["score"] for result in given]


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


def _openrlhf(rows: Sequence[Row], *, template: str, prompts: str, **options: Any) -> list[Any]:
    sent, wrapped = queries(rows, template)
    given: Any = {"wrapped": wrapped, "questions": [row[3] for row in rows], "none": None}[prompts]
    if template == "mistral":
        sent = [query.removeprefix("<s>") for query in sent]
        given = [text.removeprefix("<s>") for text in given] if given else None
    made = openrlhf.make_reward(**options)(sent, given, labels(rows, with_question=prompts == "none"))
    # None, or NaN in a tensor where torch is loaded
    return [None if reward is None or reward != reward else float(reward) for reward in made["rewards"]]


def _verifiers(rows: Sequence[Row], **options: Any) -> list[Any]:
    return [_of_verifiers(verifiers.make_reward(**options), at, *row) for at, row in enumerate(rows)]


def _verifiers_awaited(rows: Sequence[Row], **options: Any) -> list[Any]:
    async def main() -> list[Any]:
        function = verifiers.make_reward(asynchronous=True, **options)
        return await asyncio.gather(*(_of_verifiers(function, at, *row) for at, row in enumerate(rows)))

    return asyncio.run(main())


def _of_verifiers(function: Any, at: int, task: Any, answer: Any, text: Any, question: Any) -> Any:
    """Gold in its column, or in ``info``; responses as messages or as texts."""
    info = {"task": task} if at % 2 else {"task": task, "answer": answer}
    return function(
        prompt=None if question is None else asked(question),
        completion=text if at % 3 else chat(text),
        answer=as_text(answer) if at % 2 else "",
        info=info if at % 4 < 2 else json.dumps(info),
        state={"task": "default"},
        parser=object(),
    )


def _slime(rows: Sequence[Row], **options: Any) -> list[Any]:
    samples = [
        Sample(question, text, json.dumps(answer), {"task": task})
        if at % 2
        else Sample(question, text, {"task": task, "answer": answer})
        for at, (task, answer, text, question) in enumerate(rows)
    ]
    function = slime.make_reward(**options)
    given: list[Any] = asyncio.run(function(None, samples))
    return given


def _nemo(rows: Sequence[Row], **options: Any) -> list[Any]:
    logs = [([] if question is None else asked(question)) + chat(text) for _, _, text, question in rows]
    about: list[Any] = [
        {"task": task, ("ground_truth" if at % 2 else "answer"): answer}
        for at, (task, answer, _, _) in enumerate(rows)
    ]
    return list(map(float, nemo_rl.make_environment(**options).step(logs, about).rewards))


def _gym(rows: Sequence[Row], **options: Any) -> list[Any]:
    function, given = reasoning_gym.make_reward(**options), []
    for at, (task, answer, text, question) in enumerate(rows):
        entry = {"question": question, "answer": as_text(answer), "metadata": {"task": task}}
        if at % 2 and answer is not None:
            entry |= {"answer": "text", "metadata": {"task": task, "answer": answer}}
        given.append(function(text, entry))
    return given


DOORS: Final[dict[str, Door]] = {
    "trl": _trl,
    "trl, texts": partial(_trl, wrap=str),
    "verl": _verl,
    "verl by keyword": _verl_by_keyword,
    "verl, batched": partial(_verl_in_batches, function=verl.compute_score_batched),
    "verl in the plural": partial(_verl_in_batches, function=verl.compute_score),
    **{
        f"openrlhf {template} {prompts}": partial(_openrlhf, template=template, prompts=prompts)
        for template in TEMPLATES
        for prompts in ("wrapped", "questions", "none")
        if (template, prompts) not in {("bare", "questions"), ("bare", "none")}
    },
    "verifiers": _verifiers,
    "verifiers, awaited": _verifiers_awaited,
    "slime": _slime,
    "nemo": _nemo,
    "reasoning-gym": _gym,
}
NO_NONE: Final = ("slime", "nemo", "reasoning-gym")
"""Trainers that would take None for a number: where there is no score, these doors raise."""

SINGLE: Final = ("openrlhf", "nemo")
"""Doors that give single precision where torch is loaded."""
