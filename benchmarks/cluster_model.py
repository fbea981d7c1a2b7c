"""The model of many nodes: constants measured here, and the table that they come to."""

from __future__ import annotations

import pickle
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

CORES_OF_NODE: Final = 16
_ROWS: Final = 200_000
NODES: Final = (1, 2, 4, 8, 16, 32, 64)

Json = dict[str, Any]


def constants(text: Path, chemistry: Callable[[int], Json]) -> Json:
    """What the model is made of; see `table`.

    ``chemistry`` scores molecules on the cluster, in parts of so many bytes.
    """
    from relfast.distributed.part_scoring import Done
    from relfast.distributed.parts import chunks_of, find_inputs, measure
    from relfast.engine.job import make_job
    from relfast.records import Score
    from relfast.stats.prompts import SAMPLE
    from relfast.stats.summary import summarize
    from relfast.stats.tally import Tally

    job = make_job()
    chunks = chunks_of(find_inputs([str(text)]))
    parts = [part for chunk in chunks for part in measure(chunk, job)]  # the file is in memory after this
    began = time.process_time()
    for chunk in chunks:
        measure(chunk, job)
    counting = time.process_time() - began
    done = Done(parts[0], 1, 1, Tally(), 1)
    frozen = pickle.dumps(done)
    tracemalloc.start()
    held = [pickle.loads(frozen) for _ in range(1_000)]
    memory = tracemalloc.get_traced_memory()[0] / len(held)
    tracemalloc.stop()
    tally = Tally.of([Score(at, at, "REL-A1", 0, "ok", True, 1.0, {}) for at in range(_ROWS)])
    frozen = pickle.dumps(tally)
    steps = [time.process_time()]
    merged = Tally()
    merged.merge(pickle.loads(frozen))
    steps.append(time.process_time())
    summarize(merged, "")
    steps.append(time.process_time())
    small = [chemistry(size) for size in (8 << 20, 32 << 10)]
    per_part = (small[1]["driver"] - small[0]["driver"]) / (small[1]["parts"] - small[0]["parts"])
    return {
        "counted_bytes_s": text.stat().st_size / counting,
        "driver_s_part": per_part,
        "driver_s_row": (steps[1] - steps[0]) / _ROWS,
        "summary_s_row": (steps[2] - steps[1]) / _ROWS,
        "driver_bytes_part": memory,
        "driver_bytes_row": SAMPLE.size,
        "parts_s_seen": small[1]["parts"] / (small[1]["wall"] - small[1]["first"]),
    }


def table(told: Json, part_bytes: int) -> list[str]:
    """Responses a second of 1 to 64 nodes, and what ends it: an extrapolation from the constants."""
    lines = [
        "| nodes | text, responses/s | limit | bytes/s read | chemistry, responses/s | limit |",
        "|---|---|---|---|---|---|",
    ]
    for n in NODES:
        cells = []
        for name in ("text", "chemistry"):
            rows_of_part = part_bytes / told[f"{name}_bytes_row"]
            of_cores = n * CORES_OF_NODE * told[f"{name}_rows_s_core"]
            of_driver = 1 / (told["driver_s_part"] / rows_of_part + told["driver_s_row"])
            rate = min(of_cores, of_driver)
            cells += [f"{rate:,.0f}", "cores" if rate == of_cores else "driver"]
            if name == "text":
                cells.append(f"{2 * rate * told['text_bytes_row'] / 1e9:.0f} GB")  # counted and scored
        lines.append(f"| {n} | {' | '.join(cells)} |")
    return lines
