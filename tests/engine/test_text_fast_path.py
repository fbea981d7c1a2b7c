"""The fast path writes the bytes that the ordinary way writes, for any line."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from both_ways import Ways
from relfast_kernels import layouts
from relfast_kernels.compiled import native
from relfast_kernels.text import characters

from relfast.engine.file_run.files import score_files
from relfast.engine.job import Job
from relfast.engine.text_table import can_hold
from relfast.stats.prompts import SAMPLE
from relfast.tasks import TASKS, text_judge
from relfast.tasks.options import AllOptions


@pytest.fixture(scope="session")
def ways() -> Ways:
    return Ways.of_job(Job())


JOBS = {
    "plain": {},
    "details": {"details": True},
    "reasoning": {"options": AllOptions(strip_reasoning=True)},
    "all": {"details": True, "options": AllOptions(strip_reasoning=True), "rewards": {"REL-B1": "f1"}},
}


def _dumps() -> Iterator[tuple[str, dict[str, object], str]]:
    """A line of each dialect with a right answer, with the options that it needs."""
    gold = {"label": "yes", "taxa": [3, 15, "x"]}
    said = "<think>no, taxon_4</think>Yes: taxon_3 \u2013 \u00e9, taxon_15 \U0001f600"
    message = [{"role": "user", "content": "?"}, {"role": "assistant", "content": said}]
    record = {"id": "a\u00e9", "task": "REL-B1", "answer": gold}
    body = {"choices": [{"message": message[1], "finish_reason": "stop"}], "error": None}
    yield "native", {**record, "response": said}, ""
    yield "gold as text", {**record, "answer": json.dumps(gold), "response": said}, ""
    yield "samples", {**record, "response": [said, "No", said]}, ""
    yield "messages", {**record, "response": message}, ""
    yield "no id", {**record, "id": None, "response": said}, ""
    yield "lm-eval", {"doc": record, "resps": [[said, "no"]], "filter": "none"}, ""
    yield "verl", {"input": "\u2013\n?", "output": said, "gts": json.dumps(gold), "data_source": "REL-B1"}, ""
    yield "no task", {"id": 1, "answer": gold, "response": said}, ""
    named = {"input": "?", "output": said, "gts": json.dumps(gold), "data_source": "my/data"}
    yield "verl's own name", named, ""
    yield "joined", {"id": "a\u00e9", "response": said}, "join"
    yield (
        "batch",
        {"custom_id": "a\u00e9", "response": {"status_code": 200, "body": body}, "error": None},
        "join",
    )


@pytest.mark.parametrize("options", ["plain", "details", "reasoning", "all"])
@pytest.mark.parametrize(("row", "join"), [row[1:] for row in _dumps()], ids=[row[0] for row in _dumps()])
def test_every_dialect_is_read(row: dict[str, object], join: str, options: str, tmp_path: Path) -> None:
    """With its answer right, and not by the ordinary way."""
    gold = tmp_path / "gold.jsonl"
    gold.write_text(
        json.dumps({"id": "a\u00e9", "task": "REL-B1", "answer": {"label": "yes", "taxa": [3, 15, "x"]}})
    )
    job = Job(**{**JOBS[options], "data": (str(gold),) if join else ()})  # type: ignore[arg-type]
    lines = [json.dumps(row, ensure_ascii=ensure_ascii).encode() for ensure_ascii in (True, False)]
    found = Ways.of_job(job).same(lines)
    assert found.n_fast == 2
    assert {row["metrics"]["recall"] for row in found.rows if row["sample"] == 0} == {2 / 3}


@pytest.mark.slow
def test_rows_beyond_all_room() -> None:
    """More samples, numbers and kinds of rows than there is room for at first."""
    many = [" ".join(map(str, range(n))) + " yes" for n in range(0, 9_000, 2)]
    rows = [
        {"id": n, "task": "REL-B1", "answer": {"label": "yes", "taxa": [1, n]}, "response": response}
        for n, response in enumerate([*many[:40], *many[-2:], many[:2200], ["no"] * 6_000])
    ]
    ways = Ways.of_job(Job(details=True))
    ways.fast_path.scratch = text_judge.lazy_buffer(1 << 12)
    assert (
        ways.same(rows, segment_lines=3).n_fast == len(rows) - 2
    )  # more different numbers than are compared


@pytest.mark.slow
def test_verbose_runs_say_how_many_lines_took_which_way(tmp_path: Path) -> None:
    row = {"id": 1, "task": "REL-A1", "answer": {"target": 3}, "response": "Answer 4"}
    lines = [
        json.dumps({**row, "response": response}) for response in ["x" * 2_000] * 3_000 + ["\u0663"] * 30
    ]
    (tmp_path / "dump.jsonl").write_text("\n".join(lines))
    told: list[str] = []
    score_files([str(tmp_path / "dump.jsonl")], None, Job(), workers=0, tell=told.append)
    said = next(line for line in told if line.startswith("text fast path"))
    # once the gold is known no line is decoded; of some the extractor reads the response
    assert ", 0 (" in said
    assert ", 30 (" in said
    told.clear()
    (tmp_path / "short.jsonl").write_text("\n".join(lines[:9]))
    score_files([str(tmp_path / "short.jsonl")], None, Job(), workers=0, tell=told.append)
    assert told[-2] == "text fast path: not taken"


@pytest.mark.parametrize(
    ("fields", "fast"),
    [
        (b'"error":null', True),
        (b'"error": null ', True),
        (b'"metadata":{"error":"x","status_code":500}', True),
        (b'"error":"timed out"', False),
        (b'"error":"no","error":null', True),  # of equal keys the last one counts
        (b'"error":null,"error":"no"', False),
        (b'"status_code":200', True),
        (b'"status_code":500', False),
        (b'"error":7', False),
        (b'"error":{"message":7}', False),
        (rb'"error":{"a\/b":1,"a/b":2}', False),  # a name in two spellings
        (rb'"error":{"a\/b":1,"a/b":null}', False),
        (rb'"error":{"error":{"\u00e9":1}}', False),
        (b'"status_code":1000', False),
    ],
)
def test_rows_that_say_something_failed_are_left(ways: Ways, fields: bytes, fast: bool) -> None:
    record = b'{"id":"a","task":"REL-A1","answer":{"target":3},%b,"response":"Answer 4"}' % fields
    assert ways.same([record], chosen=None).n_fast == fast


@pytest.mark.parametrize(
    ("member", "fast"),
    [
        (rb'"\u6a21\u578b":"x"', True),
        (rb'"rewards\/acc":1.0', True),
        (rb'"say \"so\"":1', True),
        (rb'"acc":NaN', True),
        (rb'"metrics":{"acc":[-Infinity,Infinity,NaN]}', True),
        (rb'"resp\u006fnse":"Answer 3"', False),  # a name of ours, and the last of that name
        (rb'"x":NotANumber', False),
        (b'"x":' + b"1" * 4_300, True),
        (b'"x":' + b"1" * 4_301, False),  # Python's parser has a limit
        (rb'"status_code":NaN', False),
        (rb'"error":Infinity', False),
    ],
)
def test_members_that_nobody_asks_for(ways: Ways, member: bytes, fast: bool) -> None:
    record = b'{"id":"a","task":"REL-A1","answer":{"target":3},"response":"Answer 4",%b}' % member
    assert ways.same([record], chosen=None).n_fast == fast


@pytest.mark.parametrize(
    ("taxa", "n_gold"), [(["A", "a", 1], 2), (["É", "é", 1], 2), (["a", "b", 1], 3), ([None, "none", 1], 2)]
)
def test_gold_taxa_are_compared_in_lower_case(ways: Ways, taxa: list[object], n_gold: int) -> None:
    row = {"id": 1, "task": "REL-B1", "answer": {"label": "yes", "taxa": taxa}, "response": "yes 1"}
    for line in (json.dumps(row), json.dumps(row, ensure_ascii=False)):
        (found,) = ways.same([line.encode()]).rows
        assert found["metrics"]["recall"] == 1 / n_gold


@pytest.mark.slow
def test_classes_of_characters_are_pythons() -> None:
    r"""For every code point: a letter is \\w and no \\d, a space \\s, a symbol neither; none of them matches an ASCII
    letter where case is ignored, or is something else in lower case."""
    kinds: dict[int, list[str]] = {}
    for point in range(0x80, 0x110000):
        kinds.setdefault(characters.classify(point), []).append(chr(point))
    del kinds[characters.OTHER]
    assert sum(map(len, kinds.values())) > 1_100_000
    pattern = {characters.LETTER: r"[^\W\d]+", characters.SPACE: r"\s+"}
    for kind, known in kinds.items():
        text = "".join(known)
        lower = text.lower()
        assert len(lower) == len(text)
        for each in (text, lower):
            assert re.fullmatch(pattern.get(kind, r"[^\w\s]+"), each)
            assert each.isspace() == (kind == characters.SPACE)
            assert not re.search(r"(?i:[a-z])|[\x00-\x7f\ud800-\udfff]", each)
        assert kind == characters.SPACE or not any(map(str.isspace, text))


def test_keys_and_samples_number_tasks_alike() -> None:
    kernels = {name: task.text_kernel for name, task in TASKS.items() if task.text_kernel is not None}
    numbers = {name: kernel.number for name, kernel in kernels.items()}
    assert numbers == {**{f"REL-A{i + 1}": i for i in range(7)}, "REL-B1": layouts.B1, "REL-C1": layouts.C1}
    assert SAMPLE.size == layouts.SAMPLE_BYTES


@pytest.mark.parametrize(
    "job",
    [
        Job(field_map={"response": "x.@.y"}),
        Job(field_map={"response": "x.\u0663"}),
        # JSON has more than one spelling of these
        *(Job(field_map={"answer": f"gold{character}x"}) for character in '/"\\\n\x7f'),
        Job(field_map={"response": "x", "completion": "y"}),
        Job(field_map={"response": "x.*.y.*"}),
        Job(field_map={"id": "x.*"}),
    ],
)
def test_other_settings_take_the_ordinary_way(job: Job) -> None:
    assert not can_hold(job.field_map)


@pytest.mark.slow
@pytest.mark.parametrize("linker", [True, False], ids=["library", "object"])
def test_a_torn_file_is_not_run(linker: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELFAST_CACHE_DIR", str(tmp_path))
    if not linker:
        monkeypatch.setenv("PATH", "")
    linked = linker and (shutil.which("ld") or shutil.which("cc"))
    path = native.build("align")
    assert path == (native.shared_library if linked else native.object_file)("align")
    assert native.is_built("align")
    whole = path.read_bytes()
    for content in (
        whole[:-1],
        whole[:100],
        b"",
        b"{}\n",
        whole[:999] + bytes([whole[999] ^ 1]) + whole[1000:],
    ):
        path.unlink()  # a loaded library's file must not change under it
        path.write_bytes(content)
        assert native.load("align") is None
    path.unlink()
    path.write_bytes(whole)
    assert [child.name for child in path.parent.iterdir() if child.suffix != ".lock"] == [path.name]
    assert native.load("align") is not None


@pytest.mark.slow
def test_a_library_that_cannot_be_loaded_is_no_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A linker that fails, or a folder from which nothing may run: the object file does it."""
    monkeypatch.setenv("RELFAST_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    for name, script in ("ld", "exit 1"), ("cc", 'for out; do :; done; echo no library > "$out"'):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    assert native.build("align") == native.object_file("align")
    assert native.load("align") is not None


ESCAPES = [
    "\\n",
    "\\\\",
    '\\"',
    "\\/",
    "\\u0041",
    "\\u00e9",
    "\\ud83d\\ude00",
    "é",
    "\\\\\\\\",
    "\\",
    "\\x",
    "\\ud83d",
]


@pytest.mark.parametrize("escape", ESCAPES)
def test_escapes_at_every_place_of_a_vector(ways: Ways, escape: str) -> None:
    """Strings are read 64 bytes at a time, the last ones of a block one by one."""
    block = []
    for place in range(140):
        text = "x" * place + escape + "Answer 4" + escape
        block.append(
            f'{{"id": "{text}", "task": "REL-A1", "answer": {{"target": 3, "x": "{text}"}}, "response": "{text}"}}'.encode()
        )
    for line in block[::7]:
        ways.same([line])
    ways.same(block)


def test_prompts_that_differ_in_one_byte_are_different_prompts(ways: Ways) -> None:
    """Ids are digests of prompt and gold as they stand."""
    prompt = "Which panel is missing? " * 20
    texts = [prompt[:place] + "#" + prompt[place + 1 :] for place in range(0, len(prompt), 3)]
    texts += [prompt * 9, prompt * 9 + ".", "", "a", "ab", "\\n" + prompt, prompt + "\\u00e9"]
    gold = [r"{\"target\": 3}", r"{\"target\": 4}", r"{\"target\":3}"]
    block = [
        f'{{"input": "{text}", "gts": "{answer}", "output": "Answer 4", "data_source": "REL-A1"}}'.encode()
        for _ in range(2)
        for text in texts
        for answer in gold
    ]
    ids = {row["id"] for row in ways.same(block).rows}
    assert len(ids) == len(texts) * len(gold)
