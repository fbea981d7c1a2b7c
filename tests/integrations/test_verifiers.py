"""The taskset inside verifiers' own loader, tasks and traces: ``make test-trainers``."""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from contract_records import gold

from relfast import rewards

pytestmark = [pytest.mark.trainers, pytest.mark.filterwarnings("ignore")]

PACKAGE: Final = Path(__file__).resolve().parent.parent.parent / "examples" / "verifiers_relfast"
ID: Final = "relfast-reasoning"


@pytest.fixture
def vf(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    module = pytest.importorskip("verifiers.v1")
    monkeypatch.syspath_prepend(str(PACKAGE))
    yield module
    sys.modules.pop("relfast_reasoning", None)
    rewards.close()


def _taskset(name: str, **config: Any) -> Any:
    from verifiers.v1.utils.loaders import load_taskset, taskset_class

    kind = taskset_class(name)
    declared = next(base for base in kind.__orig_bases__).__args__[1]
    return load_taskset(declared.model_validate({"id": name, **config}))


def _trace(vf: Any, task: Any, reply: str) -> Any:
    """A trace of one reply, as a rollout leaves it."""
    from verifiers.v1.graph import MessageNode

    trace = vf.Trace(
        task=vf.TraceTask(type=type(task).__name__, data=task.data, hash=task.hash, key=task.key),
        agent=vf.AgentInfo.model_construct(),
    )
    trace.nodes.append(MessageNode.model_construct(message=vf.AssistantMessage(content=reply), sampled=True))
    return trace


def _score(vf: Any, task: Any, reply: str) -> Any:
    trace = _trace(vf, task, reply)
    asyncio.run(task.score(trace))
    return trace


def test_an_endless_taskset(vf: Any) -> None:
    taskset = _taskset(ID, benchmark="REL-C2", seed=3)
    assert not taskset.bounded
    first = list(itertools.islice(taskset, 3))
    assert [task.data.id for task in first] == ["rel-c2-3-0", "rel-c2-3-1", "rel-c2-3-2"]
    assert [task.hash for task in first] == [task.hash for task in taskset.take(3)]
    for task in first:
        right = _score(vf, task, f"<smiles>{task.data.answer['smiles']}</smiles>")
        assert right.rewards["relfast"].value == 1.0
        assert _score(vf, task, "no idea").rewards["relfast"].value == 0.0


def test_a_taskset_ends_with_its_seed(vf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relfast.integrations.verifiers.SEEDS", 4)
    assert [task.data.id for task in _taskset(ID, benchmark="REL-C2", seed=3)] == [
        f"rel-c2-3-{at}" for at in range(4)
    ]


def test_plans(vf: Any) -> None:
    (task,) = _taskset(ID, benchmark="SeqBench", parameters={"rows": 6, "cols": 6, "L": 12, "B": 1}).take(1)
    assert task.data.question in task.data.prompt
    assert _score(vf, task, task.data.answer["completion"]).rewards["relfast"].value == 1.0


def test_records_of_a_file(vf: Any, tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    pairs = [gold(task)[0] for task in ("REL-A1", "REL-C1", "SeqBench")]
    path.write_text("".join(json.dumps(record) + "\n" for record, _ in pairs), encoding="utf-8")
    taskset = _taskset(ID, file=str(path))
    assert taskset.bounded
    for task, (_, response) in zip(taskset, pairs, strict=True):
        assert _score(vf, task, response).rewards["relfast"].value == 1.0


def test_what_has_no_score_is_an_error_and_no_zero(vf: Any, tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    row = {"task": "REL-C2", "question": "q", "answer": {"smiles": 5}}
    path.write_text(json.dumps(row), encoding="utf-8")
    (task,) = _taskset(ID, file=str(path))
    trace = _trace(vf, task, "<smiles>CCO</smiles>")
    with pytest.raises(vf.TaskError, match="no reward"):
        asyncio.run(task.score(trace))
    assert trace.rewards == {"relfast": None}
    (task,) = _taskset(ID, file=str(path), task={"options": {"on_error": 0.25}})
    assert _score(vf, task, "<smiles>CCO</smiles>").rewards["relfast"].value == 0.25


def test_the_plugged_function(vf: Any) -> None:
    from verifiers.v1.utils.loaders import plugged_fn

    function = plugged_fn("relfast.rewards.verifiers:trace_reward")
    (task,) = _taskset(ID, benchmark="REL-C1").take(1)
    reply = f"<{task.data.answer['label']}>"
    assert asyncio.run(function(task=task.data, trace=_trace(vf, task, reply))) == 1.0
