"""verifiers: the installed taskset by its name, through its loader; a trace of a right and of a wrong answer."""

from __future__ import annotations

import asyncio
import json
import sys

import verifiers.v1 as vf
from verifiers.v1.graph import MessageNode
from verifiers.v1.utils.loaders import load_taskset, taskset_class


def taskset(name, **config):
    declared = taskset_class(name).__orig_bases__[0].__args__[1]
    return load_taskset(declared.model_validate({"id": name, **config}))


def score(task, reply):
    trace = vf.Trace(
        task=vf.TraceTask(type=type(task).__name__, data=task.data, hash=task.hash, key=task.key),
        agent=vf.AgentInfo.model_construct(),
    )
    trace.nodes.append(MessageNode.model_construct(message=vf.AssistantMessage(content=reply), sampled=True))
    asyncio.run(task.score(trace))
    return trace.rewards["relfast"].value


if __name__ == "__main__":
    (made,) = taskset(sys.argv[1], benchmark="REL-C1").take(1)
    label = made.data.answer["label"]
    other = {"Yes": "No", "No": "Yes"}[label]
    records = [task for task in taskset(sys.argv[1], file="records.jsonl") if task.data.benchmark == "REL-C1"]
    print(json.dumps([score(made, f"<{label}>"), score(made, f"<{other}>"), len(records)]))
