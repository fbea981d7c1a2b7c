"""What newcomers get wrong first, and what they are told: one clear line and an exit code that says so."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import io
import json
import math
import shlex
import shutil
import subprocess
import sys
import zipfile
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import numpy as np
import pyarrow.ipc
import pyarrow.parquet
import pytest
import zstandard
from click.testing import CliRunner
from engine_runs import exit_code, rows_of, statuses, write_dump
from processes import python, started

import relfast
from relfast.cli.main import COMMANDS, cli
from relfast.embed.adding import resolve
from relfast.engine.job import MAX_TIMEOUT, Job
from relfast.errors import UsageError
from relfast.rewards import openrlhf, trl

TIMEOUT = "timeout must be seconds from 0 (no limit) to 1,000,000, not "
RECORD = {"id": "a", "task": "REL-A1", "answer": {"target": 3}, "response": "Answer: 3"}


def without(*fields: str, **more: Any) -> dict[str, Any]:
    return {**{key: value for key, value in RECORD.items() if key not in fields}, **more}


ANSWERED = {
    "type": "message",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "Answer"}, {"type": "output_text", "text": " 4"}],
}
SAID = {"choices": [{"message": {"role": "assistant", "content": "Answer: 4"}}]}
SAMPLE = {"id": "a", "epoch": 1, "input": "?", "target": "", "metadata": {}, "output": SAID}


def looking_far_back(text: str) -> bytes:
    """A zstd stream as ``zstd --long=30`` makes it of a pipe."""
    wide = zstandard.ZstdCompressionParameters(window_log=30)
    compressing = zstandard.ZstdCompressor(compression_params=wide).compressobj()
    return compressing.compress(text.encode()) + compressing.flush()


def zipped(name: str) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr(name, b"\0")
    return archive.getvalue()


TABLE = pyarrow.table({"id": ["a"], "task": ["REL-A1"], "response": ["3"]})

FILES: dict[str, list[Any] | bytes] = {
    "good.jsonl": [RECORD],
    "renamed.jsonl": [without("response", completion_text="3")] * 4,
    "chats.jsonl": [without("response", messages=[{"role": "user", "content": "Which?"}, {"role": "assistant", "content": "3", "reasoning_content": "1, 2, …"}])],
    "nested.jsonl": [without("response", choices=[{"message": {"content": "3"}}])],
    "nothing_like_it.jsonl": [without("response", n=1)],
    "no_gold.jsonl": [without("answer")],
    "gold_elsewhere.jsonl": [without("answer", gold={"target": 3})],
    "gold_in_text.jsonl": [without("answer", extra_info=json.dumps({"answer": {"target": 3}}))],
    "generated.jsonl": [without("answer", "response", reward_model={"ground_truth": '{"target": 3}'}, responses=["Answer 4"])],
    "bad_task.jsonl": [without("task", task="REL-A11")],
    "unknown_task.jsonl": [without("task", task="gsm8k")],
    "unknown_tasks.jsonl": [without("task", task=name) for name in ("gsm8k", "math", "gsm8k")],
    "same_unknown_task.jsonl": [without("task", task="gsm8k")] * 2,
    "no_task.jsonl": [without("task", "answer", answer={"unheard": 3})],
    "empty_list.jsonl": [without("response", response=[])],
    "null.jsonl": [without("response", response=None)],
    "other_ids.jsonl": [{"id": "x", "response": "3"}],
    "more_other_ids.jsonl": [*({"id": f"x{n}", "response": "3"} for n in range(3)), {"response": "3"}],
    "same_other_id.jsonl": [{"id": "x", "response": "3"}] * 2,
    "gold.jsonl": [without("response", id="g")],
    # other tools' files, with gold in a column of one's own
    "several_and_gold.jsonl": [{"request_id": "7", "prompt": "?", "outputs": [{"text": "3"}, {"text": "4"}], "gold": {"target": 3}}],
    "sampled_and_gold.jsonl": [{"doc_id": 0, "doc": {"q": "?", "gold": {"target": 3}}, "resps": [["3"]], "filtered_resps": ["3"], "filter": "none"}],
    "messages_and_gold.jsonl": [{"custom_id": "a", "result": {"type": "succeeded", "message": {"content": [{"type": "text", "text": "3"}]}}, "gold": {"target": 3}}],
    "called_and_gold.jsonl": [{"id": "a", "response": {"choices": [{"message": {"content": "3"}}] * 3}, "gold": {"target": 3}}],
    "model_role.jsonl": [without("response", response=[{"role": "user", "content": "?"}, {"role": "model", "content": "3"}])],
    # other tools' files
    "evaluated.json": json.dumps({"evalId": "e", "results": {"version": 3, "results": [{"id": "r0"}]}}, indent=2).encode(),
    "evaluated.jsonl": [{"id": "r0", "prompt": {"raw": "…"}, "vars": {"id": "a"}, "response": {"output": "3", "tokenUsage": {"total": 1}}}],
    "traced.jsonl": [{"id": "t0", "inputs": {"messages": [[{"kwargs": {"content": "…", "text": "…"}}]]}, "outputs": {"generations": [[{"text": "3"}]]}, "reference_example_id": "a"}],
    "logged.table.json": b'{"columns": ["id", "model_response"], "data": [["a", "3"]], "ncols": 2, "nrows": 1}',
    "sheet.jsonl": [{"record id": "a", "Model answer": "3"}],
    "responses_api.jsonl": [without("response", response={"object": "response", "output": [{"type": "reasoning", "summary": []}, ANSWERED]})],
    "asked.jsonl": [{"request_id": "7", "prompt": "Which?", "outputs": [{"text": "3"}, {"text": "4"}]}],
    "labelled.jsonl": [{"request_id": "x", "uid": "a", "prompt": "?", "outputs": [{"text": "3"}]}],
    # documents that stand on one line
    "one_line/list.json": [{"config": {"n": 1}, "run": {"results": [{"id": "a", "response": "3"}]}}],
    "one_line/renamed.json": [{"model": "m", "rows": [{"id": "a", "output": "3"}]}],
    "one_line/by_id.json": [{"a": {"response": "3"}, "b": {"response": "4"}}],
    "one_line/columns.json": [{"id": ["a", "b"], "response": ["3", "4"]}],
    "one_line/frame.json": [{"id": {"0": "a", "1": "b"}, "response": {"0": "3", "1": "4"}}],
    "one_line/records.json": [{"id": ["a"], "task": ["REL-A1"], "answer": [{"target": 3}], "response": ["Answer: 4"]}],
    "one_line/log.json": [{"version": 2, "status": "success", "eval": {"task": "t"}, "plan": {}, "samples": [SAMPLE]}],
    "samples_of_one.jsonl": [{"prompt": "?", "gens": [{"id": "c1", "text": "3"}, {"id": "c2", "text": "4"}]}],
    "stranger.jsonl": [{"question": "Who?"}],
    "golds.jsonl": [without("response")],
    "predicted.jsonl": [{"prompt": "user\nHow many panels are there?\nassistant\n", "predict": "Answer 4", "label": "4"}],
    "asking.jsonl": b"\n" + json.dumps(without("response", question="How many panels are there?")).encode(),
    "numbered.jsonl": [without("response", id="7", question="How many panels are there?")],
    "listed.json": json.dumps([RECORD]).encode(),
    "printed.json": json.dumps(RECORD, indent=2).encode(),
    "mixed.jsonl": [RECORD, without("response", output="3"), without("answer"), without("response", output="3")],
    "escapes.jsonl": [without("response", **{"\x1b[31mred": "3"})],
    "text.jsonl": b"The answer is 3.\nThe answer is 4.\n",
    "latin.jsonl": '{"id": "é", "response": "3"}\n'.encode("latin-1"),
    "empty.jsonl": b"",
    "blank.jsonl": b"\n\n",
    "short_row.csv": b"id,task,response\na,REL-A1\n",
    "two_ids.csv": b"id,id,response\na,b,3\n",
    "empty.csv": b"",
    "sheet.xlsx": b"PK\x03\x04 and so on",
    "packed.jsonl.xz": b"\xfd7zXZ\x00\x00\x04",
    "packed.jsonl.bz2": b"BZh91AY&SY",
    "wide.jsonl": '{"id": 1}\n'.encode("utf-16"),
    "wider.jsonl": '{"id": 1}\n'.encode("utf-32"),
    "widest.jsonl": b"\0\0\xfe\xff" + '{"id": 1}\n'.encode("utf-32-be"),
    "framed.arrow": b"ARROW1\0\0 and so on",
    "far_back.jsonl.zst": looking_far_back(json.dumps(RECORD) + "\n"),
    "pickled.pkl": b"\x80\x04\x95\x00",
    "base.sqlite": b"SQLite format 3\x00 and so on",
    "generations.json": json.dumps({"config": {}, "generations": [{"text": "<Yes>"}]}, indent=2).encode(),
    "header.json": json.dumps({"eval": {}, "plan": {}, "samples": []}, indent=2).encode(),
    "statistics.json": json.dumps([{"instance_id": "id0", "train_trial_index": 0, "stats": []}], indent=2).encode(),
    "torn.json": b'[\n  {"a": 1},\n  {"a"',
    "several.json": b'{\n  "a": 1\n}\n{\n  "a": 2\n}\n',
    "torn.json.gz": gzip.compress(json.dumps([RECORD], indent=2).encode())[:-9],
    "model.zip": zipped("weights/0.bin"),
    "torn.zip": zipped("weights/0.bin")[:40],
}  # fmt: skip


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """A folder with these files; of a test with a line to type, with those that it names."""
    line = getattr(request.node, "callspec", None) and request.node.callspec.params.get("line")
    monkeypatch.chdir(tmp_path)
    for folder in ("one_line", "folder", "of_hub", "arrows"):
        Path(folder).mkdir()
    for name, content in FILES.items():
        if line is None or name in line:
            write_dump(Path(name), [content] if isinstance(content, bytes) else content)
    with pyarrow.ipc.new_stream("streamed.arrow", TABLE.schema) as stream:
        stream.write_table(TABLE)
    for folder in ("of_hub", "arrows"):
        shutil.copy("streamed.arrow", f"{folder}/data-00000-of-00001.arrow")
    Path("of_hub/state.json").write_text(json.dumps({"_data_files": [], "_split": None}))
    pyarrow.parquet.write_table(pyarrow.table({"id": ["a"], "task": ["REL-A1"], "n": [1]}), "bare.parquet")
    return tmp_path


def typed(line: str) -> tuple[int, str]:
    """A command line in this process: its exit code, and what it says on stderr."""
    arguments = shlex.split(line)
    if arguments[0] == "score":
        arguments += ["--workers", "0"]
    with contextlib.redirect_stderr(io.StringIO()) as said:
        code = exit_code(*arguments)
    return code, said.getvalue()


TYPED = [
    # what is in the file
    ("score renamed.jsonl", 2, "4 of 4 records unusable: 4 × field 'response' is missing (lines 1, 2, 3, …; line 1 has: id, task, answer, completion_text; try --map response=completion_text)"),
    ("score chats.jsonl", 2, "try --map response=messages)"),
    ("score nothing_like_it.jsonl", 2, "line 1 has: id, task, answer, n)"),
    ("score no_gold.jsonl", 2, "--data FILE joins gold records on id"),
    ("score gold_elsewhere.jsonl", 2, "try --map answer=gold"),
    ("score gold_in_text.jsonl", 2, "try --map answer=extra_info.@.answer)"),
    ("score generated.jsonl", 2, "try --map answer=reward_model.ground_truth --map response=responses)"),
    ("score bad_task.jsonl", 2, "field 'task' is 'REL-A11' (line 1; did you mean 'REL-A1'?)"),
    ("score unknown_task.jsonl", 2, "known tasks: REL-A1, "),
    ("score unknown_tasks.jsonl", 2, "3 × field 'task' is unknown, such as 'gsm8k' (lines 1, 2, 3; known tasks: "),
    ("score same_unknown_task.jsonl", 2, "2 × field 'task' is 'gsm8k' (lines 1, 2; known tasks: "),
    ("score no_task.jsonl", 2, "field 'task' is missing and cannot be inferred"),
    ("score empty_list.jsonl", 2, "field 'response' is an empty list (line 1)"),
    ("score text.jsonl", 2, "2 of 2 records unusable: 2 × not JSON"),
    ("score latin.jsonl", 2, "not UTF-8: byte 0xe9"),
    ("score empty.jsonl", 0, "no records in empty.jsonl: the input is empty"),
    ("score mixed.jsonl", 0, "3 of 4 records unusable:\n  2 × field 'response' is missing (lines 2, 4; line 2 has: id, task, answer, output; try --map response=output) (found there in 2 of the first 3 rows)\n  1 × field 'answer' (the gold) is missing (line 3 has: id, task, response; --data FILE joins gold records on id)\n"),
    ("score good.jsonl mixed.jsonl -o out.jsonl", 0, "lines mixed.jsonl:2, mixed.jsonl:4"),
    ("score escapes.jsonl", 2, "line 1 has: id, task, answer, \N{REPLACEMENT CHARACTER}[31mred"),
    # gold, fields, tasks
    ("score other_ids.jsonl --data gold.jsonl", 2, "no gold record with id 'x' in --data (line 1; --data has 'g', …)"),
    ("score more_other_ids.jsonl --data gold.jsonl", 2, "\n  3 × no gold record with ids such as 'x0' in --data (lines 1, 2, 3; --data has 'g', …)\n  1 × field 'id' is missing"),
    ("score same_other_id.jsonl --data gold.jsonl", 2, "2 × no gold record with id 'x' in --data (lines 1, 2; "),
    ("score other_ids.jsonl --data two_ids.csv", 2, "two_ids.csv: two columns are called 'id'"),
    ("score nested.jsonl --map response=choices.0.text", 2, "field 'response' is not at 'choices.0.text', as --map has it"),
    ("score nested.jsonl --map response=choices[0].message.content", 0, "1 rows in"),
    ("score good.jsonl --map respnse=text", 2, "did you mean 'response'?"),
    ("score good.jsonl --map response", 2, "--map 'response' is not of the form NAME=VALUE"),
    ("score good.jsonl --task REL-A11", 2, "did you mean 'REL-A1'?"),
    ("score good.jsonl --reward REL-A1=recal", 2, "recal"),
    # what other tools write, and spreadsheets
    ("score evaluated.json", 2, "jq -c '.results.results[]' makes lines of what is in it"),
    ("score evaluated.jsonl --data golds.jsonl", 2, "no gold record with id 'r0' in --data (line 1; try --map id=vars.id --map response=response.output)"),
    ("score evaluated.jsonl --data golds.jsonl --map id=vars.id --map response=response.output", 0, "1 rows in"),
    ("score traced.jsonl --data golds.jsonl", 2, "try --map id=reference_example_id --map 'response=outputs.generations.*.*.text')"),
    ("score logged.table.json --data golds.jsonl", 2, "try --map response=model_response"),
    ("score sheet.jsonl --data golds.jsonl", 2, "field 'id' is missing, by which --data finds its gold record (line 1; try --map 'id=record id' --map 'response=Model answer')"),
    ("score responses_api.jsonl", 2, "try --map response=response.output.-1.content)"),
    ("score one_line/list.json --data golds.jsonl", 2, "(line 1 has: config, run; a document on one line: jq -c '.run.results[]' makes lines of what is in it)"),
    ("score one_line/list.json", 2, "a document on one line: jq -c '.run.results[]' makes"),
    ("score one_line/by_id.json", 2, "a document on one line: jq -c 'to_entries[] | {id: .key} + .value' makes"),
    ("score one_line/log.json --data golds.jsonl", 0, "1 rows in"),
    # samples of one record are no document
    ("score samples_of_one.jsonl --data golds.jsonl", 2, "field 'id' is missing, by which --data finds its gold record (line 1; --data has 'a', …)\n"),
    ("score predicted.jsonl --data asking.jsonl", 2, "by which --data finds its gold record (line 1; try --map question=prompt --map response=predict)"),
    ("score predicted.jsonl --data asking.jsonl --map question=prompt --map response=predict", 0, "1 rows in"),
    ("score asked.jsonl --data numbered.jsonl", 2, "(line 1; that of --data with id '7' asks another question)"),
    ("score labelled.jsonl --data golds.jsonl", 2, "and none with id 'x' (line 1; try --map id=uid)"),
    ("score several_and_gold.jsonl", 2, "try --map answer=gold)"),
    ("score sampled_and_gold.jsonl", 2, "try --map answer=doc.gold)"),
    ("score messages_and_gold.jsonl", 2, "try --map answer=gold)"),
    ("score called_and_gold.jsonl", 2, "try --map answer=gold --map 'response=response.choices.*.message.content')"),
    ("score model_role.jsonl", 2, "try --map response=response.-1.content)"),
    ("score labelled.jsonl --data golds.jsonl --map id=uid", 0, "1 rows in"),
    # formats
    ("score short_row.csv", 2, "short_row.csv: not a readable CSV: CSV parse error: Row #2: Expected 3 columns, got 2"),
    ("score empty.csv", 2, "empty.csv: not a readable CSV: Empty CSV file"),
    ("score sheet.xlsx", 2, "pandas.read_excel('sheet.xlsx').to_json('sheet.jsonl', orient='records', lines=True)"),
    ("score packed.jsonl.xz", 2, "1 × compressed input ends early"),
    ("score packed.jsonl.bz2", 2, "1 × compressed input ends early"),
    ("score wide.jsonl", 2, "iconv -f UTF-16 -t UTF-8 wide.jsonl > wide.jsonl.jsonl"),
    ("score wider.jsonl", 2, "text in UTF-32; this makes what is read of it: iconv -f UTF-32 -t UTF-8 wider.jsonl"),
    ("score widest.jsonl", 2, "iconv -f UTF-32 -t UTF-8 widest.jsonl"),
    ("score framed.arrow", 2, "pandas.read_feather('framed.arrow').to_json('framed.jsonl', "),
    ("score streamed.arrow", 2, "pyarrow.ipc.open_stream('streamed.arrow').read_pandas().to_json('streamed.jsonl', "),
    ("score of_hub/", 2, "this makes what is read of it: python -c \"import datasets; datasets.load_from_disk('of_hub').to_json('of_hub.jsonl')\""),
    ("score arrows", 2, ", .eval); of an Arrow file it is said what converts it when it is named itself"),
    ("score far_back.jsonl.zst", 2, "looks back more than 128 MiB: `zstd -d --long=31 FILE` makes a plain file of it"),
    ("score good.jsonl --data far_back.jsonl.zst", 2, "`zstd -d --long=31 FILE` makes a plain file of it"),
    ("score generations.json", 2, "relfast: generations.json: one JSON object with the keys 'config', 'generations', of no tool that is known (Inspect, HELM, OpenCompass); one record a line is wanted: jq -c '.generations[]' makes"),
    ("score header.json", 2, "header.json: the log holds no samples (a header only, "),
    ("score statistics.json", 2, "per-instance statistics of HELM hold no responses; scenario_state.json beside them does"),
    ("score torn.json", 2, "torn.json: a JSON array that is cut off, and so is no JSON: "),
    ("score several.json", 2, "is no JSON: Extra data: line 4 column 1 (char 13); jq -c . makes lines of several objects"),
    ("score torn.json.gz", 2, "ends early"),
    ("score model.zip", 2, "a ZIP of weights/0.bin; of ZIPs, logs of Inspect (.eval) are read"),
    ("score torn.zip", 2, "not a readable ZIP"),
    ("score pickled.pkl", 2, "pickled.pkl: this is a Python pickle; JSON lines"),
    ("score base.sqlite", 2, "an SQLite database"),
    ("score good.jsonl -o out.tsv", 2, "out.tsv: rows are written as .jsonl, .jsonl.gz, .jsonl.zst, .jsonl.bz2, .jsonl.xz, .parquet, .csv, not .tsv"),
    ("score good.jsonl -o out.csv.gz", 2, ".parquet, .csv, not .csv.gz; "),
    ("score good.jsonl -o out.tar.xz", 2, ".parquet, .csv, not .tar.xz; "),
    ("score good.jsonl -o ''", 2, "the output has an empty name"),
    ("score ''", 2, "an input has an empty name (a variable that is not set?): this folder is ."),
    ("score good.jsonl good.jsonl -o out.jsonl", 2, "good.jsonl is named twice; its rows would count twice: name it once"),
    ("score good.jsonl folder/../good.jsonl -o out.jsonl", 2, "good.jsonl and folder/../good.jsonl are one file; its rows"),
    ("score 'goo?.jsonl' good.jsonl -o out.jsonl", 2, "good.jsonl (of goo?.jsonl) and good.jsonl are one file; its rows"),
    ("score - - -o out.jsonl", 2, "- is named twice"),
    ("score /dev/stdin - -o out.jsonl", 2, "/dev/stdin and - are one file; its rows"),
    ("score good.jsonl --data gold.jsonl --data ./gold.jsonl -o out.jsonl", 0, "1 rows in out.jsonl"),
    ("score folder", 2, "no input in this folder"),
    ("score nowhere.jsonl", 2, "nowhere.jsonl: no such file"),
    ("score good.jsonl gold.jsonl", 2, "several inputs: say where the rows go with -o"),
    ("score https://host/run.jsonl", 2, "no such file: URLs are read with --engine ray"),
    *((line.format("x" * 300), code, "File name too long") for line, code in (
        ("score {}", 2), ("score good.jsonl -o {}", 1), ("score good.jsonl --data {}", 2), ("report {} -o out", 2),
        ("compare {} good.jsonl", 2), ("compare a={} good.jsonl", 2), ("show {}:1", 2), ("validate {}", 2), ("audit {}", 2),
        ("bench --mock --records {} -o out", 2), ("generate rel-c2 -n 1 --bank {}", 2))),
    # values
    ("score good.jsonl --timeout nan", 2, "timeout must be seconds from 0 (no limit) to 1,000,000"),
    ("score good.jsonl --timeout soon", 2, "Invalid value for '--timeout': "),
    *((f"serve --timeout {value}", 2, f"Invalid value for '--timeout': {TIMEOUT}{value}") for value in ("nan", "1000000000000.0")),
    ("score good.jsonl --policy stirct", 2, "'stirct' is not one of 'reference', 'strict'"),
    ("score good.jsonl --shard 4/4", 2, "shard 4/4 does not exist"),
    ("score good.jsonl --resume --overwrite", 2, "--resume and --overwrite exclude each other"),
    ("score good.jsonl --sumary x.json", 2, "--summary"),
    ("score", 2, "Missing argument 'INPUT...'"),
    ("score good.jsonl --input-format csv", 2, "Invalid value for '--input-format'"),
    ("score no*where", 2, "relfast: no*where: nothing matches this pattern"),
    ("score good.jsonl --shard 0", 2, "relfast: --shard '0' is not of the form I/N, such as 0/4"),
    ("score good.jsonl -o good.jsonl", 2, "is an input (INPUT); -o would write over it"),
    ("score folder/../good.jsonl -o good.jsonl", 2, "is an input (INPUT); -o would write over it"),
    ("score good.jsonl -o folder", 1, "Is a directory"),
    ("score good.jsonl -o /dev/full", 1, "No space left on device after 0 bytes"),
    ("score /proc/self/mem -o out.jsonl", 2, "relfast: /proc/self/mem: Input/output error\n"),
    ("score good.jsonl -o /nowhere/rows.jsonl", 1, "No such file or directory; make the folder first: mkdir -p /nowhere"),
    ("score good.jsonl --data text.jsonl", 2, "text.jsonl:1: not JSON"),
    ("score good.jsonl --data blank.jsonl", 2, "blank.jsonl: no gold record in it"),
    # what a command is not for, and what is there already
    ("show good.jsonl:0", 2, "'a' is of REL-A1, and mazes of SeqBench are what is drawn here"),
    ("show nothing.jsonl", 2, "nothing.jsonl: no such file"),
    ("report good.jsonl -o report", 2, "is no scored row (no status and metrics); score the dump first"),
    ("report good.jsonl -o good.jsonl", 2, "good.jsonl is a file; a report is a folder"),
    ("compare good.jsonl good.jsonl", 2, "good.jsonl"),
    ("audit text.jsonl", 2, "2 of 2 lines passed over; the first: text.jsonl:1: not JSON"),
    ("audit no_task.jsonl", 2, "no records in no_task.jsonl: no row has a known task and its gold"),
    ("audit empty.jsonl", 0, "no records in empty.jsonl: the input is empty"),
    ("embedder add minilmm", 2, "none of the known names (bge-large, bge-base, bge-small, minilm)"),
    ("score listed.json", 0, "1 rows in"),
    ("score printed.json", 0, "1 rows in"),
    ("score bare.parquet", 2, "line 1 has: id, task, n; --data FILE joins gold records on id"),
    # problems, models
    ("generate rel-z1 -n 1 -o records.jsonl", 2, "No such command"),
    ("generate rel-a1 -o records.jsonl", 2, "Missing option '-n'"),
    ("generate rel-a1 -n 1 --seed -1 -o records.jsonl", 2, "not in the range"),
    ("generate rel-a1 -n 1 --gridsize 2 -o records.jsonl", 2, "gridsize must be a whole number from 3"),
    ("generate rel-c1 -n 1 --sizes 5;6 -o records.jsonl", 2, "neither a list such as 5,10,20"),
    ("generate rel-c3 -n 1 --given 9:5 -o records.jsonl", 2, "at least one size"),
    ("generate rel-c2 -n 1 --bank /nowhere/bank.smi -o records.jsonl", 2, "/nowhere/bank.smi: cannot be read"),
    # fails at its first yes record, when the output is open already
    ("generate rel-b1 --num-leaves 2 --yes-fraction 0.5 -n 4 -o records.jsonl", 2, "no tree of 1000"),
    ("generate rel-a1 -n 1 -o none/x.jsonl", 1, "No such file or directory"),
    ("generate seqbench -n 1 --names Bob -o records.jsonl", 2, "AGENT,TARGET"),
    ("generate seqbench -n 1 -L 5 -B 4 -o records.jsonl", 2, "23 actions at least"),
    ("generate seqbench -n 1 -L many -o records.jsonl", 2, "'many'"),
    ("generate seqbench --rows 2 -B 5 -n 3 --workers 1 -o records.jsonl", 2, "larger grid"),
    *((f"generate {name} -n 1 -o records.jsonl", 2, f"{said} has no published generator") for name, said in
      (("rel-a5", "REL-A5"), ("REL-A6", "REL-A6"), ("rel-a7", "REL-A7"), ("realign", "ReAlign"))),
    ("bench -o out", 2, "--mock"),
    ("bench m -o out", 2, "--api URL, or m@URL"),
    ("bench m --mock -o out", 2, "name none"),
    ("bench a/b@http://h/v1 a_b@http://h/v1 -o out", 2, "written to a_b"),
    ("bench --mock --set rel,nothing -o out", 2, "rel, seqbench, realign"),
    ("bench --mock --records stranger.jsonl -o out", 2, "record 0 does not say its task"),
    ("bench --mock --resume --overwrite -o out", 2, "exclude"),
    ("bench --mock --set realign --embedder no-model -o out", 2, "no-model"),
    *((f"run good.jsonl --api http://h/v1 --model m -o out --extra-body '{body}'", 2, said) for body, said in
      (("{", "no JSON"), ("[1]", "a JSON object"), ('{"messages":[]}', "must not set 'messages'"))),
    ("run nowhere.jsonl --api http://127.0.0.1:9/v1 --model m -o out", 2, "nowhere.jsonl: no such file"),
    ("run text.jsonl --api http://127.0.0.1:9/v1 --model m -o out", 2, "text.jsonl:1: not JSON"),
    ("run good.jsonl --api nonsense --model m -o out", 2, "http"),
    # commands
    ("scor good.jsonl", 2, "No such command 'scor'; did you mean 'score'?"),
    ("evaluate good.jsonl", 2, "did you mean 'score'?"),
    ("good.jsonl", 2, "to score this file: relfast score good.jsonl"),
    ("generate seqbanch -n 3 -o records.jsonl", 2, "No such command 'seqbanch'; did you mean 'seqbench'?"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "code", "message"), TYPED, ids=[line for line, *_ in TYPED])
def test_on_the_command_line(line: str, code: int, message: str, here: Path) -> None:
    before = sorted(here.rglob("*"))
    found, said = typed(line)
    assert message in said
    assert found == code
    assert "Traceback" not in said
    assert "\x1b" not in said
    if code and "unusable" not in said:
        assert said.count("\n") == 1 or "Usage: " in said or line.startswith("audit")
        assert sorted(here.rglob("*")) == before


def test_rows_of_a_run_without_one_usable_record_are_written(here: Path) -> None:
    assert typed("score renamed.jsonl --summary summary.json")[0] == 2
    assert statuses(Path("renamed.jsonl.scored.jsonl")) == ["invalid_record"] * 4
    (cause,) = json.loads(Path("summary.json").read_bytes())["unusable"]
    assert (cause["n"], cause["type"], cause["first"]) == (4, "MissingField", ["1", "2", "3"])
    assert cause["advice"] == "try --map response=completion_text"


def test_what_was_unusable_is_known_after_a_resume(here: Path) -> None:
    first, again = typed("score mixed.jsonl")[1], typed("score mixed.jsonl --resume")[1]
    assert "3 of 4 records unusable" in first
    assert first == again


@pytest.mark.parametrize("name", ["streamed.arrow", "saved"])
def test_the_command_that_converts_it_does(name: str, here: Path) -> None:
    """The line that a stream of Arrow's or a data set on disk is refused with, typed as it stands."""
    rows = [{"id": "a", "task": "REL-A1", "response": "3"}] * 2
    if name == "saved":
        pytest.importorskip("datasets").Dataset.from_list(rows).save_to_disk(name)
    command = typed(f"score {name}")[1].split("read of it: ")[1]
    subprocess.run(command.replace("python ", f"{sys.executable} ", 1), shell=True, check=True, cwd=here)
    made = rows_of(Path(name).with_suffix(".jsonl"))
    assert made == rows[: len(made)] != []


