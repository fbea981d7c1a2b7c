"""How records are put to a model: the tasks' own prompts, and one's own."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from corpora import ROOT
from engine_runs import exit_code, rows_of, write_dump
from openai_server import Server, running

import relfast
from relfast.bench.sets import SETS
from relfast.errors import UsageError
from relfast.inference.request_log import header_line, read_header
from relfast.inference.requests import Wordings
from relfast.seqbench import parse_actions
from relfast.tasks import TASKS, get_task
from relfast.tasks.seqbench.generate import make_rows
from relfast.tasks.seqbench.prompt import EXAMPLES

MAZES = list(make_rows(2, 5, rows=5, cols=5, B=1))
PROBLEMS = rows_of(SETS["realign"].path)[:2]

PINNED = {
    "2f68f6663c8f9a77": "seqbench-few-shot 1",
    "672de966fc226241": "seqbench-zero-shot 1",
    "d66fc51c752344a6": "realign 1",
    "201f6da098d581b6": "question 1",
    "17fb8e56264b1f3f": "boxed 1",
    "324b4733865a2155": "boxed 1",
    "8b491aaa4f392de2": "boxed 1",
    "ced73a8d3b3740a9": "boxed 1",
    "f8aae302c2a87ae7": "boxed 1",
}


def test_a_wording_that_changes_has_another_version() -> None:
    """Digests of a fixed question in each prompt: one that changes needs a new version, and then a new pin."""
    question = "Bob is in room A1. Alice is in room A2. Room A1 and A2 are connected by an open door."
    found = {
        hashlib.sha256(prompt.words(question, {}).encode()).hexdigest()[:16]: prompt.shown
        for task in TASKS.values()
        for prompt in task.prompts
    }
    assert found == PINNED


def test_boxed_adds_a_sentence_to_the_published_question() -> None:
    """Every REL task has one; SeqBench and ReAlign ask for their form in any case, so they stay as they are."""
    for name in TASKS:
        if not name.startswith("REL-"):
            continue
        sentence = get_task(name).prompts[1].sentence
        assert sentence is not None
        row = {"task": name, "question": "Which {one}?", "answer": {}}
        asked = Wordings("boxed").request(0, row)
        assert (asked.prompt, asked.wording) == (f"Which {{one}}?\n\n{sentence}", "boxed 1")
        published = Wordings().request(0, row)
        assert (published.prompt, published.task, published.wording) == (row["question"], name, "question 1")
    assert Wordings("boxed").request(0, MAZES[0]).wording == "seqbench-few-shot 1"
    assert Wordings("boxed").request(0, PROBLEMS[0]).wording == "realign 1"


def test_seqbench_has_the_papers_examples() -> None:
    published = json.loads((ROOT / "tests/data/seqbench/few_shot_examples.json").read_text())["examples"]
    assert len(published) == len(EXAMPLES)
    row = MAZES[0]
    prompt = Wordings().request(0, row).prompt
    assert isinstance(prompt, str)
    for example in published:
        # our own reader finds the paper's plan right below its facts
        below = prompt.partition(" ".join(example["facts"]))[2].partition("\n\nExample")[0]
        assert parse_actions(below.partition("\n\nNow")[0]) == example["completion"]
    assert row["context"] in prompt
    for action in ("start", "move_to", "pick_up_key", "use_key", "unlock_and_open_door_to", "rescue"):
        assert f"('{action}'" in prompt


@pytest.mark.parametrize("form", ["row", "record", "question only"])
def test_seqbench_says_who_goes_to_whom(form: str) -> None:
    """The facts name two people and not which of them is rescued."""
    for row in make_rows(6, 2, rows=4, B=0, names="random"):
        agent, target = row["instance_metadata"]["agent_name"], row["instance_metadata"]["target_name"]
        asked: dict[str, Any] = row
        if form == "record":
            actions = parse_actions(row["completion"])
            asked = {"id": 1, "task": "SeqBench", "question": row["context"], "answer": {"actions": actions}}
        elif form == "question only":
            context = row["context"].replace(f"{agent} is", "Bob is").replace(f"{target} is", "Alice is")
            asked, agent, target = {"task": "SeqBench", "question": context}, "Bob", "Alice"
        prompt = Wordings("seqbench-zero-shot").request(0, asked).prompt
        assert isinstance(prompt, str)
        assert f"{agent} goes to {target} and rescues them." in prompt


def test_gold_stays_out_of_every_prompt() -> None:
    row, problem = MAZES[0], PROBLEMS[0]
    plan = parse_actions(row["completion"])
    assert plan is not None
    for wanted, asked in ((", ".join(plan), row), (row["completion"], row), (problem["solution"], problem)):
        for chosen in (None, "question", "seqbench-zero-shot"):
            assert wanted not in str(Wordings(chosen).request(0, asked).prompt)


def test_ones_own_prompt(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("Answer {in braces}: {question}\nAgain: {question}\n")
    request = Wordings(str(path)).request(0, {"question": "1 + {question}?"})
    assert request.prompt == "Answer {in braces}: 1 + {question}?\nAgain: 1 + {question}?\n"
    assert request.wording is not None
    assert request.wording.startswith("mine.txt sha256:")
    messages = [{"role": "user", "content": "worded already"}]
    assert Wordings(str(path)).request(0, {"question": messages}).prompt == messages
    assert Wordings(str(path)).request(0, {"prompt": "worded, too"}).prompt == "worded, too"
    path.write_text("no place")
    with pytest.raises(UsageError, match=r"\{question\}"):
        Wordings(str(path))
    with pytest.raises(UsageError, match="seqbench-few-shot"):
        Wordings(str(tmp_path / "absent.txt"))


def test_a_task_that_rows_do_not_say() -> None:
    row = {"question": "Bob is in room A1. Alice is in room A1."}
    assert Wordings().request(0, row).prompt == row["question"]
    assert Wordings(None, get_task("SeqBench")).request(0, row).wording == "seqbench-few-shot 1"


def test_the_header_says_what_was_asked_with(tmp_path: Path) -> None:
    records, output = write_dump(tmp_path / "in.jsonl", (*MAZES, *PROBLEMS)), tmp_path / "out.jsonl"
    with running(Server(solve=lambda prompt: "['start: A1']")) as server:
        more = ["--stop", "END", "--extra-body", '{"top_p": 0.5, "temperature": null}', "--samples", "2"]
        asking = ["--api", server.url, "--model", "m", "-o", str(output), "--seed", "11", "-q"]
        assert exit_code("run", records, *asking, *more) == 0
    asked = server.requests[0]
    assert (asked["stop"], asked["top_p"], asked["max_tokens"]) == (["END"], 0.5, 2048)
    assert "temperature" not in asked
    assert sorted(request["seed"] for request in server.requests) == [11] * 4 + [12] * 4
    header = read_header(tmp_path / "out.scored.jsonl")
    assert header is not None
    assert header == read_header(output)
    assert (header["model"], header["seed"], header["samples"]) == ("m", 11, 2)
    assert header["made"]["finish_reasons"] == {"stop": 8}
    assert header["made"]["tokens"]["completion_tokens"] == 16
    assert header_line(header) == (
        "model m | served as m-served | prompt seqbench-few-shot 1, realign 1 | temperature 0.0"
        " | max-tokens 2048 | samples 2 | seed 11 | stop given | extra-body given"
    )


def test_a_datasets_row_becomes_a_record() -> None:
    """Gold that stands beside the question stays where scoring finds it; a foreign column is no gold."""
    row = PROBLEMS[0]
    request = Wordings().request(0, row)
    assert (request.task, request.wording) == ("ReAlign", "realign 1")
    assert request.row == row
    (score,) = relfast.score([{**row, "response": row["solution"]}], workers=0, policy="strict")
    assert (score.task, score.status) == ("ReAlign", "ok")
    for foreign in (
        {"id": 1, "question": "Is this spam?", "label": "yes"},
        {"id": 2, "question": "Which?", "target": 3},
        {"id": 3, "question": "Solve.", "answer": "42", "solution": None},
        {"id": 4, "question": "Solve.", "solution": None},
    ):
        request = Wordings().request(0, dict(foreign))
        assert (request.row, request.task, request.prompt) == (foreign, None, foreign["question"])
