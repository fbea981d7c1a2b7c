"""REL-B1 under ``strict``: the verdict a response ends with and the taxa listed with it, by the rule of
`relfast.tasks.rel_b.strict`, against gold by that of `relfast.tasks.rel_b.score`."""

from __future__ import annotations

from typing import Any

from relfast_kernels.compiled.jit import kernel


@kernel
def score_claim(
    text: Any, start: int, end: int, reason: int, gold_data: Any, work: Any, details: bool, scratch: Any,
    used: int, beyond: int, row: Any,
) -> Any:  # fmt: skip
    """Score text[start:end], UTF-8 of tame characters (`relfast_kernels.text.characters`) without reasoning.

    Parameters
    ----------
    reason
        Not 0 where nothing is left of the response: the place in `REASONS` of why.
    gold_data, work
        Gold as `relfast_kernels.text.gold` left it: ``work.gold``, and its taxa in ``work.spans[1]`` and
        ``work.slots[1]``, whose text is in ``gold_data``.
    scratch : uint8
        Kept from ``used`` on: JSON of taxa for details. From ``beyond`` on work space: twice the bytes of the
        text, and 512.
    row
        A record: key, vote and, for details, spans of taxa are filled in.

    Returns
    -------
    (done, used)
        Whether the row is done; else the line takes the exact way.
    """
    return False, used
