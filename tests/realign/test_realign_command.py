"""``relfast realign``: the whole benchmark, mocked and against a server that fails, killed and resumed."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import re
import socket
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from engine_runs import exit_code, write_dump
from openai_server import Server, running
from processes import PATIENCE
from tiny_bert import make_checkpoint

import relfast
from relfast.embed.adding import add
from relfast.errors import InputError, MissingExtraError
from relfast.realign import get_llm_reasoning, grade_correctness_llm
from relfast.realign import problems as problem_sources
from relfast.realign.benchmark import mock_verdict, parse_verdict, verdict_prompt
from relfast.realign.problems import BUILT_IN, BUILT_IN_SUBSETS, built_in, from_file, from_hub
from relfast.tasks.realign.blind import mock_solution

SEED_FIELDS = {
    "subset", "id", "question", "benchmark_solution", "llm_solution", "benchmark_steps", "llm_steps",
    "alignment_score", "symbolic_correct", "llm_correct", "final_correct", "grade_reasoning",
    "alignment_details",
}  # fmt: skip
RESULTS = "realign_benchmark_results.jsonl"
REPORT = "figures-and-statistics"


@pytest.fixture(scope="module")
def tiny_auto(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The cache directory, for child processes."""
    home: Path = tmp_path_factory.mktemp("realign_runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RELFAST_CACHE_DIR", str(home / "cache"))
        add(str(make_checkpoint(home / "checkpoint", pooling="mean")), "bge-large")
        yield str(home / "cache")


def entries(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / RESULTS).read_text("utf-8").splitlines()]


def problems(path: Path, count: int) -> Path:
    solution = "Take {}.\nAdd one.\nSo it is \\boxed{{{}}}."
    rows = [
        {"subset": subset, "id": n, "problem": f"Add {n} and one.", "solution": solution.format(n, n + 1)}
        for n, subset in zip(range(count), itertools.cycle(("doubles", "sums")))
    ]
    return write_dump(path, rows)


def solve(prompt: str) -> str:
    """Right for two of three problems, in another form for one of four; judges by value."""
    if "CORRECT" in prompt:
        reference, student = re.findall(r"answer:\n(.+)\n", prompt)
        number = float(student.split("=")[-1])
        return f"{'CORRECT' if float(reference) == number else 'INCORRECT'}\nbecause {student} is what it is"
    number = int(re.search(r"Add (\d+)", prompt)[1])  # type: ignore[index]
    answer = f"{number + (1 if number % 3 else 5)}" + (".0" if number % 4 == 0 else "")
    return f"Sure, here is the solution.\nStep 1: Take {number}.\nStep 2: Add one.\nSo \\boxed{{{answer}}}."


