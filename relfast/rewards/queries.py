"""Finds where the response begins in a query of OpenRLHF, which is prompt and response in one text.

A query in which this cannot be found is not scored: a question scored as part of the response would bring
answers of its own, such as "Return <Yes> or <No>" or "Answer 1 to 8".
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, Final

from relfast.engine.calls.unscored import level_of_caller
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
"""How chat templates open a turn of the user, and a turn of the model."""

NO_PROMPT: Final = (
    "a query is prompt and response in one, and cannot be read without its prompt: pass prompts, or put the"
    ' question into the label ({"task": …, "answer": …, "question": …})'
)


def samples_of(
    queries: Sequence[object], prompts: Sequence[object] | None, labels: Sequence[object] | None
) -> list[Row | None]:
    """`sample_of` each query, with its errors."""
    n = len(queries)
    columns = zip(
        queries,
        [None] * n if prompts is None else prompts,
        [None] * n if labels is None else labels,
        strict=True,
    )
    return [sample_of(*row) for row in columns]


def with_unreadable(samples: Sequence[Row | None], scores: Iterable[Score]) -> list[Score]:
    """One score for each sample: from ``scores``, in order, or `unreadable` for a sample that is None."""
    remaining = iter(scores)
    return [unreadable(at) if sample is None else next(remaining) for at, sample in enumerate(samples)]


def sample_of(query: object, prompt: object, label: object) -> Row | None:
    """Task, gold, response and question of a query; None if the query contains neither prompt nor question.

    Raises
    ------
    UsageError
        There is no prompt, and no question in the label.
    """
    task, answer, question = read_label(label)
    prompt_text = question_of(prompt)
    response = response_in(query, prompt_text, question)
    if response is None:
        if prompt is None and not isinstance(question, str):
            raise UsageError(NO_PROMPT)
        return None
    return task, answer, response, prompt_text if question is None else question


def unreadable(at: int) -> Score:
    """The score of query ``at``, in which the prompt was not found; warns the adapter's caller."""
    message = (
        "neither the prompt nor the label's question is in the query, so where the response begins is unknown"
    )
    warnings.warn(f"relfast: {message}; such queries are not scored", stacklevel=level_of_caller())
    return unscored(at, None, None, 0, "invalid_record", "UnknownPrompt", message)


def response_in(query: object, prompt: object, question: object = None) -> Any:
    """The response in a query: the text after the prompt, without tokens that end a turn. If the prompt is
    not in the query, the text after the question and the rest of the chat template around it. None if the
    query contains neither.
    """
    if not isinstance(query, str):
        return query
    if prompt == "":
        return cut_turn(query)
    for beginning in (prompt, question):
        if isinstance(beginning, str) and beginning and not beginning.isspace():
            rest = _after(query, beginning)
            if rest is not None:
                return cut_turn(rest)
    return None


def _after(query: str, beginning: str) -> str | None:
    """The text after the first occurrence of a prompt or question; the response may repeat it. None without
    one. If a chat template's user turn is open there, the text after the start of the model's turn."""
    if query.startswith(beginning):
        return query[len(beginning) :]
    at = query.find(beginning)
    if at < 0:
        # decoding tokens can lose white space at the ends
        beginning = beginning.strip()
        at = query.find(beginning)
    if at < 0:
        return None
    before, rest = query[:at], query[at + len(beginning) :]
    for user, model in _TURNS:
        if user in before:
            _, separator, rest = rest.partition(model)
            return rest if separator else None
    return rest