@pytest.mark.skipif(shutil.which("jq") is None, reason="no jq: nightly's job `skipped` has it")
@pytest.mark.parametrize("name", ["list", "renamed", "by_id", "columns", "frame", "records", "log"])
def test_the_command_that_makes_lines_of_a_document_does(name: str, here: Path) -> None:
    """Whether it stands on one line, and is a row, or is indented, and refused as a whole (the log is read)."""
    wanted = {"by_id": 2, "columns": 2, "frame": 2}.get(name, 1)
    subprocess.run(f"jq . one_line/{name}.json > {name}.json", shell=True, check=True)
    options = "--data golds.jsonl" + (" --map response=output" if name == "renamed" else "")
    if name == "log":
        assert f"{wanted} rows in" in typed(f"score {name}.json {options}")[1]
        return
    for path in (f"one_line/{name}.json", f"{name}.json"):
        code, said = typed(f"score {path} {options}")
        command = said.rpartition("jq -c '")[2].partition("'")[0]
        subprocess.run(f"jq -c '{command}' {path} > lines.jsonl", shell=True, check=True)
        assert code == 2
        assert f"{wanted} rows in" in typed(f"score lines.jsonl {options} --overwrite")[1]
        rows = rows_of(Path("lines.jsonl.scored.jsonl"))
        assert [row["id"] for row in rows] == ["a", "b"][:wanted]
        assert rows[0]["status"] == "ok"


