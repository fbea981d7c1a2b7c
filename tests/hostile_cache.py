"""Ways in which another user can have written a cache, as far as the user of the tests can arrange them."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

SOMEBODY: Final = 54_321
"""A user that is neither us nor root."""


def give_away(path: Path) -> None:
    """Have a file or directory belong to somebody else; where only root can do that, let everybody write."""
    if os.geteuid() == 0:
        os.lchown(path, SOMEBODY, SOMEBODY)
    else:
        path.chmod(0o777)


SPOILT: Final[dict[str, Callable[[Path], None]]] = {
    "of somebody else": give_away,
    "writable by all": partial(Path.chmod, mode=0o777),
    "writable by all, sticky": partial(Path.chmod, mode=0o1777),
    "writable by a group": partial(Path.chmod, mode=0o770),
    "writable by others, not read": partial(Path.chmod, mode=0o702),
}
"""What makes a directory of ours one that is not ours alone."""
