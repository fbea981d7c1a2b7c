"""All three benchmarks against a server that misbehaves by plan: every failure a row, none a score, nothing asked twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest
from engine_runs import exit_code, rows_of
from openai_server import FAILURES, Server, running
from patience import comes_true
from three_benchmarks import write_all

from relfast.records import SCORED

KEY = "sk-very-secret-0123456789"

WRONG = "['start: A1']  Answer 9, \\boxed{none}"


class Misbehaving(Server):
    """One prompt in ten fails for good, in a way that its text decides; the others at their first time."""

    def failure(self, prompt: str) -> str | None:
        kind = super().failure(prompt)
        if is_broken(prompt):
            return ("500", "null text", "no choices", "html")[zlib.crc32(prompt.encode()) % 4]
        return kind


def is_broken(prompt: str) -> bool:
    return zlib.crc32(prompt.encode()) % 10 == 7


def asking(server: Server, records: list[Path], output: Path) -> list[str]:
    options = ["--api", server.url, "--model", "m", "-o", output, "--attempts", 3, "--backoff", 0.01]
    return [*map(str, [*records, *options, "--timeout", 2, "-q"])]


@pytest.mark.slow
def test_killed_ten_times_it_asks_nothing_twice(tmp_path: Path) -> None:
    """200 records of each benchmark, two samples each; the process dies ten times, whatever it is doing."""
    n, samples, concurrency, kills = 600, 2, 32, 10
    records, output = write_all(tmp_path, n // 3), tmp_path / "out.jsonl"
    more = ["--samples", str(samples), "--temperature", "1", "--seed", "7", "--concurrency", str(concurrency)]
    command = [sys.executable, "-m", "relfast", "run"]
    kept: list[tuple[int, set[tuple[str, int]]]] = []
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "OPENAI_API_KEY": KEY,
    }
    with running(Misbehaving(solve=lambda prompt: WRONG, failing=1, slow=4.0, echoes_key=True)) as server:
        for number in range(kills):
            answered = server.answered.total()
            child = subprocess.Popen(
                [*command, *asking(server, records, output), *more, *(["--resume"] if number else [])],
                env=environment,
                stderr=subprocess.DEVNULL,
            )
            enough = answered + samples * n // (kills + 6)
            comes_true(
                lambda enough=enough, child=child: (
                    server.answered.total() >= enough or child.poll() is not None
                )
            )
            shown = Path(f"/proc/{child.pid}/cmdline").read_bytes()
            child.send_signal(signal.SIGKILL)
            assert child.wait() == -signal.SIGKILL, "it ended before it could be killed"
            assert KEY.encode() not in shown
            assert b"relfast" in shown
            kept.append((len(server.requests), answered_in(output)))
        done_ = subprocess.run([*command, *asking(server, records, output), *more, "--resume"], env=environment, capture_output=True, check=True)  # fmt: skip
        # of what succeeded nothing is asked again, but for what was on its way at a kill
        good = n * samples - sum(samples for row in rows_of(output) if row["error"])
        assert good <= server.answered.total() <= good + kills * concurrency
        for asked, done in kept:
            again = {(each["messages"][0]["content"], each["seed"]) for each in server.requests[asked:]}
            assert again
            assert not again & done
        assert kept[0][1] < kept[-1][1]
        assert server.keys == {f"Bearer {KEY}"}
        quiet = tmp_path / "quiet.jsonl"
        server.asked.clear()
        server.failing = 0
        assert exit_code("run", *asking(server, records, quiet), *more) == 0
    assert output.read_bytes() == quiet.read_bytes()
    headers = (Path(f"{path}.run.json").read_bytes() for path in (output, quiet))
    assert len(set(headers)) == 1
    check_samples(output, tmp_path, samples)
    for path in tmp_path.iterdir():
        assert KEY.encode() not in path.read_bytes(), path
    assert KEY.encode() not in done_.stderr + done_.stdout
    assert set(FAILURES) <= set(server.met) | {"slow", "trickle"}


def answered_in(output: Path) -> set[tuple[str, int]]:
    """The prompts whose answers stand in an output, whole or not, with their seeds."""
    from relfast.inference.requests import Wordings

    done = set()
    wordings = Wordings()
    records = {}
    for path in (output.parent / f"{name}.jsonl" for name in ("rel", "seqbench", "realign")):
        for row in rows_of(path):
            records[len(records)] = wordings.request(len(records), row).prompt
    for line in output.read_bytes().split(b"\n")[:-1]:
        row = json.loads(line)
        about = row["generation"]
        texts = [row["response"]] if "sample" in about else row["response"]
        for at, text in enumerate(texts):
            if text is not None:
                done.add((str(records[about["index"]]), 7 + about.get("sample", at)))
    return done


def check_samples(output: Path, tmp_path: Path, samples: int) -> None:
    scored = tmp_path / "scored.jsonl"
    assert exit_code("score", output, "-o", scored, "--workers", 0, "--overwrite", "-q") == 0
    rows = rows_of(scored)
    expected = [error is None for row in rows_of(output) for error in (row["error"] or [None] * samples)]
    assert [row["status"] in SCORED for row in rows] == expected
    assert not all(expected)


def test_a_truncated_response_is_marked(tmp_path: Path) -> None:
    """Cut off in its answer it is one like others, unless told; cut off before it there is none."""
    records = tmp_path / "in.jsonl"
    texts = ("fine", "cut", "nothing", "thinks", "empty")
    rows = [
        {"id": text, "task": "REL-A1", "question": f"{text}: which?", "answer": {"target": 0}}
        for text in texts
    ]
    records.write_text("".join(json.dumps(row) + "\n" for row in rows))
    ends: dict[str, tuple[str, dict[str, Any]]] = {
        "cut": ("length", {}),
        "nothing": ("length", {"content": None, "reasoning_content": "Hmm, let me"}),
        "thinks": ("stop", {"reasoning_content": "One or two? One."}),
        "empty": ("length", {"content": ""}),
    }
    with running(Server(solve=lambda prompt: "Answer 1", ends=ends)) as server:
        output = tmp_path / "out.jsonl"
        assert exit_code("run", *asking(server, [records], output)) == 0
        assert len(server.requests) == len(texts), "nothing of this is mended by asking again"
        found = {row["id"]: row for row in rows_of(output)}
        assert {name: row["response"] for name, row in found.items()} == {
            "fine": "Answer 1", "cut": "Answer 1", "nothing": None, "thinks": "Answer 1", "empty": None,
        }  # fmt: skip
        assert found["nothing"]["error"]["type"] == "TruncatedError"
        assert "--max-tokens" in found["nothing"]["error"]["message"]
        assert {name: row["generation"]["finish_reason"] for name, row in found.items()} == {
            "fine": "stop", "cut": "length", "nothing": "length", "thinks": "stop", "empty": "length",
        }  # fmt: skip
        assert found["thinks"]["generation"]["reasoning"] == "One or two? One."
        assert "reasoning" not in found["fine"]["generation"]
        assert found["fine"]["generation"]["usage"] == {"prompt_tokens": 2, "completion_tokens": 2}
        assert found["fine"]["generation"]["server_model"] == "m-served"
        strict = tmp_path / "strict.jsonl"
        assert exit_code("run", *asking(server, [records], strict), "--truncated", "fail") == 0
    assert [row["id"] for row in rows_of(strict) if row["error"]] == ["cut", "nothing", "empty"]


def test_an_error_that_repeats_the_key_does_not_bring_it_into_a_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("THEIR_KEY", KEY)
    records, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    records.write_text('{"id": 1, "question": "fine"}\n{"id": 2, "question": "broken"}\n')
    server = Server(solve=lambda prompt: f"You sent {KEY}, thanks", broken="broken", echoes_key=True)
    with running(server):
        assert exit_code("run", *asking(server, [records], output), "--key-env", "THEIR_KEY") == 0
    assert server.keys == {f"Bearer {KEY}"}
    fine, broken = rows_of(output)
    assert fine["response"] == "You sent [key], thanks"
    assert "Bearer [key]" in broken["error"]["message"]
    for path in tmp_path.iterdir():
        assert KEY not in path.read_text()
    assert KEY not in "".join(capfd.readouterr())


def test_a_url_with_a_password_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    records.write_text('{"id": 1, "question": "x"}\n')
    arguments = ["--model", "m", "-o", output, "--api", f"http://me:{KEY}@127.0.0.1:9/v1"]
    assert exit_code("run", records, *arguments) == 2
    assert KEY not in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [records]
