"""What around a plan can deny it: `relfast.tasks.seqbench.strict` and its kernel read the same words."""

from __future__ import annotations

from typing import Final

NEAR: Final = 80
"""Characters before and behind a plan that can deny it."""

DENIALS: Final = (
    "not", "n't", "n’t", "never", "wrong", "incorrect", "valid", "legal", "avoid", "bad",
    "impossible", "reject", "discard", "unlike", "ignore", "except", "anything but", "than", "instead",
    "whether", "if ",
)  # fmt: skip
"""Of a denial before a plan, in lower case, one of these is a part."""

CLOSING: Final = " \t\r\n`*.;,)]}\"'$"
"""What closes a plan and says nothing."""
