"""TRL's completions logs (``log_completions=True``): ``completions_00010.parquet`` with ``prompt``,
``completion``, a column a reward, ``advantage`` and ``step``.

They hold neither gold nor ids: gold comes from ``--data``, joined on the prompt (its last user message), and
its id is that of the completion, so that completions of one prompt are its samples. A column ``answer``
(``log_extra``) is gold too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relfast.formats.entry import MISSING, Entry
from relfast.formats.gold import first_there, gold_among, question_of, task_among
from relfast.formats.verl import prompt_id


def matches(row: Mapping[str, Any]) -> bool:
    return "completion" in row and "prompt" in row and ("step" in row or "advantage" in row)


def read(row: Mapping[str, Any]) -> Entry:
    answer = gold_among(row.get("answer"))
    id = first_there(row, "id")
    if id is MISSING and answer is not MISSING:
        id = prompt_id(row["prompt"], answer)
    return Entry(
        id=id,
        task=task_among(row.get("task")),
        question=question_of(row["prompt"]),
        answer=answer,
        response=row["completion"],
        row=row,
        numbered="id" not in row,
    )
