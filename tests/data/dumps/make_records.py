"""Eight REL-C1 records and four responses to each: what all tools' dumps here were made of.

python make_records.py ../rel/REL-C1.jsonl.gz > records.jsonl
"""

from __future__ import annotations

import gzip
import json
import sys

RESPONSES = {
    "Yes": ("They share one formula.\n<Yes>", "<No>", "The formulas differ.\n<No>", "I cannot tell."),
    "No": ("One formula differs from the others.\n<No>", "All the same: <Yes>", "<No>", "<No>\n"),
}


def responses(n: int, label: str) -> list[str]:
    """Four responses; how many of them are right depends on the record, so that errors cluster."""
    texts = RESPONSES[label]
    return [texts[0 if k < n % 5 else 1 + (n + k) % 3] for k in range(4)]


if __name__ == "__main__":
    with gzip.open(sys.argv[1], "rt", encoding="utf-8") as file:
        for n in range(8):
            record = json.loads(next(file))
            row = {key: record[key] for key in ("id", "task", "question", "answer")}
            print(json.dumps({**row, "response": responses(n, record["answer"]["label"])}))
