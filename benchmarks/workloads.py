"""Dumps to measure with: seeded, so that everybody measures the same. Tests use them too."""

from __future__ import annotations

import json
import random
from pathlib import Path

_WORDS = [
    "the", "panel", "matrix", "value", "row", "column", "increases", "constant", "therefore", "because", "consider", "next",
    "answer", "choices", "compare", "taxa", "alignment", "tree", "site", "column", "motif", "shared", "convergent",
    "isomer", "formula", "carbon", "bond", "ring", "molecule", "we", "see", "that", "each", "of", "these", "is", "not",
    "equal", "to", "so", "option"
]  # fmt: skip


def _reasoning(rng: random.Random, n_chars: int) -> str:
    parts: list[str] = []
    length = 0
    while length < n_chars:
        word = rng.choice(_WORDS)
        length += len(word) + 1
        parts.append(word + (".\n" if rng.random() < 0.06 else ""))
    return " ".join(parts)


def write_text_dump(path: Path, n: int, *, seed: int = 0, n_chars: int = 2_000) -> int:
    """Records of REL-A, B1 and C1 in equal parts, responses of about ``n_chars``; returns the file's size."""
    rng = random.Random(seed)
    bodies = [_reasoning(rng, n_chars) for _ in range(500)]
    with path.open("w") as file:
        for number in range(n):
            task = rng.choice(("REL-A1", "REL-B1", "REL-C1"))
            body = rng.choice(bodies)
            answer: dict[str, object]
            if task == "REL-A1":
                answer = {"target": rng.randrange(8)}
                final = f"Answer {rng.randrange(1, 9)}"
            elif task == "REL-B1":
                taxa = rng.sample(range(1, 50), rng.randrange(6))
                answer = {"label": "yes" if taxa else "no", "taxa": taxa}
                named = rng.sample(range(1, 50), 4)
                final = "Yes. " + ", ".join(f"taxon_{t}" for t in named) if rng.random() < 0.6 else "No"
            else:
                answer = {"label": rng.choice(("Yes", "No"))}
                final = f"<{rng.choice(('Yes', 'No'))}>"
            row = {"id": f"{task}-{number:07d}", "task": task, "answer": answer}
            file.write(json.dumps({**row, "response": f"{body}\n\n{final}"}) + "\n")
    return path.stat().st_size
