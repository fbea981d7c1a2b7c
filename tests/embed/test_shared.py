"""One process holds a model for all that ask."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
import psutil
import pytest
from corpora import ROOT
from patience import until

from relfast.embed.embedder import Embedder
from relfast.embed.models import Model
from relfast.embed.session import Session, SharedSession

TEXTS = ["the answer is 4", "x = 2 + 2", "the step", "the answer is 4"]

_ASK = """
import sys, numpy
from relfast.embed.embedder import Embedder
from relfast.embed.models import Model
import json
embedder = Embedder(Model(**json.loads(sys.argv[1])))
print(embedder.encode(json.loads(sys.argv[2])).tobytes().hex(), "onnxruntime" in sys.modules, flush=True)
sys.stdin.read()
"""


def hosts(folder: Path) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter(["cmdline"]):
        command = process.info["cmdline"] or []
        if "relfast.embed.session" in command and any(word.startswith(str(folder)) for word in command):
            found.append(process)
    return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "s"
    monkeypatch.setenv("RELFAST_EMBED_SHARED", str(folder))
    return folder


def asking(model: Model) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _ASK, json.dumps(asdict(model)), json.dumps(TEXTS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


def test_processes_have_one_model_and_the_same_bits(
    tiny: Model, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    several = [asking(tiny) for _ in range(3)]
    given = [process.stdout.readline().split() for process in several if process.stdout]
    assert len(hosts(folder)) == 1
    monkeypatch.delenv("RELFAST_EMBED_SHARED")
    own = Embedder(tiny).encode(TEXTS).tobytes().hex()
    assert given == [[own, "False"]] * 3
    for process in several:
        process.communicate()
    for process in hosts(folder):
        process.send_signal(signal.SIGTERM)


def test_a_process_that_was_killed_is_started_again(tiny: Model, folder: Path) -> None:
    folder.mkdir(mode=0o700)
    shared = SharedSession(tiny, folder, idle=0.2)
    ids, lengths = np.arange(2, 14, dtype=np.int64).reshape(2, 6), np.full(2, 6)
    expected = Session(tiny).run(ids, lengths)
    np.testing.assert_array_equal(shared.run(ids, lengths), expected)
    (before,) = hosts(folder)
    before.kill()
    before.wait()
    np.testing.assert_array_equal(shared.run(ids, lengths), expected)
    (after,) = hosts(folder)
    assert after.pid != before.pid
    # no client is left: it ends, and takes its name with it
    del shared
    until(lambda: not [p for p in hosts(folder) if p.status() != psutil.STATUS_ZOMBIE], "its end")
    assert [path.suffix for path in folder.iterdir()] == [".lock"]


def test_a_folder_of_others_is_not_used(tiny: Model, folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.warns(RuntimeWarning, match="RELFAST_EMBED_SHARED chooses another place"):
        vectors = Embedder(tiny).encode(TEXTS)
    assert vectors.shape == (4, tiny.dimensions)
    assert not os.listdir(folder)