@pytest.mark.skipif(shutil.which("zstd") is None, reason="no zstd: nightly's job `skipped` has it")
def test_the_command_that_reads_what_looks_far_back_does(here: Path) -> None:
    subprocess.run("zstd -q -d --long=31 far_back.jsonl.zst", shell=True, check=True, cwd=here)
    assert typed("score far_back.jsonl")[0] == 0


FRAME = SimpleNamespace(columns=("id", "task"), to_dicts=list)
"""As far as a data frame is known by: its columns, and how it gives its rows."""

GOLD = {"target": 3}

IN_PYTHON: list[tuple[Any, str]] = [
    (lambda: relfast.score("run.jsonl"), r"relfast\.score_file\('run.jsonl'\) scores a file"),
    (lambda: relfast.score(Path("run.jsonl")), r"relfast\.score_file\('run.jsonl'\)"),
    (lambda: relfast.score(b"{}"), "not bytes"),
    (lambda: relfast.score(RECORD), r"write score\(\[record\]\)"),
    (lambda: relfast.score(FRAME), r"not a SimpleNamespace: write score\(frame\.to_dicts\(\)\)"),
    (lambda: relfast.score(7), "records must be an iterable of dicts, not 7"),
    (lambda: asyncio.run(relfast.ascore("run.jsonl")), "not a path"),
    (lambda: relfast.score([RECORD], reward={"REL-A1": "recal"}), "recal"),
    (lambda: relfast.score([RECORD], map={"respnse": "x"}), "did you mean 'response'"),
    (lambda: relfast.score([RECORD], timout=5), "unknown option 'timout'.*did you mean 'timeout'"),
    (lambda: relfast.score([RECORD], worker=5), "did you mean 'workers'"),
    (lambda: relfast.score([RECORD], policy="stirct"), "policy must be 'reference' or 'strict', not 'stirct'"),
    (lambda: relfast.score([RECORD], task="REL-A11"), "did you mean 'REL-A1'"),
    (lambda: relfast.score([RECORD], data="nowhere.jsonl"), "nowhere.jsonl: no such file"),
    (lambda: relfast.evaluate_response("", GOLD, "3", polcy="strict"), "unknown option 'polcy'; options: b1_min_f1, "),
    (lambda: relfast.score_batch("REL-A1", GOLD, ["3"]), r"answers must be a sequence.*write \[answer\]"),
    (lambda: relfast.score_batch("REL-A1", [GOLD], "3"), r"responses must be a sequence.*write \[response\]"),
    (lambda: relfast.score_batch("REL-A1", [GOLD], 3), "responses must be a sequence with a length"),
    (lambda: relfast.score_file([RECORD]), r"path must name a file.*score\(records\) scores dicts"),
    (lambda: relfast.score_file("nowhere.jsonl"), "nowhere.jsonl: no such file"),
    (lambda: relfast.score_file("streamed.arrow"), "this is an Arrow stream"),
    (lambda: relfast.score_file("good.jsonl", "out.tsv"), "not .tsv"),
    (lambda: relfast.score_file("good.jsonl", resume=True, overwrite=True), "^resume=True and overwrite=True ex"),
    (lambda: relfast.score_file("good.jsonl", "gold.jsonl"), "resume=True continues it, overwrite=True starts over"),
    (lambda: relfast.score_file(["good.jsonl", "gold.jsonl"]), "say where the rows go with output"),
    (lambda: relfast.read_rows("good.jsonl"), "is no scored row"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), IN_PYTHON)
