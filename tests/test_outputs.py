"""Output files: whole or not there, and never over another one unasked."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pytest

from relfast.errors import OutputError, OutputExistsError
from relfast.outputs import refuse_existing, whole_file


def test_a_file_appears_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    with whole_file(str(path)) as file:
        file.write(b"one\n")
        file.flush()
        assert not path.exists()
    assert path.read_bytes() == b"one\n"
    with suppress(ZeroDivisionError), whole_file(str(path), overwrite=True) as file:
        file.write(b"two\n")
        raise ZeroDivisionError
    assert path.read_bytes() == b"one\n"
    with whole_file(str(path), overwrite=True) as file:
        file.write(b"three\n")
    assert path.read_bytes() == b"three\n"
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_there_stays(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("mine\n")
    with pytest.raises(OutputExistsError, match="--overwrite replaces it"), whole_file(str(path)):
        raise AssertionError("it was opened")
    with pytest.raises(OutputExistsError, match="--resume continues it"):
        refuse_existing(path, unless=False, resumable=True)
    refuse_existing(path, unless=True)
    refuse_existing(tmp_path / "absent", unless=False)
    assert path.read_text() == "mine\n"
    assert list(tmp_path.iterdir()) == [path]


def test_devices_and_pipes_are_written_in_place(tmp_path: Path) -> None:
    with whole_file(os.devnull) as file:
        file.write(b"gone")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with whole_file(str(pipe)) as file:
        file.write(b"through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert pipe.is_fifo()


def test_what_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="directory"), whole_file(str(tmp_path)):
        raise AssertionError("it was opened")
    with pytest.raises(OutputError, match="absent"), whole_file(str(tmp_path / "absent" / "rows.jsonl")):
        raise AssertionError("it was opened")


def test_stdout(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    with whole_file("-") as file:
        file.write(b"rows\n")
    assert capfdbinary.readouterr().out == b"rows\n"
