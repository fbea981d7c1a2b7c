"""The machine code of mazes: work space that grows, threads that have their own, and what stands in where none is built."""

from __future__ import annotations

import ast
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from relfast.records import Outcome, Record
from relfast.seqbench import generate
from relfast.tasks.options import AllOptions
from relfast.tasks.seqbench import machine as house
from relfast.tasks.seqbench import score as room
from relfast.tasks.seqbench.score import PROBLEMS

STRICT = AllOptions(policy="strict")
ROW = next(iter(generate(1, seed=5, rows=5, cols=5, B=2, N=1.0)))
GOLD: list[str] = ast.literal_eval(ROW["completion"])


def score(responses: list[str]) -> list[Outcome]:
    records = [Record(n, n, "SeqBench", ROW, text, ROW["context"]) for n, text in enumerate(responses)]
    return room.score([(record, room.extract(record, STRICT)) for record in records], STRICT)


def ring(count: int) -> dict[str, Any]:
    """A ring of rooms with all keys in the first one: a search with many states."""
    doors = {
        f"{at}_{(at + 1) % count}": {"status": "closed and locked", "key_id": str(at)} for at in range(count)
    }
    return {
        "actions": ["start: 0", "rescue: Al"],
        "structural_details": {
            "structure": {
                "adjacency_list": {str(at): [str((at + 1) % count)] for at in range(count)},
                "door_details": doors,
                "key_locations": {str(at): "0" for at in range(count)},
                "start_room_coord": "0",
                "end_room_coord": str(count // 2),
            }
        },
    }


RESPONSES = [
    str(GOLD),
    str(GOLD[:-3]),
    "none",
    f"{'a ' * 40_000}\n{GOLD}",
    str(GOLD[:5] * 900),
    "['start: \\x41']",
]


def test_long_responses_and_short_ones_in_turn() -> None:
    alone = [score([text])[0] for text in RESPONSES]
    assert score(RESPONSES * 9) == alone * 9
    assert [outcome.correct for outcome in alone][:3] == [True, False, False]


def test_threads_have_work_space_of_their_own() -> None:
    alone = [score([text])[0] for text in RESPONSES]
    start = Barrier(8)

    def desk(_: int) -> int:
        start.wait()
        return id(house.machine().desk)

    with ThreadPoolExecutor(8) as threads:
        assert len({id(house.machine().desk), *threads.map(desk, range(8))}) == 9
    with ThreadPoolExecutor(8) as threads:
        for found in threads.map(lambda _: score(RESPONSES), range(24)):
            assert found == alone


def test_a_search_that_wants_more_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mazes that need more work space than there is at first, and responses to them."""
    monkeypatch.setattr(house, "_NUMBERS", 64)
    monkeypatch.setattr(house._THREADS, "machine", house.Machine())
    gold = ring(12)
    record = Record(0, 0, "SeqBench", gold, "['start: 0', 'pick_up_key: 3', 'dance: 1']")
    PROBLEMS._entries.clear()
    (small,) = room.score([(record, room.extract(record, STRICT))], STRICT)
    monkeypatch.setattr(house, "_NUMBERS", 1 << 22)
    monkeypatch.setattr(house._THREADS, "machine", house.Machine())
    PROBLEMS._entries.clear()
    (large,) = room.score([(record, room.extract(record, STRICT))], STRICT)
    assert small == large
    assert small.metrics["violation"] == "bad_action"


def test_scoring_loads_no_numba() -> None:
    code = (
        "import sys, relfast; from relfast_kernels.compiled import native\n"
        "if native.load('maze') is None: native.build('maze'); sys.exit(7)\n"
        "scorer = relfast.Scorer(policy='strict', workers=0)\n"
        "text = \"['start: A', 'move_to: B', 'rescue: Al']\"\n"
        "facts = 'Room A and B are connected by an open door. Bob is in room A. Al is in room B.'\n"
        "assert scorer.reward('SeqBench', {'actions': text}, text, facts) == 1.0\n"
        "print('numba' in sys.modules)"
    )
    for _ in range(2):  # the first one may have to build it
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        if done.returncode != 7:
            break
    assert done.stdout == "False\n", done.stderr