@pytest.mark.slow
def test_mock_run_makes_every_file(
    tiny_auto: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code("realign", "--mock", "--limit", 2, "-o", tmp_path) == 0
    # what is in them, `tests/report/test_realign_report.py` tests
    made = {path.name for path in (tmp_path / REPORT).iterdir()}
    assert made > {"index.html", "summary_stats.csv", "quadrant_analysis.png", "heatmap_example_best.png"}
    rows = entries(tmp_path)
    assert [row["subset"] for row in rows] == ["gsm8k", "gsm8k", "prealgebra", "prealgebra"]
    for row in rows:
        assert set(row) > SEED_FIELDS
        assert row["final_correct"] == (row["symbolic_correct"] or row["llm_correct"])
        assert row["error"] is None
    outcomes = {(row["alignment_score"] > 0.99, row["final_correct"]) for row in rows}
    assert outcomes >= {(True, True), (True, False)}
    page = (tmp_path / "report" / "index.html").read_text()
    assert f"Its figures and tables are in {REPORT}/index.html." in page
    # again, and again from where it is: the same bytes
    before = (tmp_path / RESULTS).read_bytes()
    options = ("realign", "--mock", "--limit", 2, "-q", "--no-report")
    assert exit_code(*options, "-o", tmp_path) == 2
    assert "--resume continues it" in capsys.readouterr().err
    assert exit_code(*options, "-o", tmp_path, "--resume") == 0
    assert exit_code(*options, "-o", tmp_path / "again") == 0
    assert (tmp_path / RESULTS).read_bytes() == before == (tmp_path / "again" / RESULTS).read_bytes()


def server_options(server: Server, folder: Path, data: Path) -> list[object]:
    return [
        "--api", f"{server.url}/completions", "--model", "solver", "--judge", "judge", "--data", data,
        "-o", folder, "--backoff", 0.01, "--timeout", 1 if server.failing else PATIENCE, "-q",
    ]  # fmt: skip


@pytest.mark.slow
def test_against_a_server_with_failures(tiny_auto: str, tmp_path: Path) -> None:
    data = problems(tmp_path / "problems.jsonl", 24)
    with running(Server(solve=solve, failing=1, broken="Add 7 and")) as server:
        options = [*server_options(server, tmp_path, data), "--attempts", 3, "--fail-on-error", "--no-report"]
        assert exit_code("realign", *options) == 3
        assert len(server.met) > 4
        judged = [r for r in server.requests if r["model"] == "judge"]
        assert {r["model"] for r in server.requests} == {"solver", "judge"}
        # 23 problems have different prompts: each is judged once, and once more after its failure
        assert len({r["prompt"] for r in judged}) == 23
        rows = entries(tmp_path)
        assert [row["id"] for row in rows] == list(range(24))
        (failed,) = [row for row in rows if row["error"]]
        assert (failed["id"], failed["llm_solution"], failed["final_correct"]) == (7, None, None)
        assert failed["error"]["type"] == "InternalServerError"
        # what is asked again below is what has no score, and nothing else
        for policy in ("reference", "strict"):
            scores = relfast.score(rows, workers=0, policy=policy)
            assert [(s.id, s.error) for s in scores if s.reward is None] == [(7, failed["error"])]
        for row in rows:
            if row["error"] is None:
                n = row["id"]
                assert row["symbolic_correct"] is (n % 3 != 0 and n % 4 != 0)
                assert row["llm_correct"] is (n % 3 != 0)
                assert row["final_correct"] is (n % 3 != 0)
                assert row["grade_reasoning"].startswith(("CORRECT", "INCORRECT"))
                assert row["llm_steps"][0] == f"Take {n}."
        server.broken, server.failing = None, 0
        asked = server.asked.total()
        assert exit_code("realign", *server_options(server, tmp_path, data), "--resume", "--no-report") == 0
        # problem 7 alone: its solution and its judge's verdict
        assert server.asked.total() == asked + 2
    assert [row["error"] for row in entries(tmp_path)] == [None] * 24


def test_a_resumed_run_is_the_same_run(
    tiny_auto: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = problems(tmp_path / "problems.jsonl", 2)
    with running(Server(solve=solve)) as server:
        options = [*server_options(server, tmp_path, data), "--no-report"]
        assert exit_code("realign", *options) == 0
        assert exit_code("realign", *options, "--resume", "--model", "another") == 1
        assert "model was 'solver' and is 'another'" in capsys.readouterr().err
        assert exit_code("realign", *options, "--overwrite", "--judge", "none") == 0
        assert {row["llm_correct"] for row in entries(tmp_path)} == {None}


def test_problems_from_files(tmp_path: Path) -> None:
    data = problems(tmp_path / "problems.jsonl", 6)
    assert [p.id for p in from_file(str(data), ["sums"], 2)] == [1, 3]
    # one of several subsets that is not there is no less an error
    for subsets in (["geometry"], ["sums", "geometry"]):
        with pytest.raises(InputError, match=r"no problem of geometry; its subsets are doubles, sums"):
            list(from_file(str(data), subsets))
    data.write_text('{"problem": "x"}\n')
    with pytest.raises(InputError, match=r"problems\.jsonl:1: .*'solution'"):
        list(from_file(str(data)))
    data.write_text('{"solution": "x"}\n')
    with pytest.raises(InputError, match="'problem'"):
        list(from_file(str(data)))
    assert BUILT_IN.stat().st_size < 100_000
    shipped = list(from_file(str(BUILT_IN)))
    assert len(shipped) == 32
    assert all("\\boxed{" in problem.solution for problem in shipped)
    assert tuple(dict.fromkeys(problem.subset for problem in shipped)) == BUILT_IN_SUBSETS
    assert list(built_in()) == shipped


def test_a_mock_run_of_some_subsets_asks_nobody(
    tiny_auto: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*arguments: Any, **options: Any) -> None:
        raise AssertionError("the hub was asked")

    monkeypatch.setattr(problem_sources, "from_hub", refuse)
    options = ("realign", "--mock", "--limit", 2, "--no-report", "-o")
    assert exit_code(*options, tmp_path, "--subsets", "prealgebra") == 0
    assert [row["subset"] for row in entries(tmp_path)] == ["prealgebra"] * 2
    capsys.readouterr()
    assert exit_code(*options, tmp_path / "other", "--subsets", "prealgebra,algebra") == 2
    assert "no problem of algebra ships with relfast (gsm8k, prealgebra do)" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()


def test_problems_from_a_dataset_by_subset(tmp_path: Path) -> None:
    import datasets

    datasets.disable_progress_bars()
    (tmp_path / "sums").mkdir()
    rows = [{"problem": f"p{n}", "solution": f"s{n}", "type": "T"} for n in range(5)]
    write_dump(tmp_path / "sums" / "test.jsonl", rows)
    (tmp_path / "README.md").write_text(
        "---\nconfigs:\n- config_name: sums\n  data_files:\n  - split: test\n    path: sums/test.jsonl\n---\n"
    )
    found = list(from_hub(["sums"], 3, dataset=str(tmp_path)))
    assert [(p.subset, p.id, p.question, p.solution) for p in found] == [
        ("sums", n, f"p{n}", f"s{n}") for n in range(3)
    ]
    with pytest.raises(InputError, match="'geometry' cannot be loaded"):
        list(from_hub(["geometry"], dataset=str(tmp_path)))


def test_without_a_network_only_what_was_fetched_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[str | None] = []

    def load(*arguments: Any, **options: Any) -> None:
        seen.append(os.environ.get(problem_sources.OFFLINE))
        raise InputError("is not kept here", file="the data set")

    def lookup(host: str, port: object) -> None:
        assert host == "hub.test"
        raise socket.gaierror(socket.EAI_NONAME, "no such name")

    def said(*options: str | Path) -> str:
        assert exit_code("realign", "--no-report", "-o", tmp_path / "out", *options) == 2
        return capsys.readouterr().err.removesuffix("relfast: the data set: is not kept here\n")

    monkeypatch.setattr(problem_sources, "from_hub", load)
    monkeypatch.setattr("socket.getaddrinfo", lookup)
    monkeypatch.setattr("urllib.request.getproxies", dict)
    monkeypatch.setenv("HF_ENDPOINT", "https://hub.test")
    monkeypatch.setenv(problem_sources.OFFLINE, "0")
    assert said() == ""  # what the user says stays
    monkeypatch.delenv(problem_sources.OFFLINE)
    assert said("--dataset", tmp_path) == ""  # a folder is not looked up on the hub
    assert "no network (hub.test: no such name)" in said()
    monkeypatch.delenv(problem_sources.OFFLINE)
    monkeypatch.setattr("urllib.request.getproxies", lambda: {"https": "http://proxy.test"})
    assert said() == ""  # the proxy knows names that we do not
    assert seen == ["0", None, "1", None]


def test_without_the_extra_it_is_said_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtraError, match="--data"):
        list(from_hub(["sums"]))


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ("CORRECT", True),
        ("INCORRECT", False),
        ("\n Verdict: CORRECT.\nnot INCORRECT", True),
        ("correct", True),
        ("The answer is INCORRECT\nCORRECT", False),
        ("I think\nCORRECT", False),
        ("", False),
    ],
)
def test_verdicts(reply: str, verdict: bool) -> None:
    assert parse_verdict(reply) is verdict


