"""``relfast bench``: from models' names to a table and reports of all three benchmarks, and against a real model."""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_runs import exit_code, rows_of, write_dump
from openai_server import Server, running
from processes import started, until
from tiny_server import ALIAS, tiny_server

from benchmarks import make_built_in
from relfast.bench.run import MOCK, Spec
from relfast.bench.sets import SETS, built_in
from relfast.errors import UsageError
from relfast.inference.requests import read_requests


@pytest.fixture(autouse=True)
def _pictures_in_one_format(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most of the time of a run with a report: `tests/report` looks at pictures in all formats."""
    monkeypatch.setattr("relfast.report.canvas.FORMATS", (".svg",))


def test_the_sets_are_what_they_were() -> None:
    """A set of other bytes needs a new version."""
    found = {
        (each.name, each.version): hashlib.sha256(each.path.read_bytes()).hexdigest()
        for each in SETS.values()
    }
    assert found == {
        ("rel", 3): "4dc99195347f91e3cf41d648febc5d2f80c73822b749ed68de80775feb03cde5",
        ("seqbench", 1): "6fe5390423f6f46591b4d40cd3fc38124ae658a7078ae502630440c28ecd638f",
        ("realign", 1): "dbd95a52b142c4c4cec33b86c7148fdcdfb52fd12e0d94c85d7d7b0a53b1019d",
    }
    tasks = {request.task for part in built_in() for request in read_requests(part.inputs)}
    assert {"REL-A1", "REL-A4", "REL-B1", "REL-C1", "REL-C2", "REL-C3", "SeqBench", "ReAlign"} <= tasks


@pytest.mark.slow
def test_the_sets_are_made_with_our_generators() -> None:
    for name, records in (("rel", make_built_in.rel()), ("seqbench", make_built_in.seqbench())):
        shipped = [request.row for request in read_requests([str(SETS[name].path)])]
        assert shipped == json.loads(json.dumps(list(records)))


@pytest.mark.slow
def test_all_three_benchmarks_without_a_server(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("bench", "--mock", "-o", tmp_path, "--workers", 0, "-q") == 0
    table = capsys.readouterr().err
    results = json.loads((tmp_path / "results.json").read_text())
    tasks = {name: task for result in results for name, task in result["tasks"].items()}
    assert tasks.keys() >= {"REL-A1", "REL-B1", "REL-C3", "SeqBench", "ReAlign"}
    for name, task in tasks.items():
        assert f" {name} " in table
        assert task["responses"] == task["statuses"]["ok"] + task["statuses"]["no_answer"]
        assert task["correct"] > 0, "the stand-in knows the answers"
    assert 0 < tasks["SeqBench"]["correct"] < 1
    assert tasks["SeqBench"]["complexity"]["l0"]["l0"] > 0
    page = (tmp_path / MOCK / "report" / "index.html").read_text("utf-8")
    for said in (*tasks, f"model {MOCK}"):  # what was asked, too
        assert said in page
    assert exit_code("bench", "--mock", "-o", tmp_path, "-q") == 2
    assert "--resume continues it" in capsys.readouterr().err


@pytest.mark.slow
def test_two_models_killed_and_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = list(make_built_in.seqbench())[:8]
    records = write_dump(tmp_path / "mazes.jsonl", rows)
    folder = tmp_path / "out"
    monkeypatch.setenv("KEY_OF_TWO", "sk-of-the-second-model")
    with running(Server(solve=lambda prompt: "[('start', 'A1')]", delay=0.05)) as server:
        models = [f"org/one@{server.url}", f"two@{server.url}#KEY_OF_TWO"]
        more = ["--records", str(records), "--concurrency", "1", "--workers", "0", "-o", str(folder)]
        arguments = ["bench", *models, *more]
        child = started("-m", "relfast", *arguments, stderr=subprocess.DEVNULL)
        until(lambda: server.answered.total() >= 5)
        child.send_signal(signal.SIGKILL)
        assert child.wait() == -signal.SIGKILL
        server.delay = 0
        assert exit_code(*arguments, "--resume") == 0
        said = capsys.readouterr().err
        assert server.answered.total() <= 2 * len(rows) + 1
        assert server.keys == {"Bearer none", "Bearer sk-of-the-second-model"}
        assert {request["model"] for request in server.requests} == {"org/one", "two"}
    together = (folder / "report" / "index.html").read_text("utf-8")
    for name in ("org_one", "two"):
        assert len(rows_of(folder / name / "mazes.scored.jsonl")) == len(rows)
        assert (folder / name / "report" / "index.html").is_file()
        assert name in said
        assert name in together


def test_a_folder_keeps_what_it_has_and_a_resumed_run_ends_as_the_first(tmp_path: Path) -> None:
    """One of eight records fails for good: 0, and 0 when only they are asked again; 1 where no record has a response."""
    rows = list(make_built_in.seqbench())[:8]
    rows[0]["context"] = "BROKEN " + rows[0]["context"]
    records = write_dump(tmp_path / "mazes.jsonl", rows)
    folder = tmp_path / "out"
    more = ["--records", records, "--workers", 0, "-q", "--no-report", "--attempts", 1, "-o", folder]
    with running(Server(solve=lambda prompt: "[('start', 'A1')]", broken="BROKEN")) as server:
        one, two = f"one@{server.url}", f"two@{server.url}"
        assert exit_code("bench", one, *more) == exit_code("bench", one, *more, "--resume") == 0
        assert exit_code("bench", one, *more, "--resume", "--fail-on-error") == 3
        assert exit_code("bench", one, *more) == 2
        assert exit_code("bench", two, *more) == 0
        server.broken = ""
        assert (
            exit_code("bench", one, *more, "--overwrite") == exit_code("bench", one, *more, "--resume") == 1
        )
    results = json.loads((folder / "results.json").read_text())
    assert [result["model"] for result in results] == ["two", "one"]


@pytest.mark.parametrize(
    ("text", "spec", "folder"),
    [
        ("gpt-x", Spec("gpt-x"), "gpt-x"),
        ("Qwen/Qwen3-8B@http://h:8000/v1", Spec("Qwen/Qwen3-8B", "http://h:8000/v1"), "Qwen_Qwen3-8B"),
        ("m@v2@https://h/v1#MY_KEY", Spec("m@v2", "https://h/v1", "MY_KEY"), "m_v2"),
        ("../../x", Spec("../../x"), "x"),
    ],
)
def test_how_a_model_is_named(text: str, spec: Spec, folder: str) -> None:
    assert (Spec.parse(text), Spec.parse(text).folder) == (spec, folder)
    with pytest.raises(UsageError):
        Spec.parse("")


def test_what_needs_a_model_that_is_not_here_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As after an install without models: the default sets are those that can be scored; a named one is refused."""
    monkeypatch.setattr("relfast.embed.models.kept_directory", lambda name: None)
    monkeypatch.setattr("relfast.embed.models.package_directory", lambda name: None)
    style = ("--style", "paper", "--font", "serif")
    arguments = ["bench", "--mock", "--limit", "2", "--workers", "0", "-q", "-o", tmp_path / "out", *style]
    assert exit_code(*arguments) == 0
    told = capsys.readouterr().err
    assert "relfast: realign was left out: no embedding model is on this machine" in told
    found = {path.name for path in (tmp_path / "out" / "mock").glob("*.scored.jsonl")}
    assert found == {"rel.scored.jsonl", "seqbench.scored.jsonl"}
    figure = (tmp_path / "out" / "mock" / "report" / "accuracy_by_task.svg").read_text("utf-8")
    assert 'width="241.2pt"' in figure, "85 mm, as for a paper's column"
    assert "Accuracy by task" not in figure
    assert "serif" in figure
    for more in (["--set", "realign"], ["--embedder", "nosuch"]):
        assert exit_code(*arguments, "--overwrite", *more) == 2


# a real language model, tiny and random, behind llama.cpp's server: asked, scored and reported end to end


MAX_TOKENS = 12


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with tiny_server(tmp_path_factory.mktemp("model")) as url:
        yield url


@pytest.mark.slow
def test_from_a_models_name_to_a_report(api: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = f"--limit 3 --max-tokens {MAX_TOKENS} --workers 0 -q"
    arguments = [f"{ALIAS}@{api}", "-o", tmp_path, *options.split()]
    assert exit_code("bench", *arguments, "--concurrency", 2) == 0
    table = capsys.readouterr().err
    folder = tmp_path / ALIAS
    for name in SETS:
        assert f"{name} " in table
        rows, scored = rows_of(folder / f"{name}.jsonl"), rows_of(folder / f"{name}.scored.jsonl")
        assert len(rows) == len(scored) == 3
        for row, score in zip(rows, scored, strict=True):
            about = row["generation"]
            assert about["server_model"] == ALIAS
            assert about["finish_reason"] in ("length", "stop")
            assert 0 < about["usage"]["completion_tokens"] <= MAX_TOKENS
            assert about["usage"]["prompt_tokens"] > 100
            # an empty text, too, where nothing but half a character came
            assert row["error"] is None
            assert score["status"] in ("ok", "no_answer")
    assert (folder / "report" / "index.html").is_file()
    results = json.loads((tmp_path / "results.json").read_text())
    assert [result["run"]["made"]["server_models"] for result in results] == [[ALIAS]] * 3
    before = answered(folder)
    assert len(before) > 5
    assert exit_code("bench", *arguments, "--concurrency", 2) == 2, "an existing run needs a word"
    assert exit_code("bench", *arguments, "--concurrency", 1, "--resume") in (0, 1)
    assert answered(folder) >= before


def answered(folder: Path) -> set[bytes]:
    """The rows that hold a response, as they stand in their files."""
    lines = b"".join((folder / f"{name}.jsonl").read_bytes() for name in SETS).splitlines()
    return {line for line in lines if json.loads(line)["error"] is None}
