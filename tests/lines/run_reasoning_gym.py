"""reasoning-gym: what the page calls, and what it names as a scoring function."""

from __future__ import annotations

import importlib
import json
import sys

import reasoning_gym


def looked_up(dotted):
    module, _, name = dotted.rpartition(".")
    return getattr(importlib.import_module(module), name)


if __name__ == "__main__":
    assert "rel_c2" in looked_up(sys.argv[1].removesuffix("()"))()
    data = reasoning_gym.create_dataset("rel_c2", size=2, seed=1)
    entry = data[0]
    right = f"<smiles>{json.loads(entry['answer'])['smiles']}</smiles>"
    score = looked_up(sys.argv[2])
    print(json.dumps([data.score_answer(right, entry), data.score_answer("?", entry), score(right, entry)]))
