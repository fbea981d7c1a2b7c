"""The final answer of a text under ``strict``, by the kernel's source run as plain Python; machine code
reads the same."""

from __future__ import annotations

from typing import Final

from relfast.tasks.reasoning import read_strictly

_ROOM: Final = 64


def read_choice(
    response: object, reasoning: tuple[tuple[str, str], ...] = ()
) -> tuple[int | None, str | None]:
    """REL-A's choice, 1 to 8, or None and the reason: ``no_answer``, ``several_answers``, or one of
    `relfast.tasks.reasoning.read_strictly`."""
    from relfast_kernels.text.answers import read_choice as read

    data, reason = _encoded(response, reasoning)
    if reason is not None:
        return None, reason
    return _meaning(read(data, 0, len(data), _work(data), 0, _numbers(0)))


def read_label(
    response: object, reasoning: tuple[tuple[str, str], ...] = ()
) -> tuple[int | None, str | None]:
    """REL-C1's label, 1 for no and 2 for yes; see `read_choice`."""
    from relfast_kernels.text.answers import read_label as read

    data, reason = _encoded(response, reasoning)
    if reason is not None:
        return None, reason
    return _meaning(read(data, 0, len(data), _work(data), 0, _numbers(0)))


def read_claim(
    response: object, reasoning: tuple[tuple[str, str], ...] = ()
) -> tuple[int | None, list[int], str | None]:
    """REL-B1's label, 1 for no and 2 for yes, and the taxa of a yes, each once; see `read_choice`."""
    from relfast_kernels.text.answers import MAX_TAXA, TAXA
    from relfast_kernels.text.answers import read_claim as read

    data, reason = _encoded(response, reasoning)
    if reason is not None:
        return None, [], reason
    numbers = _numbers(2 * MAX_TAXA)
    value, n = read(data, 0, len(data), _work(data), 0, numbers)
    label, reason = _meaning(value)
    return label, numbers[TAXA : TAXA + n], reason


def _encoded(response: object, reasoning: tuple[tuple[str, str], ...]) -> tuple[bytes, str | None]:
    text, reason = read_strictly(response, reasoning)
    return text.encode() if reason is None else b"", reason


def _work(data: bytes) -> bytearray:
    return bytearray(2 * len(data) + _ROOM)


def _numbers(n_taxa: int) -> list[int]:
    from relfast_kernels.text.answers import TAXA

    return [0] * (TAXA + n_taxa)


def _meaning(value: int) -> tuple[int | None, str | None]:
    from relfast_kernels.text.answers import NOTHING, SEVERAL

    if value == NOTHING:
        return None, "no_answer"
    return (None, "several_answers") if value == SEVERAL else (value, None)
