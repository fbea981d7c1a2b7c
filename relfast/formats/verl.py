"""verl's rollout and validation dumps: ``input``, ``output``, ``gts`` (gold, often JSON in a string).

A dump does not say which rollouts share a prompt: it has no id, or one of the single rollout (``uid``,
``request_id``). So the id is made of what rollouts of one prompt share, ``input`` and ``gts``; with
``--map id=PATH`` it is another.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relfast.formats.entry import MISSING, Entry
from relfast.json_text import encode_json
from relfast.tasks import find_task


def matches(row: Mapping[str, Any]) -> bool:
    return "output" in row and "gts" in row


def read(row: Mapping[str, Any]) -> Entry:
    get = row.get
    source = get("data_source")
    return Entry(
        id=_id(row),
        # a data source often has a name of the trainer's own, which says nothing about the task
        task=get("task", MISSING if find_task(source) is None else source),
        question=get("input", MISSING),
        answer=get("gts", MISSING),
        response=get("output", MISSING),
        row=row,
    )


def _id(row: Mapping[str, Any]) -> Any:
    prompt, gold = row.get("input"), row.get("gts")
    # gold that is not here comes from --data, joined on the row's own id
    if prompt is None or gold is None:
        return row.get("id", row.get("uid", MISSING))
    return prompt_id(prompt, gold)


def prompt_id(prompt: Any, gold: Any) -> str:
    """The id of the rollouts of a prompt: ``prompt-`` and 16 hex digits, a BLAKE2b digest of the JSON of
    ``[input, gts]``."""
    from hashlib import blake2b  # loads OpenSSL, which other dialects do without

    return f"prompt-{blake2b(encode_json([prompt, gold]), digest_size=8).hexdigest()}"
