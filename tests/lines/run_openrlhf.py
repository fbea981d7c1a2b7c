"""OpenRLHF: the page's ``--reward.remote_url`` in the executor that its trainer gives it to."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shlex
import sys


def scores(line):
    from openrlhf.utils.agent import SingleTurnAgentExecutor

    words = shlex.split(line)
    url = words[words.index("--reward.remote_url") + 1]
    executor = SingleTurnAgentExecutor(url)
    fetch = executor._fetch_rewards_via_http if url.startswith("http") else executor._fetch_rewards_via_func
    label = json.dumps({"task": "REL-C1", "answer": {"label": "Yes"}})
    given = asyncio.run(fetch(["isomers? <Yes>", "isomers? <No>"], ["isomers? "] * 2, [label] * 2))
    return [float(value) for one in given for value in as_list(one["rewards"])]


def as_list(value):
    return list(value) if hasattr(value, "__len__") else [value]


if __name__ == "__main__":
    with contextlib.redirect_stdout(sys.stderr):
        found = scores(sys.argv[1])
    print(json.dumps(found))
