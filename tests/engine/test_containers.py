"""What a file is packed in: it is read as what it is, or refused with the command that unpacks it, whatever its name
says; never read as lines that it does not have."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
import zstandard
from engine_runs import rows_of, write_dump

import relfast
from relfast.validate import FileCheck

RECORDS: Final = [
    {"id": f"é{n}", "task": "REL-C1", "domain": "chemistry", "question": "One; two | three, \"four\"?\nYes or no?",
     "answer": {"label": "Yes"}, "response": ("<Yes>", "I think\n<No>")[n % 2]}
    for n in range(6)
]  # fmt: skip
LINES: Final = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in RECORDS).encode()


def tarred(data: bytes, form: int = tarfile.GNU_FORMAT) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=form) as archive:
        info = tarfile.TarInfo("run.jsonl")
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    return file.getvalue()


def zipped(data: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("run.jsonl", data)
    return file.getvalue()


TAR: Final = tarred(LINES)
ARCHIVES: Final[dict[str, tuple[bytes, str]]] = {
    "tar": (TAR, "tar -xf"),
    "tar, ustar": (tarred(LINES, tarfile.USTAR_FORMAT), "tar -xf"),
    "tar, pax": (tarred(LINES, tarfile.PAX_FORMAT), "tar -xf"),
    "tar.gz": (gzip.compress(TAR), "tar -xf"),
    "tar.bz2": (bz2.compress(TAR), "tar -xf"),
    "tar.xz": (lzma.compress(TAR), "tar -xf"),
    "tar.zst": (zstandard.compress(TAR), "tar -xf"),
    "zip": (zipped(LINES), "unzip"),
    "7z": (b"7z\xbc\xaf\x27\x1c\0\x04" + bytes(600), "7z x"),
    "rar": (b"Rar!\x1a\x07\x01\0" + bytes(600), "unrar x"),
    "lz4": (b"\x04\x22\x4d\x18\x64\x40\xa7" + bytes(600), "lz4 -d"),
}


@pytest.mark.parametrize("name", ["run", "run.jsonl", "run.gz", "run.csv"])
@pytest.mark.parametrize("kind", ARCHIVES)
def test_archives_are_refused_with_what_unpacks_them(kind: str, name: str, tmp_path: Path) -> None:
    data, command = ARCHIVES[kind]
    path = tmp_path / (name if name != "run" else f"run.jsonl.{kind.partition(',')[0]}")
    path.write_bytes(data)
    good = write_dump(tmp_path / "good.jsonl", RECORDS)
    for read in (
        lambda: relfast.score_file(path, workers=0),
        lambda: relfast.score_file(good, workers=0, data=path, overwrite=True),
        lambda: [*FileCheck(str(path))],
        lambda: relfast.read_rows(path),
    ):
        with pytest.raises(relfast.InputError, match=command):
            read()


@pytest.mark.parametrize("kind", ["tar", "tar.gz", "tar.bz2", "zip", "7z"])
def test_they_are_refused_from_a_pipe(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(ARCHIVES[kind][0])))
    with pytest.raises(relfast.InputError, match=r"this is|a ZIP"):
        relfast.score_file("-", workers=0)


@pytest.mark.parametrize("kind", ["tar", "tar.gz", "tar.bz2", "tar.xz"])
def test_the_command_that_is_named_unpacks(kind: str, tmp_path: Path) -> None:
    """The oracle: the tools themselves."""
    path = tmp_path / "a run.jsonl"
    path.write_bytes(ARCHIVES[kind][0])
    with pytest.raises(relfast.InputError) as refused:
        relfast.score_file(path, workers=0)
    command = str(refused.value).rpartition(": ")[2]
    subprocess.run(command, shell=True, check=True, cwd=tmp_path)
    assert LINES in [each.read_bytes() for each in tmp_path.iterdir()]


def table(delimiter: str = ",", encoding: str = "utf-8", end: str = "\r\n") -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator=end)
    writer.writerow(RECORDS[0])
    for record in RECORDS:
        writer.writerow(value if isinstance(value, str) else json.dumps(value) for value in record.values())
    return text.getvalue().encode(encoding)


TABLES: Final = {
    "commas": ("csv", table()),
    "Excel's": ("csv", table(encoding="utf-8-sig")),
    "Excel's in half of Europe": ("csv", table(";", "utf-8-sig")),
    "semicolons": ("CSV", table(";")),
    "bars": ("csv", table("|")),
    "tabs": ("tsv", table("\t", "utf-8-sig")),
    "tabs in CSV": ("csv", table("\t")),
    "commas in TSV": ("tsv", table(",")),
    "Unicode text": ("tsv", table("\t", "utf-16")),
    "UTF-16, big": ("csv", b"\xfe\xff" + table(",", "utf-16-be")),
    "gz": ("csv.gz", gzip.compress(table(";", "utf-8-sig"))),
    "zst": ("tsv.zst", zstandard.compress(table("\t"))),
    "bz2": ("csv.bz2", bz2.compress(table())),
    "xz": ("tsv.xz", lzma.compress(table("\t", "utf-16"))),
    "line feeds": ("csv", table(end="\n")),
}


@pytest.mark.parametrize("kind", TABLES)
def test_tables_are_read_as_lines_are(kind: str, tmp_path: Path) -> None:
    expected, output = tmp_path / "expected.jsonl", tmp_path / "rows.jsonl"
    lines = write_dump(tmp_path / "run.jsonl", RECORDS)
    relfast.score_file(lines, expected, workers=0)
    suffix, data = TABLES[kind]
    path = tmp_path / f"run.{suffix}"
    path.write_bytes(data)
    relfast.score_file(path, output, workers=0)
    assert output.read_bytes() == expected.read_bytes()
    alone = write_dump(
        tmp_path / "alone.jsonl", [{"id": each["id"], "response": each["response"]} for each in RECORDS]
    )
    relfast.score_file(alone, output, workers=0, data=path, overwrite=True)
    assert [row["correct"] for row in rows_of(output)] == [row["correct"] for row in rows_of(expected)]
    check = FileCheck(str(path))
    assert [*check] == []
    assert check.n_good == len(RECORDS)


REFUSED: Final = {
    "Windows-1252": (table(";", "cp1252"), "iconv -f WINDOWS-1252 -t UTF-8"),
    "two that fit": (b"one;two|three\n1;2|3\n", "separated by ';' or '|'"),
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
def test_a_table_whose_form_is_not_certain(kind: str, tmp_path: Path) -> None:
    data, message = REFUSED[kind]
    path = tmp_path / "run.csv"
    path.write_bytes(data)
    with pytest.raises(relfast.InputError) as refused:
        relfast.score_file(path, workers=0)
    assert message in str(refused.value)


def test_empty_cells_are_missing(tmp_path: Path) -> None:
    """As pandas writes None."""
    path = tmp_path / "run.csv"
    for empty in (b"", b'""'):
        path.write_bytes(b'id,task,answer,response\na,REL-C1,"{""label"": ""Yes""}",' + empty + b"\n")
        output = tmp_path / "rows.jsonl"
        relfast.score_file(path, output, workers=0, overwrite=True)
        assert [row["error"]["message"] for row in rows_of(output)] == ["the response is null"]


def of_tool(name: str) -> Any:
    return json.loads((Path(__file__).parent.parent / "data" / "dumps" / name).read_text("utf-8"))


WRITERS: Final[dict[str, Callable[[Any], bytes]]] = {
    "one line": lambda document: json.dumps(document).encode(),
    "tight": lambda document: json.dumps(document, separators=(",", ":")).encode() + b"\n",
    "packed": lambda document: gzip.compress(json.dumps(document).encode()),
    "packed in blocks": lambda document: bz2.compress(json.dumps(document).encode()),
}


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("name", ["opencompass.json", "inspect.json", "scenario_state.json"])
def test_a_document_on_one_line_is_read_as_its_indented_form(name: str, writer: str, tmp_path: Path) -> None:
    document, outputs = of_tool(name), [tmp_path / "one.jsonl", tmp_path / "other.jsonl"]
    indented, line = tmp_path / "indented.json", tmp_path / "line.json"
    indented.write_text(json.dumps(document, indent=1), "utf-8")
    line.write_bytes(WRITERS[writer](document))
    for path, output in zip((indented, line), outputs, strict=True):
        relfast.score_file(path, output, workers=0)
    assert outputs[0].read_bytes() == outputs[1].read_bytes()
    assert len(rows_of(outputs[0])) > 1


def test_a_record_on_one_line_is_a_record(tmp_path: Path) -> None:
    for name in ("run.json", "run.jsonl"):
        path = tmp_path / name
        path.write_text(json.dumps(RECORDS[0] | {"pad": "x" * 9_000}), "utf-8")
        assert relfast.score_file(path, tmp_path / "rows.jsonl", workers=0, overwrite=True).count("ok") == 1
