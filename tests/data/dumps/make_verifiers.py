"""``traces.jsonl``: 8 tasks × 4 rollouts as ``vf-eval`` and prime-rl write them.

    python make_verifiers.py      # verifiers 0.4.0; next to records.jsonl

verifiers' own tasks, message graph, traces and writer on our responses, without its harness, which wants a server.
The last rollout of the last task failed. ``verifiers.json`` holds the rewards of all others, as the traces do.
"""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path

from verifiers.v1.configs.agent import AgentConfig
from verifiers.v1.episode import EnvInfo, Episode
from verifiers.v1.graph import MessageNode
from verifiers.v1.task import TaskData
from verifiers.v1.trace import AgentInfo, Error, Trace, TraceTask
from verifiers.v1.types import AssistantMessage, UserMessage
from verifiers.v1.utils.trace_store import write_episode

HERE = Path(__file__).parent


class RelData(TaskData):
    task: str
    answer: dict


def episode(record: dict, n: int, k: int) -> Episode:
    text = record["response"][k]
    data = RelData(
        idx=n, id=record["id"], prompt=record["question"], task=record["task"], answer=record["answer"]
    )
    task = TraceTask[RelData](type="RelTask", data=data, key=record["id"])
    trace = Trace[RelData](task=task, agent=AgentInfo(config=AgentConfig()))
    trace.nodes.append(MessageNode(message=UserMessage(content=record["question"])))
    if (n, k) == (7, 3):
        trace.errors.append(Error(type="ProviderError", message="the server is overloaded"))
    else:
        trace.nodes.append(MessageNode(parent=0, message=AssistantMessage(content=text), sampled=True))
        found = re.findall("<(Yes|No)>", trace.last_reply)
        trace.record_reward("yes_or_no", float(bool(found) and found[-1] == record["answer"]["label"]))
        trace.is_completed = trace.ok = True
    return Episode(env=EnvInfo(id="rel"), task=task, traces=[trace], ok=trace.ok, errors=trace.errors)


if __name__ == "__main__":
    records = [json.loads(line) for line in (HERE / "records.jsonl").read_text("utf-8").splitlines()]
    rewards = {}
    with tempfile.TemporaryDirectory() as folder:
        for n, record in enumerate(records):
            for k in range(4):
                made = episode(record, n, k)
                write_episode(Path(folder), made)
                if made.ok:
                    rewards.setdefault(record["id"], []).append(made.traces[0].reward)
        (HERE / "traces.jsonl").write_bytes((Path(folder) / "traces.jsonl").read_bytes())
    (HERE / "verifiers.json").write_text(json.dumps(rewards) + "\n", "utf-8")
    print(rewards)