def test_in_python(call: Any, message: str, here: Path) -> None:
    with pytest.raises(relfast.RelfastError, match=message) as error:
        call()
    assert "--" not in str(error.value)


def test_a_summary_says_why_in_the_words_of_python(here: Path) -> None:
    summary = relfast.score_file("renamed.jsonl", workers=0)
    assert "4 of 4 records unusable: 4 × field 'response' is missing" in repr(summary)
    assert "try map={'response': 'completion_text'}" in repr(summary)


def test_rows_read_back_have_every_metric_of_any_row(here: Path) -> None:
    """Data frames guess the columns of JSON lines from the first hundred rows; none of these has a metric."""
    rows = [without("response", n=1)] * 150 + [without("task", "answer", task="REL-C3",
            answer={"missing_smiles": ["CCO"]}, response="<smiles>CCO</smiles>")]  # fmt: skip
    relfast.score_file(write_dump(here / "late.jsonl", rows), "late.scored.jsonl", workers=0)
    frame = relfast.read_rows("late.scored.jsonl").to_pandas()
    assert len(frame) == 151
    assert frame["metrics.recall"].iloc[-1] == 1.0
    assert frame["metrics.recall"].iloc[:-1].isna().all()


def test_awaited_scores_are_those_of_the_plain_calls() -> None:
    async def both() -> tuple[Any, Any]:
        with relfast.Scorer(workers=0) as scorer:
            return await scorer.areward("REL-A1", GOLD, "3"), await scorer.ascore([RECORD])

    reward, scores = asyncio.run(both())
    with relfast.Scorer(workers=0) as scorer:
        assert reward == scorer.reward("REL-A1", GOLD, "3")
        assert scores == scorer.score([RECORD]) == asyncio.run(relfast.ascore([RECORD], workers=0))