def test_the_seeds_functions(tmp_path: Path) -> None:
    with running(Server(solve=solve)) as server:
        api = f"{server.url}/completions"
        text = get_llm_reasoning("Add 4 and one.", False, "m", api, 0.0, 100)
        assert text == solve("Add 4 and one.")
        assert server.requests[-1]["max_tokens"] == 100
        # the published order, which is not that of get_llm_reasoning
        assert grade_correctness_llm("q", "5", "5.0", "m", api)[0] is True
        assert server.requests[-1]["model"] == "m"
        assert grade_correctness_llm("q", "5", "5.0", "m", api, True) == mock_verdict("5", "5.0")
        right, reason = grade_correctness_llm("q", "5", "6", model_name="m", api_endpoint=api)
        assert (right, reason.startswith("INCORRECT")) == (False, True)

        async def in_a_notebook() -> str | None:
            return get_llm_reasoning("Add 4 and one.", api_endpoint=f"{server.url}/chat/completions")

        assert asyncio.run(in_a_notebook()) == text
    assert grade_correctness_llm("q", "5", " 5", mock=True)[0] is True
    assert get_llm_reasoning("q", mock=True) == mock_solution("q")
    assert "Student's answer:\n6" in verdict_prompt("q", "5", "6")


def test_a_failed_request_is_none_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    from relfast.realign import benchmark

    monkeypatch.setattr(benchmark, "Settings", partial(benchmark.Settings, attempts=1))
    with pytest.warns(RuntimeWarning, match="no solution"):
        assert get_llm_reasoning("q", api_endpoint="http://127.0.0.1:9/v1/completions") is None
    with running(Server(solve=lambda prompt: "")) as silent:
        for api in ("http://127.0.0.1:9/v1", silent.url):
            right, reason = grade_correctness_llm("q", "5", "6", api_endpoint=f"{api}/completions")
            assert (right, reason.startswith("no verdict")) == (False, True)


@pytest.mark.parametrize("workers", [0, 1])
def test_a_model_that_is_not_here_stops_the_scoring(
    tiny_auto: str, tmp_path: Path, workers: int, capsys: pytest.CaptureFixture[str]
) -> None:
    dump, out = tmp_path / "dump.jsonl", tmp_path / "out.jsonl"
    dump.write_text(json.dumps({"benchmark_solution": "a b", "llm_solution": "c d"}))
    assert exit_code("score", dump, "-o", out, "--workers", workers, "-q", "--embedder", "bge-small") != 0
    assert "relfast embedder add bge-small" in capsys.readouterr().err
    assert not out.exists()
