"""One reading for all doors: a response with its record is worth the same wherever it comes in."""

from __future__ import annotations

import json
import random
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import honest
import orjson
import pytest
from contract_records import REALIGN, SEQBENCH
from corpora import DATA, rel_records, solutions
from live_server import Live, live_server
from reward_doors import DOORS, SINGLE, columns, labels, queries
from tiny_bert import make_checkpoint

import relfast
from relfast import rewards
from relfast.embed.adding import add
from relfast.embed.models import kept_directory

Options = dict[str, Any]

RECORDS_EACH = 3
TRICKS_EACH = 8


class Case(NamedTuple):
    """A record with a response to it."""

    record: dict[str, Any]
    response: str

    @property
    def row(self) -> tuple[Any, Any, Any, Any]:
        return self.record["task"], self.record["answer"], self.response, self.record["question"]


def _tricks(task: str) -> list[str]:
    """What the tables of `strict` have of a task, decided cases and exploits: their words stay as they stand."""
    table = DATA / "strict" / f"{task.lower().replace('-', '_')}.toml"
    texts = list(tomllib.loads((DATA / "strict" / "decided.toml").read_text("utf-8")).get(task, ()))
    if table.exists():
        groups = tomllib.loads(table.read_text("utf-8"))
        texts += [text for group in groups["attack"] for text in group["texts"]]
    return texts


def _cases() -> list[Case]:
    rng = random.Random("doors")
    cases = []
    for task in ("REL-A1", "REL-A2", "REL-A3", "REL-A4", "REL-B1", "REL-C1", "REL-C2", "REL-C3"):
        records = [record for record in rel_records(task) if len(record["question"]) < 100_000]
        for record in rng.sample(records, RECORDS_EACH):
            tricks = _tricks("REL-A1" if task.startswith("REL-A") else task)
            texts = [honest.response(record, rng) for _ in range(3)] + rng.sample(tricks, TRICKS_EACH)
            texts += [texts[0] + "<|im_end|>", f"{record['question']}\n{texts[1]}"]
            cases += [Case(record, text) for text in texts]
    plan = SEQBENCH["answer"]["actions"]
    for text in (json.dumps(plan), json.dumps(plan[:3]), f"1. {plan[0]}", "[]", SEQBENCH["question"]):
        cases.append(Case(SEQBENCH, text))
    solved = [row["llm_solution"] for row in solutions()[:3]]
    for text in (REALIGN["answer"]["benchmark_solution"], REALIGN["question"], "5", *solved):
        cases.append(Case(REALIGN, text))
    return cases


CASES = _cases()


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Options]:
    """Those of all doors: no score depends on what the tiny model thinks."""
    home = tmp_path_factory.mktemp("doors")
    with pytest.MonkeyPatch.context() as patch:
        # the model alone: compiled kernels stay where they are
        patch.setenv("RELFAST_CACHE_DIR", str(home / "cache"))
        add(str(make_checkpoint(home / "checkpoint", pooling="mean")), "tiny")
        directory = kept_directory("tiny")
    yield {"embedder": str(directory), "on_error": -5.0}
    rewards.close()


@pytest.fixture(scope="module")
def alone(options: Options) -> list[float | None]:
    with relfast.Scorer(policy="strict", workers=2, **options) as scorer:
        return [scorer.reward(*case.row) for case in CASES]


def _same(given: Any, expected: list[float | None], cases: list[Case] = CASES) -> None:
    """Exactly, but for the last bits of what is embedded in a batch, and the single precision of tensors."""
    assert len(given) == len(expected) == len(cases)
    wrong = [
        (case.record["task"], mine, theirs, case.response[:80])
        for case, mine, theirs in zip(cases, given, expected, strict=True)
        if mine != theirs
        and not (
            isinstance(mine, float)
            and isinstance(theirs, float)
            and abs(mine - theirs) < (1e-5 if case.record["task"] == "ReAlign" else 0.0)
        )
    ]
    assert not wrong


def test_there_is_something_to_tell_apart(alone: list[float | None]) -> None:
    assert len(CASES) > 250
    assert -5.0 not in alone
    for task in {case.record["task"] for case in CASES} - {"ReAlign"}:
        mine = [reward for case, reward in zip(CASES, alone, strict=True) if case.record["task"] == task]
        assert {0.0, 1.0} <= set(mine), task


ROWS = [case.row for case in CASES]
TASKS, ANSWERS, RESPONSES, QUESTIONS = columns(ROWS)


@pytest.mark.parametrize("name", DOORS)
def test_adapters(name: str, alone: list[float | None], options: Options) -> None:
    given = DOORS[name](ROWS, **options)
    if name.startswith(SINGLE):
        _same([round(float(x), 6) for x in given], [None if x is None else round(x, 6) for x in alone])
    else:
        _same(given, alone)


@pytest.mark.parametrize("workers", [0, 2])
def test_batches(workers: int, alone: list[float | None], options: Options) -> None:
    with relfast.Scorer(policy="strict", workers=workers, **options) as scorer:
        _same(scorer.rewards(TASKS, ANSWERS, RESPONSES, questions=QUESTIONS), alone)
        _same([s.reward for s in scorer.score([{**c.record, "response": c.response} for c in CASES])], alone)


def test_files(alone: list[float | None], options: Options, tmp_path: Path) -> None:
    model = options["embedder"]
    dump, out = tmp_path / "dump.jsonl", tmp_path / "rows.jsonl"
    dump.write_bytes(
        b"".join(orjson.dumps({**case.record, "response": case.response}) + b"\n" for case in CASES)
    )
    for workers in (0, 2):
        relfast.score_file(dump, out, policy="strict", embedder=model, workers=workers, overwrite=True)
        _same([orjson.loads(line)["reward"] for line in out.read_bytes().splitlines()], alone)


@pytest.fixture(scope="module")
def live(options: Options) -> Iterator[Live]:
    with live_server("--embedder", options["embedder"], "--on-error", "-5") as server:
        yield server
        assert server.stop() == 0


def test_http_rows(live: Live, alone: list[float | None]) -> None:
    status, answer = live.ask("/score", {"records": [{**c.record, "response": c.response} for c in CASES]})
    assert status == 200
    _same([row["reward"] for row in answer["rows"]], alone)


def test_http_slime(live: Live, alone: list[float | None]) -> None:
    given = []
    for task, answer, text, question in (case.row for case in CASES):
        body = {"prompt": question, "response": text, "label": {"task": task, "answer": answer}}
        status, reward = live.ask("/get_reward", body)
        assert status == 200
        given.append(reward)
    _same(given, alone)


@pytest.mark.parametrize("prompts", [True, False])
def test_http_openrlhf(live: Live, alone: list[float | None], prompts: bool) -> None:
    sent, wrapped = queries(ROWS, "chatml")
    body = {"query": sent, "labels": labels(ROWS, with_question=not prompts)} | (
        {"prompts": wrapped} if prompts else {}
    )
    status, answer = live.ask("/get_reward", body)
    assert status == 200
    _same(answer["rewards"], alone)