def test_a_reward_is_awaited_without_a_scorer_of_ones_own() -> None:
    async def several(**options: Any) -> list[float | None]:
        one = [relfast.areward("REL-A1", gold, "Answer: 4", workers=0, **options) for gold in (GOLD, None)]
        return list(await asyncio.gather(*one))

    assert asyncio.run(several()) == [1.0, None]
    assert asyncio.run(several(on_error=-1.0, policy="strict")) == [1.0, -1.0]
    with pytest.raises(relfast.UnscoredError, match="invalid_record"):
        asyncio.run(several(on_error="raise"))
    with pytest.raises(relfast.UsageError, match="did you mean 'timeout'"):
        asyncio.run(several(timout=5))


@pytest.mark.parametrize(
    ("name", "line"), [(name, line) for name, command in COMMANDS.items() for line in command.examples]
)
def test_an_example_of_help_is_a_command_that_is_understood(name: str, line: str) -> None:
    words = [word for word in line.split() if "=" not in word or not word.startswith("RELFAST_")]
    assert words[:2] == ["relfast", name]
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    command.make_context(name, words[2:], resilient_parsing=False)
    assert line in CliRunner().invoke(cli, [name, "--help"], terminal_width=200).output


def test_every_command_is_in_one_group() -> None:
    said = CliRunner().invoke(cli, ["--help"], terminal_width=80).output
    for name, command in COMMANDS.items():
        lines = [line for line in said.splitlines() if line.startswith(f"  {name} ")]
        if name == "realign":  # an old name
            assert not lines
            continue
        (line,) = lines
        assert command.summary.startswith(line.split(maxsplit=1)[1])


