"""Row groups that workers read: their rows take the fast path as lines of JSON do."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from corpora import rel_records
from pyarrow import parquet

from relfast.engine.file_run.block_scoring import BlockScoring
from relfast.engine.io.blocks import Block
from relfast.engine.io.parquet import cut_parquet
from relfast.engine.job import make_job
from relfast.engine.scoring import Scoring


@pytest.mark.parametrize("policy", ["reference", "strict"])
def test_a_row_group_takes_the_fast_path(tmp_path: Path, policy: str) -> None:
    records = [record for task in ("REL-A1", "REL-C1") for record in rel_records(task)[:100]]
    rows = [
        {**{name: record[name] for name in ("id", "task", "answer")}, "response": f"So it is Answer {n % 9}"}
        for n, record in enumerate(records)
    ]
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.Table.from_pylist(rows), path, row_group_size=128)
    data = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    line = Block(0, 0, 0, len(rows), 0, len(data), data=data)

    scoring = BlockScoring(Scoring(make_job(policy=policy)), large=True)
    (expected,) = scoring.segments(line)
    groups = list(cut_parquet(str(path), 1 << 24))
    assert [group.parquet for group in groups] == [True, True]
    found = []
    for group in groups:
        group.first_index = group.start
        (segment,) = scoring.segments(group)
        assert (segment.n_fast, segment.n_exact) == (group.n_lines, 0)
        found.append(segment.rows)
    assert b"".join(found) == expected.rows
    assert expected.n_fast == len(rows)
