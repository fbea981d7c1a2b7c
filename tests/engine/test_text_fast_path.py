"""The fast path writes the bytes that the ordinary way writes, for any line: texts, fields that the kernel finds, mazes."""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import orjson
import pytest
import tool_rows
from both_ways import Ways
from contract_records import gold
from engine_runs import write_dump
from relfast_kernels.compiled import making, native
from relfast_kernels.layouts import GOLD_MEMBERS, NUMBERS_REPEAT

from relfast.engine.columns import scoring, text_gold
from relfast.engine.columns.blocks import Detours
from relfast.engine.columns.text_gold import KnownGold
from relfast.engine.columns.text_table import can_hold
from relfast.engine.files.score_files import score_files
from relfast.engine.job import Job
from relfast.formats import steps
from relfast.formats.table import DIALECTS, Dialect, Form
from relfast.json_text import decode_object
from relfast.seqbench import generate
from relfast.support.system import lazy_memory
from relfast.tasks import TASKS, AllOptions, get_task


@pytest.fixture(scope="session")
def ways() -> Ways:
    return Ways.of_job(Job())


@pytest.mark.slow
def test_rows_beyond_all_room() -> None:
    """More samples, numbers and kinds of rows than there is room for at first."""
    many = [" ".join(map(str, range(n))) + " yes" for n in range(0, 9_000, 2)]
    rows = [
        {"id": n, "task": "REL-B1", "answer": {"label": "yes", "taxa": [1, n]}, "response": response}
        for n, response in enumerate([*many[:40], *many[-2:], many[:2200], ["no"] * 6_000])
    ]
    ways = Ways.of_job(Job(details=True))
    projection = ways.fast_path._projection
    projection.scratch = projection.context.scratch = lazy_memory(1 << 12)
    assert ways.same(rows, most=3).n_fast == len(rows)


@pytest.mark.slow
def test_verbose_runs_say_how_many_lines_took_which_way(tmp_path: Path) -> None:
    row = {"id": 1, "task": "REL-A1", "answer": {"target": 3}, "response": "Answer 4"}
    lines = [
        json.dumps({**row, "response": response})
        for response in ["x" * 2_000] * 3_000 + ["Answer " + "4" * 4_400] * 30
    ]
    (tmp_path / "dump.jsonl").write_text("\n".join(lines))
    # once the gold is known no line is decoded; of some the extractor reads the response
    for job, said in ((Job(), (", 0 (", ", 30 (")), (Job(field_map={"id": "x.*.id"}), ("path: not taken",))):
        told: list[str] = []
        score_files([str(tmp_path / "dump.jsonl")], None, job, workers=0, overwrite=True, tell=told.append)
        (line,) = (line for line in told if line.startswith("text fast path"))
        assert all(part in line for part in said)


