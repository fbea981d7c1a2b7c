"""Queries as OpenRLHF sends them, prompt and response in one text: where the response begins.

What cannot be told apart is not scored. A question that is read as part of a response has answers of its own:
"Return <Yes> or <No>", "Answer 1 to 8".
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, Final

from relfast.engine.online.needs import level_of_caller
from relfast.errors import UsageError
from relfast.records import Score, unscored
from relfast.rewards.shared import Row, question_of, read_label
from relfast.tasks.reasoning import cut_turn

_TURNS: Final = (
    ("<|im_start|>user", "<|im_start|>assistant"),  # Qwen, ChatML
    ("<|start_header_id|>user", "<|start_header_id|>assistant<|end_header_id|>"),  # Llama 3
    ("<start_of_turn>user", "<start_of_turn>model"),  # Gemma
    ("[INST]", "[/INST]"),  # Mistral, Llama 2
    ("<｜User｜>", "<｜Assistant｜>"),  # DeepSeek
    ("<|user|>", "<|assistant|>"),  # Phi, GLM, Zephyr
    ("<|start|>user", "<|start|>assistant"),  # gpt-oss
    ("<|USER_TOKEN|>", "<|CHATBOT_TOKEN|>"),  # Command
    ("[|user|]", "[|assistant|]"),  # EXAONE
    ("User:", "Assistant:"),
    ("Human:", "Assistant:"),
)
"""How chat templates open what the user says, and what the model does."""

NO_PROMPT: Final = (
    "a query is prompt and response in one, and cannot be read without its prompt: pass prompts, or put the"
    ' question into the label ({"task": …, "answer": …, "question": …})'
)


def samples_of(
    queries: Sequence[object], prompts: Sequence[object] | None, labels: Sequence[object] | None
) -> list[Row | None]:
    """`sample_of` each query. Raises what that raises."""
    n = len(queries)
    columns = zip(
        queries,
        [None] * n if prompts is None else prompts,
        [None] * n if labels is None else labels,
        strict=True,
    )
    return [sample_of(*row) for row in columns]


def with_unreadable(samples: Sequence[Row | None], scores: Iterable[Score]) -> list[Score]:
    """The scores of the samples that are some, and `unreadable` in the places of the others."""
    given = iter(scores)
    return [unreadable(at) if sample is None else next(given) for at, sample in enumerate(samples)]


def sample_of(query: object, prompt: object, label: object) -> Row | None:
    """Task, gold, response and question of a query; None: its prompt is not in it.

    Raises
    ------
    UsageError
        There is neither a prompt nor a question.
    """
    task, answer, question = read_label(label)
    asked = question_of(prompt)
    response = response_in(query, asked, question)
    if response is None:
        if prompt is None and not isinstance(question, str):
            raise UsageError(NO_PROMPT)
        return None
    return task, answer, response, asked if question is None else question


def unreadable(at: int) -> Score:
    """The score of query ``at`` whose prompt is not in it, with a warning for whoever called the adapter."""
    message = (
        "neither the prompt nor the label's question is in the query, so where the response begins is unknown"
    )
    warnings.warn(f"relfast: {message}; such queries are not scored", stacklevel=level_of_caller())
    return unscored(at, None, None, 0, "invalid_record", "UnknownPrompt", message)


def response_in(query: object, prompt: object, question: object = None) -> Any:
    """The response in a query, without what ends a turn: what follows the prompt or, where that is not in it,
    the question and the rest of the chat template around it. None: neither is in it.
    """
    if not isinstance(query, str):
        return query
    if prompt == "":
        return cut_turn(query)
    for asked in (prompt, question):
        if isinstance(asked, str) and asked and not asked.isspace():
            rest = _after(query, asked)
            if rest is not None:
                return cut_turn(rest)
    return None


def _after(query: str, asked: str) -> str | None:
    """What follows the first time something is asked; a response may repeat it."""
    if query.startswith(asked):
        return query[len(asked) :]
    at = query.find(asked)
    if at < 0:
        # tokenizers do not give back all blanks at the ends
        asked = asked.strip()
        at = query.find(asked)
    if at < 0:
        return None
    before, rest = query[:at], query[at + len(asked) :]
    for user, model in _TURNS:
        if user in before:
            _, found, rest = rest.partition(model)
            return rest if found else None
    return rest
