"""Where the lines of a block start and end.

Apart from reading them and before it, so that whoever scores the next block can be told their number while
this one is still read.
"""

from __future__ import annotations

from typing import Any

from relfast_kernels.compiled.jit import kernel
from relfast_kernels.layouts import LINE_END, LINE_START
from relfast_kernels.text.find import find_byte

_LF = 10


@kernel
def find_lines(data: Any, n: int, lines: Any) -> int:
    """Find where the lines of a block start and end.

    Parameters
    ----------
    data : uint8, shape (n,)
        Whole lines; the last may lack its end.
    lines : int64, shape (m + 1, LINE_COLUMNS)
        Filled: `LINE_START` and `LINE_END` of the first m lines at most.

    Returns
    -------
    int
        How many lines; m where there may be more.
    """
    at = count = 0
    while at < n and count < lines.shape[0] - 1:
        end = find_byte(data, at, n, _LF)
        lines[count, LINE_START], lines[count, LINE_END] = at, end
        count += 1
        at = end + 1
    return count
