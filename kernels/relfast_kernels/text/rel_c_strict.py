"""The label that a response to REL-C1 settles on by the rule of `relfast.tasks.rel_c.label`."""

from __future__ import annotations

from typing import Any

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import UNKNOWN


@kernel
def read_label(text: Any, start: int, end: int, scratch: Any, to: int) -> Any:
    """The label of text[start:end], UTF-8 of tame characters (`relfast_kernels.text.characters`) without
    reasoning, not all white space.

    Parameters
    ----------
    scratch : uint8
        Work space from ``to`` on: twice the bytes of the text, and 512.

    Returns
    -------
    (number, reason)
        1 for No, 2 for Yes, and 0; or 0 and the place in `REASONS` of why there is none; or `UNKNOWN` and 0:
        only Python can say.
    """
    return UNKNOWN, 0
