"""Real lines of all dialects, and what becomes of lines on bad days: one mutation or several of each."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import cache
from typing import Any, Final

import tool_rows
from corpora import rel_records
from failed_rows import PIECES, failed, places

Json = dict[str, Any]
Mutation = Callable[[bytes, random.Random, bytes], bytes]
"""A line, chance, another line → a line."""

N_WRAPPED: Final = 7
"""One row of so many of those that `_wrapped` makes is taken of a response."""

CHEMISTRY: Final = ("REL-C2", "REL-C3")


def _body(content: Any, **more: Any) -> Json:
    return {"choices": [{"index": 0, "message": {"role": "assistant", "content": content, **more}}]}


def _parts(text: str) -> list[Json]:
    middle = len(text) // 2
    return [
        {"type": "text", "text": text[:middle]},
        {"type": "image_url", "image_url": {"url": "x"}},
        {"type": "output_text", "text": text[middle:]},
    ]


def _wrapped(record: Json, text: str, number: int) -> list[Json]:
    """A response in shapes that `benchmarks.workloads_dumps` lacks."""
    gold = {name: record[name] for name in ("id", "task", "answer")}
    said = {"role": "assistant", "content": _parts(text)}
    output = [
        {"type": "reasoning", "summary": []},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]},
    ]
    batch = {"custom_id": record["id"], "error": None}
    return [
        *(row(record, [text, text[:-9]], number) for row in tool_rows.ALL),
        tool_rows.in_text(record, [text], number),
        {**gold, "response": [{"role": "user", "content": record["question"]}, said]},
        {**gold, "response": [[said], text]},
        {**batch, "response": {"status_code": 200, "body": {"output": output, "error": None}}},
        {**batch, "response": {"status_code": 200, "body": _body(_parts(text), refusal=None)}},
        {"key": record["id"], "kind": record["task"], "gold": {"answer": record["answer"]}, "said": text,
         "outputs_of": [{"text": text, "n": number}, {"text": text[:50]}]},
        {**gold, "messages": [{"role": "user", "content": record["question"]}, said]},
        {"meta": {"uid": record["id"], "kind": record["task"]}, "gold": record["answer"], **_body(text), "n": number},
        {**record, "response": text, "usage": {"tokens": number}, "logprob": -1.5e-3 * number},
    ]  # fmt: skip


@cache
def real_lines(n: int = 40) -> tuple[bytes, ...]:
    """Lines of real responses to published records and generated mazes, ``n`` of each kind."""
    from benchmarks.workloads_chem import missing_isomers, motifs
    from benchmarks.workloads_dumps import DUMPS
    from benchmarks.workloads_seqbench import mazes, responses

    rows: list[tuple[Json, bool]] = []
    for dump in DUMPS.values():
        for number, (record, texts) in enumerate(dump._responses(n, 3)):
            texts = [text[-(700 if number % 3 else 1_600) :] for text in texts]
            rows.append((dump.row(record, texts, number), dump.ascii))
            rows += [
                (row, number % 2 == 0)
                for row in _wrapped(record, texts[0], number)[number % N_WRAPPED :: N_WRAPPED]
            ]
    for record in (*missing_isomers(n, 5), *motifs(n, 5)):
        rows.append((record, True))
        text = record.pop("response")
        rows += [(row, True) for row in _wrapped(record, text, 3)]
        record["response"] = [text, text[:-9]]
    for seed, maze in enumerate(mazes(3, 4, 4, None, 1)):
        for text in responses(maze, n // 2, seed):
            rows.append(({**maze, "response": text}, True))
            rows.append(({**maze, "response": [text, text[1:], "é" + text]}, False))
            answer = {name: maze[name] for name in ("completion", "structural_details")}
            rows.append(({"id": seed, "answer": answer, "question": maze["context"], "response": text}, True))
    return tuple(json.dumps(row, ensure_ascii=ascii_only).encode() for row, ascii_only in rows)


@cache
def failed_lines(n: int = 40) -> tuple[bytes, ...]:
    """The same of requests that failed."""
    rng = random.Random(n)
    return tuple(failed_line(rng, line) for line in real_lines(n))


def failed_line(rng: random.Random, line: bytes) -> bytes:
    """A line of a request that failed, of one that has a response."""
    row = failed(json.loads(line), rng)
    return json.dumps(row, ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")


def gold_file() -> bytes:
    """Records that batch output and rows without gold are joined with."""
    tasks = ("REL-A1", "REL-A2", "REL-B1", "REL-C1", *CHEMISTRY)
    return b"".join(json.dumps(record).encode() + b"\n" for task in tasks for record in rel_records(task))


def _flip(line: bytes, rng: random.Random, other: bytes) -> bytes:
    data = bytearray(line)
    for _ in range(rng.choice((1, 1, 2, 5))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def _cut(line: bytes, rng: random.Random, other: bytes) -> bytes:
    first = rng.randrange(len(line))
    return line[:first] + line[first + rng.choice((1, 2, 9, len(line))) :]


def _spliced(line: bytes, rng: random.Random, other: bytes) -> bytes:
    return line[: rng.randrange(len(line))] + other[rng.randrange(len(other)) :]


def _repeated(line: bytes, rng: random.Random, other: bytes) -> bytes:
    first = rng.randrange(len(line))
    last = first + rng.randrange(60)
    return line[:last] + line[first:]


_KEYS: Final = (
    b"id", b"task", b"answer", b"response", b"question", b"completion", b"context", b"instance_id", b"gts", b"output",
    b"input", b"doc", b"resps", b"custom_id", b"error", b"status_code", b"content", b"role", b"text", b"type", b"target",
    b"outputs", b"prompt", b"messages", b"request_id", b"example_id", b"info", b"traces", b"nodes", b"root_reply", b"sampled",
    b"rewards", b"ok", b"epoch", b"metadata", b"choices", b"message", b"completions", b"success", b"instance", b"references",
    b"tags", b"doc_id", b"specific", b"gold_index", b"prediction", b"origin_prompt", b"gold", b"result", b"candidates", b"parts",
    b"key", b"step", b"advantage", b"perturbation", b"body", b"thought",
    b"label", b"taxa", b"molecules", b"smiles", b"missing_smiles", b"structural_details", b"filter", b"llm_solution",
)  # fmt: skip


def _swapped_keys(line: bytes, rng: random.Random, other: bytes) -> bytes:
    one, two = (b'"' + key + b'":' for key in rng.sample(_KEYS, 2))
    return line.replace(one, b"\0").replace(two, one).replace(b"\0", two)


_VALUES: Final = (
    b"null", b"NaN", b"-Infinity", b"1e999", b"-0.0", b"1" * 25, b"123456789012345678901", b"0.1e-7", b"true", b"[]", b"{}", b'""',
    b'"\\ud800"', b'"\\udc00\\ud800"', b'"\\ud83d\\ude00"', b'"x"', b'"REL-A1"', b'"REL-C3"', b'"SeqBench"', b"200", b"[[]]",
    b'"\xef\xbb\xbf"', b'"\\u0000"', b'"Answer 4"', b"[null]", b'["Answer 4", "<Yes>"]', b"\xff", b'"{\\"target\\": 3}"', b"7",
)  # fmt: skip


def _set(line: bytes, rng: random.Random, other: bytes) -> bytes:
    """A member more, perhaps one that is there already: before or after all others."""
    member = b'"' + rng.choice(_KEYS) + b'": ' + rng.choice(_VALUES)
    if rng.random() < 0.5:
        return line[:1] + member + b", " + line[1:]
    return line.rstrip()[:-1] + b", " + member + b"}"


def _put(line: bytes, rng: random.Random, other: bytes) -> bytes:
    """A value in the place of another."""
    at = line.find(b": ", rng.randrange(len(line)))
    stop = line.find(b",", at)
    return line[: at + 2] + rng.choice(_VALUES) + (line[stop:] if stop > at >= 0 else b"}")


def _inserted(line: bytes, rng: random.Random, other: bytes) -> bytes:
    at = rng.randrange(len(line))
    return line[:at] + rng.choice(_PIECES) + line[at:]


_PIECES: Final = (
    b"\\", b'\\"', b'"', b"\\u00e9", b"\\ud800", b"\\udfff", b"\\ud83d\\ude00", b"\\u12", b"\\x41", b"\xc3\xa9", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80",
    b"\xe2\x80\xa8", b"\t", b"\r", b"\x00", b"\x7f", b"\xc2\x85", b"\xef\xbb\xbf", b" ", b"}", b"]", b"{", b"[", b",", b":", b"-", b"e5", b"0",
    b"<think>", b"</think>", b"\\n", b"\\\\\\\\", b"\\/", b"Answer 4", b"<Yes>", b"taxon_3", b"<smiles>CC</smiles>", b"['start: A1']",
)  # fmt: skip


def _escaped(line: bytes, rng: random.Random, other: bytes) -> bytes:
    r"""Letters as ``\uXXXX``, also in keys."""
    first = rng.randrange(len(line))
    last = first + rng.randrange(1, 30)
    part = b"".join(
        b"\\u%04x" % byte if 97 <= byte <= 122 and rng.random() < 0.5 else bytes([byte])
        for byte in line[first:last]
    )
    return line[:first] + part + line[last:]


def _with_odd_member(line: bytes, rng: random.Random, other: bytes) -> bytes:
    r"""A member more that some parsers refuse, or whose key is one of ours in disguise."""
    key = rng.choice((b"\\u6a21\\u578b", b"rewards\\/acc", b"a\\u0062", b"\\ud83d\\ude00", b"\\ud83d", b'\\"', b"\\u00e9",
                      rng.choice(_KEYS).replace(b"e", b"\\u0065"), b"x"))  # fmt: skip
    value = rng.choice((b"NaN", b"Infinity", b"-Infinity", b"[NaN, 1]", b'{"acc": NaN}', b"1", b"N", b"-I"))
    at = rng.choice((1, line.find(b"{", 1) + 1))
    return line[:at] + b'"' + key + b'": ' + value + b", " + line[at:]


def _as_text(line: bytes, rng: random.Random, other: bytes) -> bytes:
    """The line, or its gold, as JSON text within JSON."""
    try:
        row = json.loads(line)
    except ValueError:
        return json.dumps(line.decode("utf-8", "replace")).encode()
    if isinstance(row, dict) and row:
        name = rng.choice(list(row))
        row[name] = json.dumps(row[name])
    return json.dumps(row).encode("utf-8", "surrogatepass")


_TEXTS: Final = (
    "", " ", "null", "[]", "{}", "3", '"x"', "{", "{}}", " {}", "\ufeff{}", "\xa0{}", "\x1c{}", '{"task":null}', '{"task":NaN}', "not JSON",
    '{"a":1234567890123456789}', '{"a":-0}', '{"a":1e999}', '{"target":3,"target":4}', '{"task":"REL-A1","answer":{"target":3,"target":4}}',
    '{"task":"REL-A1","answer":"{\\"target\\":3}"}', '{"\\u0074ask":"REL-A1"}', '{"answer":{"target":3},"\\ud800":1}', '{"answer":{"target":3},"x":"\ud800"}',
    '{"answer":null}', '{"answer":[{"target":3}]}', '[{"answer":{"target":3}}]', '{"answer":{"target":3},"x":"\t"}', '{\n "answer":{"target":3}}',
)  # fmt: skip
"""What a text may be in which JSON is looked for."""


def _with_text(line: bytes, rng: random.Random, other: bytes) -> bytes:
    """A line with an object of its own as JSON in a text, or with such a text of its own, mutated as lines are."""
    try:
        row = json.loads(line)
        found = [(value, name) for value, name in places(row) if _may_be_json(value[name])]
    except (ValueError, RecursionError):
        return line
    if not found:
        return line
    value, name = rng.choice(found)
    said = value[name]
    text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=rng.random() < 0.5)
    for _ in range(rng.choice((0, 1, 1, 2))):
        data = text.encode("utf-8", "surrogatepass") or b"{}"
        text = rng.choice(_OF_TEXTS)(data, rng, other).decode("utf-8", "surrogateescape")
    text = rng.choice(_TEXTS) if rng.random() < 0.2 else text
    value[name] = rng.choice(
        (text, text, text, text, [text], [text, 1], json.dumps(text), " " + text, {"@": text})
    )
    return json.dumps(row, ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")


def _may_be_json(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, str) and value[:1] in "{[")


def _framed(line: bytes, rng: random.Random, other: bytes) -> bytes:
    return (
        rng.choice((b"\xef\xbb\xbf", b" ", b"\t", b"", b"\x0b"))
        + line
        + rng.choice((b"\r", b" ", b"\t ", b",", b"\x00"))
    )


def _reworded(line: bytes, rng: random.Random, other: bytes) -> bytes:
    """A text of the line, mostly its longest and near its end, with something put in or left out: still JSON."""
    try:
        row = json.loads(line)
        texts = [(value, name) for value, name in places(row) if isinstance(value[name], str)]
    except (ValueError, RecursionError):
        return line
    if not texts:
        return line
    rng.shuffle(texts)
    value, name = max(texts, key=lambda at: len(at[0][at[1]])) if rng.random() < 0.7 else texts[0]
    text = value[name]
    at = rng.randrange(len(text) + 1) if rng.random() < 0.3 else max(0, len(text) - rng.randrange(40))
    value[name] = text[:at] + rng.choice(PIECES) + text[at + rng.choice((0, 0, 1, 4)) :]
    ascii_only, separators = rng.random() < 0.5, rng.choice((None, None, (",", ":")))
    return json.dumps(row, ensure_ascii=ascii_only, separators=separators).encode("utf-8", "surrogatepass")


_OF_TEXTS: Final = (_flip, _cut, _repeated, _swapped_keys, _set, _put, _inserted, _escaped, _with_odd_member)
_MUTATIONS: Final[tuple[Mutation, ...]] = (
    _reworded, _reworded, _reworded, _reworded, _reworded, _reworded, _reworded, _reworded,
    _flip, _cut, _spliced, _repeated, _swapped_keys, _set, _set, _put, _put, _inserted, _inserted, _escaped, _with_odd_member,
    _as_text, _with_text, _with_text, _framed,
)  # fmt: skip


def mutated_line(rng: random.Random, lines: tuple[bytes, ...]) -> bytes:
    """A line, nine times of ten mutated, mostly once."""
    line = rng.choice(lines)
    for _ in range(rng.choice((0, 1, 1, 1, 1, 1, 1, 2, 2, 4))):
        line = rng.choice(_MUTATIONS)(line or b"{}", rng, rng.choice(lines))
    return line.replace(b"\n", b" ")
