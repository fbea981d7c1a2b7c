"""The fast path writes the bytes that the ordinary way writes, for any line."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import strategies as st
from relfast_kernels import layouts
from relfast_kernels.compiled import native
from relfast_kernels.text import characters

from relfast.engine.file_run.block_scoring import BlockScoring
from relfast.engine.file_run.files import score_files
from relfast.engine.io.blocks import Block
from relfast.engine.job import Job
from relfast.engine.rows import read_gold
from relfast.engine.scoring import Scoring
from relfast.engine.text_fast_path import TextFastPath
from relfast.engine.text_table import can_hold
from relfast.stats.prompts import SAMPLE
from relfast.tasks import TASKS, text_judge
from relfast.tasks.options import AllOptions

PIECES = [
    "Answer", "answer", "ANSWER", "nswer", "swer", "Answer 4", "Answer #3", "Answer # \n 2", "Answer\t8", "answer 9",
    "Answer 0", "Answer 17", "Answer" + "0" * 30 + "3", "<Yes>", "<no>", "< YES >", "<\nNo\t>", "<Yes", "<Maybe>", "<", ">",
    "yes", "no", "Yes.", "No.", "eyes", "now", "\no", "n\no", "\\no", "\\\\no", "taxon_15", "taxon 3", "taxon\n7", "TAXON_4",
    "\taxon_5", "taxon", "taxon_", "xon", "15", "4th", "_4", "4_", "3.5", "-2", "\n4", "\\4", "4\\", "\"4\"", "8", "0", "00",
    " ", "  ", "\n", "\t", "\r", "\f", "\b", "/", "\\", "\"", "é", "ſ", "４", "–", "“", "×", "→", "你", "Ω", "4é", "é4", "–4–", "4你", "②", "½", "\u00a0", "K", "İ", "\u2028", "\x00", "\x1f", "\x7f", "😀", ",", ".", "#",
    "a" * 70, "no" * 40, "1" * 5000,
]  # fmt: skip

TASK_NAMES = ["REL-A1", "rel-a7", "REL-A8", "REL-B1", "Rel-b1", "REL-C1", "REL-C2", "REL-A", "REL-B2"]
TAXA = st.lists(
    st.one_of(st.integers(-1, 20), st.sampled_from(["15", "3", "x", "X", "é", "É", "İ", 3.0, None, True])),
    max_size=5,
)
ANSWERS = st.one_of(
    st.fixed_dictionaries({"target": st.sampled_from([0, 1, 2, 3, 7, 8, 10, -1, True, None, "1", 1.0, 0.5])}),
    st.fixed_dictionaries({"label": st.sampled_from(["yes", "no", "Yes", "No", "YES", "maybe", None, 1]), "taxa": TAXA}),
    st.fixed_dictionaries({"label": st.sampled_from(["yes", "no"]), "taxa": st.sampled_from([None, 0, 3, 0.0, True, False])}),
    st.fixed_dictionaries({"label": st.sampled_from(["Yes", "No", "yes", "Ye\\s", ""]), "molecules": st.just(["C", "[C@H]"])}),
    st.sampled_from([{}, [], None, "x", {"label": "no"}, {"label": "yes"}, {"target": 3, "target2": {"a": [1, {"b": []}]}}]),
)  # fmt: skip
IDS = st.one_of(
    st.sampled_from(["a", "id-1", "é", 'q"', "", "x\\y"]), st.integers(0, 3), st.none(), st.floats(0, 1)
)
EXTRA = st.dictionaries(
    st.sampled_from(["question", "metadata", "domain", "output", "doc", "gts", "x", "error", "status_code"]),
    st.recursive(st.one_of(st.integers(), st.text(max_size=5), st.floats(allow_nan=False), st.booleans(), st.none()),
                 lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
                 max_leaves=5),
    max_size=2,
)  # fmt: skip


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    row = draw(EXTRA)
    row.update({"id": draw(IDS), "task": draw(st.sampled_from(TASK_NAMES)), "answer": draw(ANSWERS)})
    row["response"] = "".join(draw(st.lists(st.sampled_from(PIECES), max_size=6)))
    keys = draw(st.permutations(list(row)))
    row = {key: row[key] for key in keys}
    if draw(st.integers(0, 9)) == 0:
        row.pop(draw(st.sampled_from(list(row))))
    line = json.dumps(row, ensure_ascii=draw(st.booleans())).encode("utf-8", "surrogatepass")
    if draw(st.integers(0, 4)) == 0 and line:
        # damage: a byte replaced, removed or doubled
        at = draw(st.integers(0, len(line) - 1))
        byte = draw(
            st.sampled_from([b"", b'"', b"\\", b"}", b"{", b",", b" ", b"0", b"\x01", b"\xff", b"\t", b"x"])
        )
        line = line[:at] + byte + line[at + draw(st.integers(0, 1)) :]
    return line.replace(b"\n", b" ") + draw(st.sampled_from([b"", b"", b"\r", b"  "]))


@pytest.fixture(scope="session")
def fast_path() -> TextFastPath:
    if native.load("text") is None:
        native.build("text")
    opened = TextFastPath.open(Scoring(Job()))
    assert opened is not None
    return opened


def slow_lines(fast_path: TextFastPath, data: bytes, n_lines: int, chosen: str | None = None) -> int:
    """How many lines of a block no kernel scores."""
    scanned = fast_path.scan(data, n_lines, chosen)
    scanned.judge(0, n_lines)
    return sum(end - start for start, end, slow in scanned.runs(0, n_lines) if slow)


def rows_of(
    fast_path: TextFastPath | None,
    data: bytes,
    n_lines: int,
    *,
    scoring: Scoring | None = None,
    chosen: str | None = None,
) -> tuple[bytes, dict[str, object], bytes]:
    blocks = BlockScoring(scoring or Scoring(Job()))
    blocks._fast_path = fast_path
    block = Block(0, 0, 7, n_lines, 0, len(data), data=data, filter=chosen)
    segments = list(blocks.segments(block, segment_lines=3))
    rows = b"".join(segment.rows for segment in segments)
    samples = b"".join(segment.tally.samples for segment in segments)
    counts: dict[str, object] = {}
    for segment in segments:
        for name, task in segment.tally.tasks.items():
            for status, n in task.statuses.items():
                counts[f"{name} {status}"] = int(str(counts.get(f"{name} {status}", 0))) + n
    assert segments[-1].stop == n_lines
    assert sum(segment.n_rows for segment in segments) == rows.count(b"\n")
    return rows, counts, samples


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
def test_every_dialect_is_read(
    row: dict[str, object], join: str, options: str, fast_path: TextFastPath, tmp_path: Path
) -> None:
    """With its answer right, and not by the ordinary way."""
    gold = tmp_path / "gold.jsonl"
    gold.write_text(
        json.dumps({"id": "a\u00e9", "task": "REL-B1", "answer": {"label": "yes", "taxa": [3, 15, "x"]}})
    )
    job = Job(**{**JOBS[options], "data": (str(gold),) if join else ()})  # type: ignore[arg-type]
    scoring = Scoring(job, read_gold(job.data))
    opened = TextFastPath.open(scoring)
    assert opened is not None
    for ensure_ascii in (True, False):
        data = json.dumps(row, ensure_ascii=ensure_ascii).encode()
        assert not slow_lines(opened, data, 1, "none")
        written = rows_of(opened, data, 1, scoring=scoring, chosen="none")
        assert written == rows_of(None, data, 1, scoring=scoring, chosen="none")
        assert json.loads(written[0].splitlines()[0])["metrics"]["recall"] == 2 / 3


def test_rows_beyond_all_room(fast_path: TextFastPath) -> None:
    """More samples, numbers and kinds of rows than there is room for at first."""
    many = [" ".join(map(str, range(n))) + " yes" for n in range(0, 9_000, 2)]
    rows = [
        {"id": n, "task": "REL-B1", "answer": {"label": "yes", "taxa": [1, n]}, "response": response}
        for n, response in enumerate([*many[:40], *many[-2:], many[:2200], ["no"] * 6_000])
    ]
    data = b"\n".join(json.dumps(row).encode() for row in rows)
    opened = TextFastPath.open(Scoring(Job(details=True)))
    assert opened is not None
    opened.scratch = text_judge.lazy_buffer(1 << 12)
    scoring = Scoring(Job(details=True))
    assert rows_of(opened, data, len(rows), scoring=scoring) == rows_of(
        None, data, len(rows), scoring=scoring
    )
    assert slow_lines(opened, data, len(rows)) == 2  # more different numbers than are compared


@pytest.mark.slow
def test_verbose_runs_say_how_many_lines_took_which_way(fast_path: TextFastPath, tmp_path: Path) -> None:
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
def test_rows_that_say_something_failed_are_left(fast_path: TextFastPath, fields: bytes, fast: bool) -> None:
    record = b'{"id":"a","task":"REL-A1","answer":{"target":3},%b,"response":"Answer 4"}' % fields
    assert slow_lines(fast_path, record, 1) == (not fast)
    assert rows_of(fast_path, record, 1) == rows_of(None, record, 1)


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
def test_members_that_nobody_asks_for(fast_path: TextFastPath, member: bytes, fast: bool) -> None:
    record = b'{"id":"a","task":"REL-A1","answer":{"target":3},"response":"Answer 4",%b}' % member
    assert slow_lines(fast_path, record, 1) == (not fast)
    assert rows_of(fast_path, record, 1) == rows_of(None, record, 1)


@pytest.mark.parametrize(
    ("taxa", "n_gold"), [(["A", "a", 1], 2), (["É", "é", 1], 2), (["a", "b", 1], 3), ([None, "none", 1], 2)]
)
def test_gold_taxa_are_compared_in_lower_case(
    fast_path: TextFastPath, taxa: list[object], n_gold: int
) -> None:
    row = {"id": 1, "task": "REL-B1", "answer": {"label": "yes", "taxa": taxa}, "response": "yes 1"}
    for line in (json.dumps(row), json.dumps(row, ensure_ascii=False)):
        written = rows_of(fast_path, line.encode(), 1)
        assert written == rows_of(None, line.encode(), 1)
        assert json.loads(written[0])["metrics"]["recall"] == 1 / n_gold


def test_classes_of_characters_are_pythons() -> None:
    r"""For every code point: a letter is \\w and no \\d, a space \\s, a symbol neither; none of them matches an ASCII
    letter where case is ignored, or is something else in lower case."""
    word, space, digit = re.compile(r"\w"), re.compile(r"\s"), re.compile(r"\d")
    ascii_letters = re.compile(r"[a-z]", re.IGNORECASE)
    known = 0
    for point in range(0x80, 0x110000):
        kind = characters.classify(point)
        character = chr(point)
        if kind == characters.OTHER:
            continue
        known += 1
        lower = character.lower()
        assert len(lower) == 1, hex(point)
        for one in (character, lower):
            assert bool(word.match(one)) == (kind == characters.LETTER), hex(point)
            assert bool(space.match(one)) == one.isspace() == (kind == characters.SPACE), hex(point)
            assert not digit.match(one), hex(point)
            assert not ascii_letters.match(one), hex(point)
            assert not one.isascii(), hex(point)
        assert not 0xD800 <= point <= 0xDFFF
    assert known > 1_100_000


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
def test_escapes_at_every_place_of_a_vector(fast_path: TextFastPath, escape: str) -> None:
    """Strings are read 64 bytes at a time, the last ones of a block one by one."""
    block = []
    for place in range(140):
        text = "x" * place + escape + "Answer 4" + escape
        block.append(
            f'{{"id": "{text}", "task": "REL-A1", "answer": {{"target": 3, "x": "{text}"}}, "response": "{text}"}}'
        )
    for lines in ([line] for line in block[::7]):
        data = "\n".join(lines).encode()
        assert rows_of(fast_path, data, 1) == rows_of(None, data, 1)
    data = "\n".join(block).encode()
    assert rows_of(fast_path, data, len(block)) == rows_of(None, data, len(block))


def test_prompts_that_differ_in_one_byte_are_different_prompts(fast_path: TextFastPath) -> None:
    """Ids are digests of prompt and gold as they stand."""
    prompt = "Which panel is missing? " * 20
    texts = [prompt[:place] + "#" + prompt[place + 1 :] for place in range(0, len(prompt), 3)]
    texts += [prompt * 9, prompt * 9 + ".", "", "a", "ab", "\\n" + prompt, prompt + "\\u00e9"]
    gold = [r"{\"target\": 3}", r"{\"target\": 4}", r"{\"target\":3}"]
    block = [
        f'{{"input": "{text}", "gts": "{answer}", "output": "Answer 4", "data_source": "REL-A1"}}'
        for _ in range(2)
        for text in texts
        for answer in gold
    ]
    data = "\n".join(block).encode()
    assert rows_of(fast_path, data, len(block)) == rows_of(None, data, len(block))
    ids = {json.loads(row)["id"] for row in rows_of(fast_path, data, len(block))[0].splitlines()}
    assert len(ids) == len(texts) * len(gold)
