"""New REL-C1, C2 and C3 records: which generator makes which."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from relfast.tasks import get_task
from relfast.tasks.rel_c.parameters import IsomerSetParameters, MissingIsomersParameters, MotifParameters


def generate(
    task: str, n: int, seed: int, *, tell: Callable[[str], None] | None = None, **parameters: Any
) -> Iterator[dict[str, Any]]:
    """Records of REL-C1 or C3 (see `generate_isomers`) or of REL-C2 (see `generate_motif`).

    ``parameters`` are the fields of the task's dataclass in `relfast.tasks.rel_c.parameters`; ``tell`` hears
    of enumerations of isomers that are not cached.

    Raises
    ------
    UsageError
        A parameter is out of range, or nothing can be made with it.
    """
    name = get_task(task).name
    if name == "REL-C2":
        from relfast.tasks.rel_c.generate_motif import common_motifs

        return common_motifs(n, seed, MotifParameters(**parameters))
    from relfast.tasks.rel_c.generate_isomers import isomer_sets, missing_isomers

    def progress(formula: str, found: int) -> None:
        if tell is not None:
            tell(f"isomers of {formula}: {found:,} found (kept for the next time)")

    if name == "REL-C1":
        return isomer_sets(n, seed, IsomerSetParameters(**parameters), progress)
    return missing_isomers(n, seed, MissingIsomersParameters(**parameters), progress)