@pytest.mark.parametrize("name", ["score", "bench", "run"])
def test_every_option_is_in_one_group_of_the_whole_help(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    for columns in (60, 80, 120):
        whole, short = (
            CliRunner().invoke(cli, [name, how], terminal_width=columns).output.split("Examples:")[0]
            for how in ("--help-all", "--help")
        )
        assert max(map(len, whole.splitlines())) <= columns
        # the short help names in one sentence what it leaves out
        groups, _, more = short.partition("--help-all shows ")
        rare = more.partition(": ")[2].replace("-\n", "-").replace(",", " ").split()
        assert len(rare) == int(more.split()[0])
        in_whole, in_short = (
            [line.split()[0].rstrip(",") for line in text.splitlines() if line.strip()]
            for text in (whole, groups)
        )
        for option in options:
            assert sum(in_whole.count(way) for way in option.opts) == 1, option.opts
            assert (option.opts[-1] in rare) != any(way in in_short for way in option.opts)


@pytest.mark.parametrize(
    "line",
    ["tasks", "--help", "score --help", "generate REL-A1 -n 500", "score good.jsonl -o - -q --workers 0"],
)
def test_a_full_disk_under_stdout_is_one_line(line: str, here: Path) -> None:
    streams = {"capture_output": False, "stderr": subprocess.PIPE}
    with open("/dev/full", "wb") as full:
        done = python("-m", "relfast", *line.split(), stdout=full, **streams)
    (said,) = done.stderr.splitlines()
    assert "No space left on device" in said
    assert done.returncode == 1


@pytest.mark.parametrize("line", ["generate REL-A1 -n 2000", "tasks --json"])
def test_a_reader_that_goes_away_is_no_error(line: str) -> None:
    """Of `score`: `test_score_faults`."""
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with started("-m", "relfast", *line.split(), **pipes) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.read(1)
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait() == 0


def test_a_model_that_is_here_is_not_added_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`make demo` brings it along: what a newcomer types next is no mistake. Another form of it is another model."""
    source = resolve("minilm").path
    monkeypatch.setenv("RELFAST_CACHE_DIR", str(tmp_path))
    shutil.copytree(source, tmp_path / "embedders" / "minilm")
    (tmp_path / "embedders").chmod(0o700)
    code, said = typed("embedder add minilm")
    assert (code, said) == (0, "minilm is here already (--overwrite makes it anew)\n")


def test_a_report_that_cannot_be_drawn_is_known_before_the_work(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    code, said = typed(f"realign --mock --limit 2 -o {tmp_path}")
    assert code == 1
    assert said.startswith("relfast: a report needs an optional package: pip install '.[report]' in a clone")
    assert not list(tmp_path.iterdir())


# settings that cannot be used are said in one line before anything starts, wherever they are given


MOTIF = {"id": 1, "task": "REL-C2", "answer": {"smiles": "C1CC1CO"}, "response": "<smiles>CCN(C)CO</smiles>"}


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return write_dump(tmp_path / "dump.jsonl", [MOTIF])


UNUSABLE: list[tuple[dict[str, Any], str]] = [
    ({"timeout": -1}, f"{TIMEOUT}-1"),
    ({"timeout": math.nan}, f"{TIMEOUT}nan"),
    ({"timeout": 1e12}, f"{TIMEOUT}1000000000000.0"),
    ({"timeout": -math.inf}, f"{TIMEOUT}-inf"),
    ({"timeout": "5"}, f"{TIMEOUT}'5'"),
    ({"timeout": True}, f"{TIMEOUT}True"),
    ({"workers": -1}, "workers must be a whole number from 0 to 10,000, not -1"),
    ({"workers": 1.5}, "workers must be a whole number from 0 to 10,000, not 1.5"),
    ({"workers": "two"}, "workers must be a whole number from 0 to 10,000, not 'two'"),
    ({"max_line_bytes": 0}, "max_line_bytes must be a whole number from 1 on, not 0"),
    ({"max_line_bytes": None}, "max_line_bytes must be a whole number from 1 on, not None"),
    ({"details": "no"}, "details must be True or False, not 'no'"),
    ({"strip_reasoning": "no"}, "strip_reasoning must be True or False, not 'no'"),
    ({"input_format": "csv"}, "input_format must be 'auto', 'openai-batch', "),
    (
        {"map": {"response": 3}},
        "map must map fields to paths, such as {'response': 'choices.0.message.content'}, not {'response': 3}",
    ),
    (
        {"reward": "REL-C2=correct"},
        "rewards must map task names to metrics, such as {'TASK': 'METRIC'}, not 'REL-C2=correct'",
    ),
    ({"data": 5}, "data must be a path or several, not 5"),
    ({"b1_min_f1": math.nan}, "b1_min_f1 must be a number from 0 to 1, not nan"),
    ({"tautomers": "both"}, "tautomers must be 'apart' or 'joined', not 'both'"),
    ({"grader": "human"}, "grader must be 'symbolic' or 'math-verify', not 'human'"),
]


OF_FILES: list[tuple[dict[str, Any], str]] = [
    ({"limit": -1}, "limit must be a whole number from 0 on, not -1"),
    ({"limit": 1.5}, "limit must be a whole number from 0 on, not 1.5"),
    ({"shard": "0/2"}, "shard must be a pair (I, N), not '0/2'"),
    ({"shard": (0.5, 2)}, "shard I must be a whole number from 0 on, not 0.5"),
    ({"shard": (2, 2)}, "shard 2/2 does not exist: I counts from 0 to N-1"),
]


@pytest.mark.parametrize(("options", "message"), UNUSABLE + OF_FILES)
def test_what_cannot_be_used(options: dict[str, Any], message: str, dump: Path, tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    uses: list[Any] = [partial(relfast.score_file, dump, out)]
    if (options, message) in UNUSABLE:
        uses += relfast.Scorer, partial(relfast.score, [MOTIF]), trl.make_reward, openrlhf.make_reward
    for use in uses:
        with pytest.raises(UsageError) as caught:
            use(**options)
        assert str(caught.value).startswith(message)
    assert not out.exists()


@pytest.mark.parametrize(
    ("timeout", "workers"),
    [
        *((value, 0) for value in (0, None, math.inf, MAX_TIMEOUT, np.float32(30))),
        (np.int64(30), np.int64(1)),
    ],
)
def test_what_can_be_used(timeout: Any, workers: Any, dump: Path, tmp_path: Path) -> None:
    score = relfast.score([MOTIF], timeout=timeout, workers=workers)[0]
    assert (score.status, type(Job(timeout=timeout).timeout)) == ("ok", float)
    # no limit has one name
    assert timeout not in (0, None, math.inf) or Job(timeout=timeout).timeout == 0.0
    relfast.score_file(dump, tmp_path / "rows.jsonl", timeout=timeout, workers=workers)
    assert json.loads((tmp_path / "rows.jsonl").read_text()) == score.to_row()