@pytest.mark.parametrize(
    ("member", "fast"),
    [
        # rows that say something failed are left
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
        # members that nobody asks for
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
def test_members_beside_the_response(ways: Ways, member: bytes, fast: bool) -> None:
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


@pytest.mark.parametrize("dialect", ["lmms-eval", "opencompass", "nemo-skills"])
def test_an_id_that_is_a_number_of_the_tool_tells_no_prompt(dialect: str) -> None:
    """By `--map` as by the dialect: rows are one prompt if their questions are."""
    row = {
        "n": 7,
        "task": "REL-A1",
        "answer": {"target": 3},
        "filtered_resps": ["Answer 4"],
        "doc_id": 7,
        "doc_hash": "a",
    }
    row |= {
        "input": "Which?",
        "origin_prompt": "Which?",
        "prediction": "Answer 4",
        "gold": {"target": 3},
        "generation": "Answer 4",
    }
    row |= {"expected_answer": {"target": 3}, "question": "Which?"}
    ways = Ways.of_job(Job(field_map={"id": "n"}, dialect=dialect, repeats=NUMBERS_REPEAT))
    (found,) = ways.same([json.dumps(row).encode()]).rows
    assert (found["id"], len(found["prompt"])) == (7, 16)


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
def test_a_torn_file_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELFAST_CACHE_DIR", str(tmp_path))
    making.make(["align"])
    path = native.shared_library("align")
    whole = path.read_bytes()
    flipped = whole[:999] + bytes([whole[999] ^ 1]) + whole[1000:]
    for content in (whole[:-1], whole[:100], b"", b"{}\n", flipped):
        path.unlink()  # a loaded library's file must not change under it
        path.write_bytes(content)
        assert native.load("align") is None
    path.unlink()
    path.write_bytes(whole)
    assert [child.name for child in path.parent.iterdir() if child.suffix != ".lock"] == [path.name]
    assert native.load("align") is not None


ESCAPES = [
    r"\n", r"\\", r"\"", r"\/", r"\u0041", r"\u00e9", r"\ud83d\ude00", "é", r"\\\\", "\\", r"\x", r"\ud83d",
]  # fmt: skip


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


# lines whose fields the kernel finds: gold is decoded once, and rows are those of the ordinary way


Json = dict[str, Any]


def same(lines: list[Json], job: Job | None = None, *, decoded: int, limit: int | None = None) -> list[Json]:
    """Rows that are the same both ways, where so many times a whole line is decoded the fast one."""
    ways = Ways.of_job(job or Job())
    if limit is not None:
        ways.fast_path._known = KnownGold(ways.scoring, ways.fast_path._projection.has_large_integer, limit)
    with pytest.MonkeyPatch.context() as patch:
        decode = Mock(wraps=decode_object)
        for module in (scoring, text_gold):
            patch.setattr(module, "decode_object", decode)
        fast = ways.score(lines, fast=True)
    assert decode.call_count == decoded
    assert fast[:2] == ways.score(lines, fast=False)[:2]
    return fast.rows


MAZE = next(iter(generate(1, seed=3, rows=4, cols=4, B=1, N=0.4)))


@pytest.mark.parametrize("policy", ["reference", "strict"])
@pytest.mark.parametrize("task", ["REL-A1", "REL-B1", "REL-C1", "REL-C2", "REL-C3", "SeqBench"])
def test_gold_is_decoded_once(task: str, policy: str) -> None:
    job = Job(options=AllOptions(policy=policy), details=policy == "strict")  # type: ignore[arg-type]
    record, right = gold(task)[0]
    # of text tasks only task and answer
    decoded = int(TASKS[task].text_kernel is None)
    said = (right, "\u00e9: none", [right, "none", right])
    rows = same([{**record, "id": f"r{n}", "response": said[n % 3]} for n in range(9)], job, decoded=decoded)
    correct = [row["correct"] for row in rows]
    assert [correct[0::5], correct[2::5], correct[4::5]] == [[True] * 3] * 3
    assert (
        policy == "reference" or [correct[1::5], correct[3::5]] == [[False] * 3] * 2
    )  # which finds no default


ODD = (
    "3",
    "3.0",
    "3e0",
    '"3"',
    "null",
    "true",
    "12",
    "9",
    "-1",
    "[3]",
    '{"a":3}',
    '3,"target":4',
    '4,"x":1e400',
    '3,"label":null',
    'null,"label":"Yes"',
    '4,"x":12345678901234567890',
    ' 3 , "x":"\\ud800"',
    '3,"x":NaN',
)
GOLDS = {
    "REL-A1": [f'{{"target":{value}}}' for value in ODD],
    "REL-C1": [f'{{"label":{value}}}' for value in ('"Yes"', '"No"', '"yes"', r'"\u0059es"', '"May\u00e9"', "1", "null", '"No","label":"Yes"')],
    "REL-B1": [
        f'{{"label":{label},"taxa":{taxa}}}'
        for label in ('"yes"', '"no"', '"YES "', r'"\u0079es"', "null")
        for taxa in ('["1","2"]', '["t1","t2"]', "[1,2]", "[]", "null", '["t1","T1"]', r'["t\u0031"]', '["\u0661"]', '"t1"', '[["t1"]]')
    ],
}  # fmt: skip


@pytest.mark.parametrize("way", ["object", "text", "joined", "joined text"])
@pytest.mark.parametrize("policy", ["reference", "strict", "strict with details"])
@pytest.mark.parametrize("task", GOLDS)
def test_gold_is_read_where_it_stands(task: str, policy: str, way: str, tmp_path: Path) -> None:
    """Of lines whose answers have the same members one is prepared; whatever another of them says, as an object or the
    JSON of one, or in a gold file, is read as Python reads it."""
    said = {"REL-A1": "Answer 4", "REL-B1": "yes: tax1, tax2", "REL-C1": "<Yes>"}[task]
    said = json.dumps([said, "Answer " + "4" * 4_400, "\u00e9 none", "no"])
    plain = GOLDS[task][0].removesuffix("}")
    seen, new = ([f'{plain},"seed":{seed}}}' for seed in some] for some in (range(12), range(50, 90)))
    answers = [*seen, *GOLDS[task]]
    if "text" in way:
        answers += [
            f" {plain}}}",
            f"{plain}\n}}",
            f"{plain}}} x",
            f'{plain},"\u00e9":"\\/\\u00e9"}}',
            "\ufeff{}",
            "{}",
            "[]",
            "3",
        ]
        answers, new = (
            [json.dumps(answer, ensure_ascii=n % 2 == 0) for n, answer in enumerate(each)]
            for each in (answers, new)
        )
    named = f'"task":"{task}",'
    members = [f'{way}"answer":{answer}' for way in (named, f'"x":1,{named}', "") for answer in answers]
    members += [f'{named}"answer":{answer}' for answer in new]
    data = tmp_path / "gold.jsonl"
    data.write_text("".join(f'{{"id":{n},{each}}}\n' for n, each in enumerate(members)))
    if "joined" in way:
        members = ['"y":1'] * len(members)
    lines = [f'{{"id":{n},{each},"response":{said}}}'.encode() for n, each in enumerate(members)]
    options = AllOptions(policy=policy.split()[0])  # type: ignore[arg-type]
    job = Job(options=options, details="details" in policy, data=(str(data),) if "joined" in way else ())
    ways = Ways.of_job(job)
    further = [line.replace(said.encode(), b'"x"') for line in lines[-len(new) :]]
    ways.same(lines[: -len(new)], size=7)
    asked, decoded = Mock(wraps=ways.fast_path._gold_in), Mock(wraps=ways.fast_path._known.gold_of)
    ways.fast_path._gold_in, ways.fast_path._known.gold_of = asked, decoded  # type: ignore[method-assign]
    ways.same(further)
    assert not asked.called
    assert not decoded.called


def test_any_field_of_gold_tells_lines_apart() -> None:
    """Everything that a record can depend on, and only that."""
    answer = {"completion": MAZE["completion"], "structural_details": MAZE["structural_details"]}
    line = {"id": 1, "task": "SeqBench", "answer": answer, "response": MAZE["completion"]}
    changed: list[Json] = [{**line, name: MAZE.get(name)} for name in GOLD_MEMBERS if name not in line]
    changed += [{**line, "question": "?"}, {**line, "task": "seqbench"}]
    changed += [{**line, "answer": {**answer, "noise": 1}}, {**line, "answer": json.dumps(answer)}]
    same([line, *changed], decoded=1 + len(changed))
    same([line, {**line, "id": None}, {**line, "model": "m"}, {**line, "response": ""}], decoded=1)


def test_what_scoring_reads_of_rows_is_in_the_digest() -> None:
    """Of tasks that read something else of a row every line is decoded, the first also for its gold."""
    assert set(TASKS["SeqBench"].row_fields) <= set(GOLD_MEMBERS)
    row = {
        "task": "ReAlign",
        "question": "1 + 1?",
        "answer": {"reference": "1 + 1 = 2"},
        "response": "It is 2.",
    }
    lines = [{**row, "id": n, "final_correct": n % 2 == 0} for n in range(4)]
    assert not set(TASKS["ReAlign"].row_fields) <= set(GOLD_MEMBERS)
    same(lines, decoded=5)


def test_numbers_that_parsers_read_differently_are_not_kept() -> None:
    record = {"id": 1, "task": "REL-C3", "answer": {"missing_smiles": ["CCO"], "n": 10**25}, "response": "x"}
    same([record, record, {**record, "x": 1}], decoded=3)


def test_gold_beyond_all_room_is_forgotten() -> None:
    lines = [
        {"id": n, "task": "REL-C3", "answer": {"missing_smiles": ["C" * (1 + n % 7)]}, "response": "<smiles>C</smiles>"}
        for n in range(70)
    ]  # fmt: skip
    # marks that no judge knows
    job = Job(options=AllOptions(policy="strict", reasoning=(("<cot>", "</cot>"),)))
    same(lines, job, decoded=7 + 60, limit=400)  # room for one gold
    same(lines, job, decoded=7)


def test_of_a_known_maze_only_what_is_built_is_kept() -> None:
    mazes = list(generate(6, seed=5, rows=10, cols=10, B=1, N=0.4))
    ways = Ways.of_job(Job())
    lines = [{**maze, "response": maze["completion"]} for maze in (*mazes, *mazes, *mazes)]
    n_bytes = sum(len(json.dumps(line)) for line in lines[:6])
    known = KnownGold(ways.scoring, ways.fast_path._projection.has_large_integer, n_bytes)
    ways.fast_path._known = known
    ways.same(lines, size=2)
    assert len(known.golds) == 6
    assert known._size < 0.6 * n_bytes
    assert all(not record.row and record.shared.made for record in known.golds.values() if record.shared)


def test_other_marks_of_reasoning_leave_responses_to_python() -> None:
    options = AllOptions(policy="strict", reasoning=(("<cot>", "</cot>"),))
    line = {"id": 1, "task": "REL-A1", "answer": {"target": 3}, "response": "<cot>Answer 3</cot>Answer 4"}
    rows = same([line, {**line, "response": "Answer 4"}], Job(options=options), decoded=1)
    assert [row["correct"] for row in rows] == [True, True]


ROW = {
    "key": "k\u00e9",
    "meta": {"kind": "REL-A1", "gold.x": {"target": 3}, "list": [{"target": 4}, {"target": 3}]},
    "outs": [{"text": "Answer 4"}, {"text": "Answer\n5"}, {"text": "\u00e9"}],
    "long" * 20: [{"text": "Answer 4"}],
    "text": json.dumps(
        {
            "kind": "REL-A1",
            "list": [0.5, {"target": 3}],
            "deep": json.dumps(['{"target": 3}']),
            "odd": '{"target": 3, "x": 1e0}',
        }
    ),
    "at": {"@": [{"target": 3}]},
}


@pytest.mark.parametrize(
    ("field_map", "correct", "decoded"),
    [
        ({"id": "key", "task": "meta.kind", "answer": "meta.list.1", "response": "outs.0.text"}, [True], 0),
        ({"task": "meta.kind", "answer": "meta.list.-1", "response": "outs.*.text"}, [True, False, False], 0),
        ({"task": "meta.kind", "answer": "meta.list.-1", "response": "outs.-3.text"}, [True], 0),
        ({"task": "meta.kind", "answer": "meta.gold.x", "response": "outs.0.text"}, [None], 2),
        ({"task": "text.@.kind", "answer": "text.@.list.1", "response": "outs.0.text"}, [True], 0),
        ({"task": "text.@.kind", "answer": "text.@.deep.@.0.@", "response": "outs.0.text"}, [True], 0),
        ({"task": "text.@.kind", "answer": "text.@.odd.@", "response": "outs.0.text"}, [True], 1),
        ({"task": "meta.kind", "answer": "meta.@.list.1", "response": "outs.0.text"}, [None], 2),
        ({"task": "meta.kind", "answer": "at.@.0", "response": "outs.0.text"}, [True], 1),
        ({"task": "meta.kind", "answer": "meta.list.1", "response": "outs.*.nothing"}, [None], 1),
        ({"task": "meta.kind", "answer": "meta.list.1", "response": "outs"}, [None] * 3, 1),
        ({"task": "meta.list", "answer": "meta.list.1", "response": "outs.0.text"}, [None], 2),
        ({"answer": "meta.list.1", "response": "outs.0.text", "id": "nowhere.at.all"}, [True], 0),
        ({"answer": "meta.list.*", "task": "meta.kind", "response": "outs.0.text"}, [None], 2),
        ({"answer": "meta.list.--1", "task": "meta.kind", "response": "outs.0.text"}, [None], 2),
        ({"task": "meta.kind", "answer": "meta.list.1", "response": f"{'long' * 20}.0.text"}, [True], 0),
    ],
)
def test_mapped_fields(field_map: dict[str, str], correct: list[bool | None], decoded: int) -> None:
    """A line without gold is decoded once more, for its row."""
    rows = same([ROW], Job(field_map=field_map), decoded=decoded)
    assert [row["correct"] for row in rows] == correct


def test_a_dialect_is_one_entry_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are: of more members than a word has bits, and with steps that only Python follows."""
    added = {}
    for n in range(150):
        id = f"told{n}.@.key" if n % 2 else f"told{n}"
        paths = {"task": f"kind{n}.@.is kind{n}", "answer": f"gold{n}.@.deep.@.gold gold{n}"}
        form = Form((f"told{n} said{n}:object",), id=id, response=f"said{n}.text", **paths)
        added[f"tool{n}"] = Dialect("a tool's rows", (form,))
    monkeypatch.setattr(steps, "DIALECTS", {**added, **DIALECTS})
    golds: Any = {0: {"target": 3}, 70: {"deep": [json.dumps({"gold": {"target": 3}})], "x": [None]}}
    rows: list[Json] = [
        {
            f"told{n}": '{"key": "a"}',
            f"kind{n}": json.dumps({"is": "REL-A1"}) if k else "REL-A1",
            f"gold{n}": text(golds.get(n, {"deep": {"gold": '{"target": 3}'}})),
            f"said{n}": {"text": "Answer 4"},
        }
        for n in (0, 1, 70, 148, 149)
        for k, text in enumerate((json.dumps, dict))
    ]
    caches = (steps.forms_of, steps.ways_of, steps._ways_with)
    for cache in caches:
        cache.cache_clear()
    try:
        scored = Ways.of_job(Job()).same(rows)
    finally:
        for cache in caches:
            cache.cache_clear()
    assert [row["correct"] for row in scored.rows] == [True] * 10
    ids = ['{"key": "a"}', "a", '{"key": "a"}', '{"key": "a"}', "a"]
    assert [row["id"] for row in scored.rows] == [id for id in ids for _ in range(2)]
    assert scored.n_fast == 6


def test_gold_at_the_second_of_two_places_is_digested(ways: Ways) -> None:
    row = tool_rows.skyrl(
        {"id": "a", "task": "REL-C1", "question": "?", "answer": {"label": "Yes"}}, ["<Yes>"], 0
    )
    del row["env_extras"]["id"]
    (scored,) = ways.same([row]).rows
    assert scored["id"].startswith("prompt-")


def test_joined_rows_of_two_records_have_two_golds(tmp_path: Path) -> None:
    """What is the same in a line is not what it is held against."""
    records = [{"id": n, "task": "REL-C3", "answer": {"missing_smiles": ["C" * n]}} for n in (1, 2)]
    gold = write_dump(tmp_path / "gold.jsonl", records)
    lines = [{"id": n, "response": "<smiles>CC</smiles>"} for n in (1, 2, 1, 2)]
    for details in (False, True):
        rows = same(lines, Job(data=(str(gold),), details=details), decoded=0)
        assert [row["correct"] for row in rows] == [False, True, False, True]


def test_a_number_makes_no_difference_where_gold_is_asked_for(tmp_path: Path) -> None:
    """Of rows that ask the same one is decoded; without a question each is joined by its number."""
    records = [
        {
            "id": str(n),
            "task": "REL-C1",
            "question": f"Are all {n} of them isomers?",
            "answer": {"label": label},
        }
        for n, label in enumerate(("Yes", "No", "Yes", "No"))
    ]
    job = Job(data=(str(write_dump(tmp_path / "gold.jsonl", records)),))
    rows = [tool_rows.vllm(records[1], ["<Yes>"], n) for n in range(4)]
    assert [row["id"] for row in same(rows, job, decoded=1)] == ["1"] * 4
    unasked = [{name: row[name] for name in row if name != "prompt"} for row in rows]
    found = same([*rows, *unasked, *rows], job, decoded=5)
    assert [row["id"] for row in found] == [*"1111", *"0123", *"1111"]
    assert [row["correct"] for row in found[4:8]] == [True, False, True, False]


IDS: Any = ("a", "ü", 'q"', "7", 7, 8, "x/y", True, "b", "c", "d", "")
GOLD_OF: Any = (
    {"task": "REL-A1", "answer": {"target": 2}},
    {"task": "rel-a1", "answer": {"target": 3}},
    {"task": "REL-A1", "answer": '{"target": 2}'},
    {"answer": {"target": 2}},
    {"task": "REL-A1", "answer": {"target": "2"}},
    {"task": "REL-B1", "answer": {"label": "Yes", "taxa": ["Bos taurus"]}, "question": "Bos taurus, Ovis?"},
    {"task": "REL-C1", "answer": {"label": "No"}},
    {"task": "REL-C2", "answer": {"smiles": "CCO"}},
    {"task": "none", "answer": {"target": 2}},
)


@pytest.mark.parametrize("policy", ["reference", "strict"])
def test_ids_of_data_are_known_at_once(policy: Any, tmp_path: Path) -> None:
    """Whatever an id or its gold is."""
    before = [{"id": f"n{n}", **GOLD_OF[0]} for n in range(99)]
    named = [{"id": [id, n][n > 0 and id != ""], **GOLD_OF[n]} for id in IDS for n in range(len(GOLD_OF))]
    gold = tmp_path / "gold.jsonl"
    gold.write_bytes(b"\n".join(map(orjson.dumps, [*before, *named])))
    texts = (
        "Answer: 3",
        "Yes\n- Bos taurus",
        "<No>",
        "<smiles>CCO</smiles>",
        "\ud83d\ude00 The answer is 4.",
    )
    lines: list[Any] = [{"id": row["id"], "response": texts[n % len(texts)]} for n, row in enumerate(before)]
    lines += [{"id": row["id"], "response": text} for row in named for text in texts]
    lines += [{"id": id, "response": texts[0]} for id in ("8", "nowhere", None, 1.5, ["a"])]
    job = Job(data=(str(gold),), options=AllOptions(policy=policy))
    ways = Ways.of_job(job)
    scored = ways.same(lines, size=50)
    assert scored.n_fast > 0.5 * len(lines)


@pytest.mark.parametrize("n_files", [1, 2])
@pytest.mark.parametrize(
    ("form", "answers"),
    [
        (
            "verl",
            ({"target": 3}, '{"target": 3}', '{"label": "Yes"}', {"target": 3, "x": 1e400}, "none", None),
        ),
        ("trl", ({"target": 3}, '{"target": 3.0}', [{"target": 3}])),
        (
            "native",
            ({"target": 3}, '{"target": 3}', {"target": 2, "x": 10**20}, {"target": 3, "é": "\ud83d"}, 7),
        ),
    ],
)
def test_prompts_are_told_by_digests(form: str, answers: Sequence[Any], n_files: int) -> None:
    """Of prompt and gold, in rows without an id: as `hashlib` makes them, whatever their sizes and characters."""
    ways = Ways.of_job(Job().of_files(n_files))
    names = {"verl": ("input", "gts", "output"), "trl": ("prompt", "answer", "completion")}
    asked, gold, said = names.get(form, ("question", "answer", "response"))
    prompts: list[Any] = ["x" * size for size in (0, 1, 90, *range(110, 131), 255, 256, 257, 900)]
    prompts += ["a\tb", "ü", "\u2028\ud83d\ude00", '"\\/', "\x7f\x1f", "\ud800", None, 7, ["x"]]
    prompts += [[{"role": "user", "content": "x"}]]
    rows = [
        {asked: prompt, gold: answer, said: "Answer 4", "step": 1} for answer in answers for prompt in prompts
    ]
    lines = [
        json.dumps(row, ensure_ascii=escaped).encode("utf-8", "surrogatepass")
        for row in rows
        for escaped in (True, False)
    ]
    assert ways.same(lines, size=40).n_fast > 0.3 * len(lines)


@pytest.mark.parametrize("policy", ["reference", "strict"])
def test_kernels_write_what_they_are_certain_of(policy: str) -> None:
    """Of plain lines none is left."""
    plan: list[str] = ast.literal_eval(MAZE["completion"])
    plans = (
        plan,
        [tuple(action.split(": ")) for action in plan],
        plan[:-1],
        plan[::-1],
        [plan[0], "move_to: Z9"],
    )
    plain = [json.dumps({**MAZE, "response": f"So:\n{each}"}).encode() for each in plans]
    job = Job(options=AllOptions(policy=policy))  # type: ignore[arg-type]
    assert Ways.of_job(job).score(plain, fast=True).n_fast == len(plain)


# a quicker way that fails is told of by `-v`: rows do not show it


FIRST = [f"the first failure \x1b[2J {n}" for n in range(3)]


def test_the_first_of_each_is_kept() -> None:
    here, there = Detours(), Detours()
    for said in FIRST:
        here.add("a batch", ValueError(said))
    there.add("a batch", KeyError("later"))
    there.add("gold", KeyError("x" * 1_000))
    here.merge(there.take())
    assert list(there.lines()) == []
    # nothing in it reaches the terminal as it is
    batch, gold = here.lines()
    assert batch == f"left to the ordinary way: a batch, 4 times, first: ValueError({FIRST[0]!r})"
    assert gold.startswith("left to the ordinary way: gold, once: KeyError('xxx")
    assert len(gold) < 300


def test_a_batch_that_fails_where_its_records_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dump = tmp_path / "dump.jsonl"
    dump.write_text(5 * (json.dumps({**MAZE, "response": MAZE["completion"]}) + "\n"))
    told: list[str] = []
    score_files([str(dump)], str(tmp_path / "sound.jsonl"), Job(), workers=0, tell=told.append)
    assert not any("left to the ordinary way: " in line for line in told)
    scorer: Any = get_task("SeqBench").scorer
    score = scorer.score

    def broken(batch: Sequence[object], options: object) -> Any:
        if len(batch) > 1:
            raise IndexError("a bug")
        return score(batch, options)

    monkeypatch.setattr(scorer, "score", broken)
    score_files([str(dump)], str(tmp_path / "broken.jsonl"), Job(), workers=0, tell=told.append)
    assert (tmp_path / "broken.jsonl").read_bytes() == (tmp_path / "sound.jsonl").read_bytes()
    assert "left to the ordinary way: a batch of SeqBench, once: IndexError('a bug')" in told
