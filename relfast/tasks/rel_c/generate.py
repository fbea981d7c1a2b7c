"""New REL-C1, C2 and C3 records: which generator makes which."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from relfast.tasks import get_task


def generate(task: str, n: int, seed: int, **parameters: Any) -> Iterator[dict[str, Any]]:
    """Records of REL-C1 or C3 (see `generate_isomers`) or of REL-C2 (see `generate_motif`).

    Raises
    ------
    UsageError
        A parameter is out of range, or nothing can be made with it.
    """
    name = get_task(task).name
    if name == "REL-C2":
        from relfast.tasks.rel_c.generate_motif import common_motifs

        return common_motifs(n, seed, **parameters)
    from relfast.tasks.rel_c.generate_isomers import isomer_sets, missing_isomers

    return (isomer_sets if name == "REL-C1" else missing_isomers)(n, seed, **parameters)
