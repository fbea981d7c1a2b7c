"""Unusable records counted in parts are those counted one by one."""

from __future__ import annotations

import random

import pytest

from relfast.stats.unusable import MAX_CAUSES, Unusable


@pytest.mark.parametrize("n_causes", [3, MAX_CAUSES, 4 * MAX_CAUSES])
def test_parts_together_are_the_whole(n_causes: int) -> None:
    rng = random.Random(n_causes)
    names = [f"cause {chr(0x4E00 + number)}" for number in range(n_causes)]

    def error() -> dict[str, str]:
        if not rng.randrange(9):  # one cause, whatever is named
            return {"type": "MissingGold", "message": f"no gold record with id {rng.randrange(3)}"}
        return {"type": rng.choice("AB"), "message": f"{rng.choice(names)} {rng.random()}"}

    rows = [(error(), line) for line in range(1, 5_000) for _ in range(rng.choice([1, 1, 1, 2]))]
    whole, parts = Unusable(), [Unusable(10 * n_causes)]
    for each, line in rows:
        whole.add(each, f"a:{line}")
        if rng.random() < 0.01:
            parts.append(Unusable(10 * n_causes))
        parts[-1].add(each, str(line))
    merged = Unusable()
    for part in parts:
        merged.merge(part, "a:{}".format)
    assert len(parts) > 10
    assert list(merged.causes.items()) == list(whole.causes.items())
    assert merged.n == whole.n == len(rows)
