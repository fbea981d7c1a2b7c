"""The final answer of a text under ``strict``, by the kernel's source run as plain Python; machine code
reads the same."""

from __future__ import annotations

from typing import Final

from relfast.tasks.reasoning import read_strictly

Marks = tuple[tuple[str, str], ...]

_ROOM: Final = 64


def read_choice(response: object, reasoning: Marks = ()) -> tuple[int | None, str | None]:
    """REL-A's choice, 1 to 8, or None and the reason: ``no_answer``, ``several_answers``, or one of
    `relfast.tasks.reasoning.read_strictly`."""
    choice, _, reason = _read("read_choice", response, reasoning)
    return choice, reason


def read_label(response: object, reasoning: Marks = ()) -> tuple[int | None, str | None]:
    """REL-C1's label, 1 for no and 2 for yes; see `read_choice`."""
    label, _, reason = _read("read_label", response, reasoning)
    return label, reason


def read_claim(response: object, reasoning: Marks = ()) -> tuple[int | None, list[int], str | None]:
    """REL-B1's label, 1 for no and 2 for yes, and the taxa of a yes, each once; see `read_choice`."""
    return _read("read_claim", response, reasoning)


def _read(kernel: str, response: object, reasoning: Marks) -> tuple[int | None, list[int], str | None]:
    from relfast_kernels.text import answers

    text, reason = read_strictly(response, reasoning)
    if reason is not None:
        return None, [], reason
    data, numbers = text.encode(), [0] * (answers.TAXA + 2 * answers.MAX_CLAIMED)
    work = bytearray(2 * len(data) + _ROOM)
    found = getattr(answers, kernel)(data, 0, len(data), work, 0, numbers)
    value, n_taxa = found if isinstance(found, tuple) else (found, 0)
    if value in (answers.NOTHING, answers.SEVERAL):
        return None, [], "no_answer" if value == answers.NOTHING else "several_answers"
    return value, numbers[answers.TAXA : answers.TAXA + n_taxa], None
