"""Lines as programs write them, in every dialect, and damaged ones: what both ways of reading must agree on."""

from __future__ import annotations

import json
import random
from typing import Any, Final

Json = dict[str, Any]

PIECES: Final = [
    "Answer", "answer", "ANSWER", "nswer", "swer", "Answer 4", "Answer #3", "Answer # \n 2", "Answer\t8", "answer 9",
    "Answer 0", "Answer 17", "Answer" + "0" * 30 + "3", "Answer\u00a05", "Answer\u202f#\u30006", "Answer\x1c7", "Answer\x0b2",
    "<Yes>", "<no>", "< YES >", "<\nNo\t>", "<\u2009yes\u00a0>", "<Yes", "<Maybe>", "<", ">",
    "yes", "no", "Yes.", "No.", "eyes", "now", "\no", "n\no", "\\no", "\\\\no", "taxon_15", "taxon 3", "taxon\n7", "TAXON_4",
    "taxon\u00a09", "taxon\u202f15", "\taxon_5", "taxon", "taxon_", "xon", "15", "4th", "_4", "4_", "3.5", "-2", "\n4",
    "\\4", "4\\", "\"4\"", "8", "0", "00", "3 3 15 15 3", " ", "  ", "\n", "\t", "\r", "\f", "\b", "\x0b", "\x1c", "\x1f", "\x85",
    "/", "\\", "\"", "é", "ſ", "４", "–", "“", "×", "→", "你", "Ω", "4é", "é4", "–4–", "4你", "②", "½", "\u00a0", "K", "İ", "ı",
    "\u2028", "\x00", "\x7f", "😀", "\u0301", "ǅ", "٣", "𝟜", "ａ4", ",", ".", "#", "<think>", "</think>", "<THINK>", "</Think>",
    "<thinking>", "</thinking>", "[think]", "[/THINK]", "◁think▷", "<|channel|>final<|message|>", "<|im_end|>", "</s>", "[EOS]",
    "analysis", "Analysis", "assistantfinal", "<｜end▁of▁sentence｜>", "[1]", "[/x]", "</", "<eos>", "<seed:think>",
    "a" * 70, "no" * 40, "1" * 5000, " ".join(map(str, range(300))), "\ud83d", "\udc00",
]  # fmt: skip
"""What extractors, reasoning's marks and JSON's escapes may stumble over."""

_MARKS: Final = ("<t", "</", "<T", "[", "◁", "<|", "<｜", "analysis", "Analysis", "<eos", "<seed")

TASKS: Final = [
    "REL-A1",
    "rel-a7",
    "REL-A8",
    "REL-B1",
    "Rel-b1",
    "REL-C1",
    "rel-c1",
    "REL-C2",
    "REL-A",
    "REL-B2",
    None,
    1,
]
_COMMON: Final = ["REL-A1", "REL-A2", "REL-B1", "REL-C1"]
GOLD_IDS: Final = ["g0", "g1", "é", "7", 8, 'q"', "a b", "-3", 10**20, "01", "x\\y", "\n"]


class Dice(random.Random):
    """Chance, and how wild the line at hand is: from 0 (what is usual) to 1."""

    wild = 1.0

    def rare(self, share: float) -> bool:
        """Whether to do what is unusual, in this share of the wildest lines."""
        return self.random() < share * self.wild


def _task(rng: Dice) -> Any:
    return rng.choice(TASKS if rng.rare(0.2) else _COMMON)


def _answer(rng: Dice, task: Any) -> Any:
    kind = str(task).upper()
    if rng.rare(0.1):
        return rng.choice(
            [{}, [], None, "x", "3", "{}", {"label": "no"}, {"label": "yes"}, {"taxa": [1]}, {"target": 3, "target2": {"a": [1, {"b": []}]}}]
        )  # fmt: skip
    if kind.startswith("REL-A"):
        return {
            "target": rng.choice(
                [0, 1, 2, 3, 7, 7, 8] if not rng.rare(0.5) else [10, -1, True, None, "1", 1.0, 10**25]
            )
        }
    if kind == "REL-B1":
        taxa: Any = (
            rng.choices(
                [15, 3, 7, "15", "x", "X", "é", "İ", 3.0, None, 10**19, 10**17, 'a"b'],
                [9, 9, 9, 5] + [1] * 9,
                k=rng.randrange(5),
            )
            if rng.rare(0.7)
            else rng.sample(range(20), rng.randrange(1, 5))
        )
        taxa = taxa if not rng.rare(0.1) else rng.choice([None, 0, 3, 0.0, True, False, "15", {"15": 1}])
        label = (
            rng.choice(["yes", "no", "Yes", "No", "YES"])
            if not rng.rare(0.1)
            else rng.choice(["maybe", None, 1])
        )
        return {"label": label, "taxa": taxa} if rng.random() < 0.9 else {"label": label}
    return {
        "label": rng.choice(["Yes", "No"] if not rng.rare(0.4) else ["yes", "Ye\\s", "", None, 1]),
        "molecules": ["C/C=C\\C", "[C@H]", "é"],
    }


def _text(rng: Dice) -> str:
    # few of the pieces are for the exact way alone
    pieces = rng.choices(PIECES, k=rng.randrange(7))
    if not rng.rare(0.5):
        pieces = [piece for piece in pieces if not piece.startswith(_MARKS) or rng.random() < 0.1]
    if not rng.rare(0.2):
        pieces = [
            piece
            for piece in pieces
            if piece not in ("\ud83d", "\udc00", "1" * 5000, "ſ", "４", "K", "İ", "ı", "٣", "𝟜")
        ]
    return rng.choice(["", "", " ", "\n"]).join(pieces)


def _message(rng: Dice) -> Any:
    message: Json = {
        "role": rng.choice(["assistant", "assistant", "user", "system"] if not rng.rare(0.1) else [3, "é"]),
        "content": _text(rng),
    }
    if rng.rare(0.2):
        message["content"] = rng.choice(
            [None, [], [{"type": "text", "text": _text(rng)}], [{"type": "text", "text": "a"}, {"type": "text", "text": "4"}],
             [{"text": "4"}], [{"type": "refusal", "refusal": "no"}], [{"type": "output_text", "text": "<Yes>"}], 3]
        )  # fmt: skip
    if rng.random() < 0.3:
        message["refusal"] = "I cannot" if rng.rare(0.3) else rng.choice([None, ""])
    if rng.rare(0.05):
        message.pop(rng.choice(list(message)))
    return message


def _response(rng: Dice) -> Any:
    kind = rng.random()
    if kind < 0.55:
        return _text(rng)
    if kind < 0.75:
        return [_text(rng) for _ in range(rng.randrange(1, 6))]
    if kind < 0.9:
        return [_message(rng) for _ in range(rng.randrange(3))] + [
            {"role": "assistant", "content": _text(rng)}
        ]
    if kind < 0.95 or not rng.rare(0.5):
        return [[_message(rng), _message(rng)], _text(rng)]
    return rng.choice(
        [None, 3, {}, [], [None], [3], {"text": "4"}, [[]], [_text(rng), None], [{"role": "assistant"}]]
    )


def _id(rng: Dice) -> Any:
    if not rng.rare(0.5):
        return rng.choice(["g0", "g1", "g2", "g3", "é", "7", 8, "a b"])
    if rng.random() < 0.5:
        return rng.choice([*GOLD_IDS, 7, "8", 3, -3, "10", 1])
    return rng.choice(
        [
            "a",
            "id-1",
            "é",
            'q"',
            "",
            "x\\y",
            "你\n",
            "\x7f",
            0,
            3,
            10**17,
            10**18,
            10**30,
            -1,
            None,
            0.5,
            True,
            [1],
            "😀",
            "\ud800",
        ]
    )


def _more(rng: Dice, row: Json) -> None:
    for _ in range(rng.randrange(3) if rng.rare(0.6) else 0):
        name = rng.choice(
            ["question", "metadata", "domain", "output", "doc", "gts", "x", "error", "status_code", "filter", "custom_id", "resps",
             "instance_id", "completion", "llm_solution", "task", "answer", "response", "input", "id", "uid", "é", "a\nb"]
        )  # fmt: skip
        if name in row and rng.random() < 0.9:
            continue
        row[name] = rng.choice(
            [None, None, None, 0, 200, 500, "x", "", [], {}, [1, [2.5, {"a": None}]], {"error": "x"}, 1e300, -0.0, 10**40, "\u1234", "\ud800", True]
        )  # fmt: skip


def row(rng: Dice) -> Any:
    """A row of some dialect, or nearly one."""
    dialect = rng.choice(
        ["native", "native", "native", "openai", "lm-eval", "lm-eval", "verl", "verl", "vllm", "vllm", "join"]
    )
    task = _task(rng)
    answer = _answer(rng, task)
    if rng.random() < 0.25 and isinstance(answer, dict) and dialect != "verl":
        answer = json.dumps(answer, ensure_ascii=rng.random() < 0.5, indent=1 if rng.rare(0.3) else None)
    result: Json
    if dialect == "native":
        result = {"id": _id(rng), "task": task, "answer": answer, "response": _response(rng)}
    elif dialect == "join":
        result = {"id": _id(rng), "response": _response(rng)}
        if rng.random() < 0.3:
            result["task"] = task
        if rng.random() < 0.1:
            result["answer"] = answer
    elif dialect == "openai":
        choices: list[Any] = [
            {
                "index": k,
                "message": _message(rng),
                "finish_reason": rng.choice(["stop", "content_filter", None]),
            }
            if rng.random() < 0.9
            else {"text": _text(rng), "index": k}
            for k in range(rng.choice([1, 1, 1, 2]) if not rng.rare(0.1) else 0)
        ]
        body: Json = {"id": "x", "choices": choices, "usage": {"total_tokens": 3}}
        if rng.random() < 0.1:
            body["error"] = rng.choice([None, "no", {"message": "x"}])
        status = rng.choice([200, 201, 429, None, "200"]) if rng.rare(0.4) else 200
        response = {"status_code": status, "request_id": "é", "body": body if not rng.rare(0.05) else None}
        result = {
            "id": "b",
            "custom_id": _id(rng),
            "response": response if not rng.rare(0.05) else rng.choice([None, "4"]),
            "error": None,
        }
    elif dialect == "vllm":
        outputs: list[Any] = [
            {"index": k, "text": _text(rng), "finish_reason": rng.choice(["stop", "length", "abort", None])}
            for k in range(rng.choice([1, 1, 1, 2, 3]))
        ]
        if rng.rare(0.1):
            outputs = rng.choice(
                [[], None, ["4"], [{"index": 0}], [{"text": None}], [{"text": ""}], {"text": "4"}]
            )
        result = {"request_id": _id(rng), "prompt": _text(rng), "outputs": outputs, "finished": True}
        if rng.random() < 0.6:
            result |= {"id": _id(rng), "task": task, "answer": answer if not rng.rare(0.1) else [answer]}
        if rng.rare(0.2):
            result |= {"messages": rng.choice([None, "x", [{"role": "user", "content": _text(rng)}]])}
        if rng.rare(0.1):
            result.pop(rng.choice(list(result)))
    elif dialect == "lm-eval":
        doc = {"id": _id(rng), "task": task, "answer": answer, "question": "q"}
        if rng.rare(0.1):
            doc.pop(rng.choice(list(doc)))
        resps: Any = [
            [_text(rng) for _ in range(rng.randrange(1, 3))] for _ in range(rng.choice([1, 1, 1, 2]))
        ]
        if rng.rare(0.1):
            resps = rng.choice(
                [None, [], _text(rng), [_text(rng)], [[]], [[["4"]]], [{"a": 1}], [["4", None]]]
            )
        result = {
            "doc_id": rng.choice([3, "d", None]),
            "doc": doc if not rng.rare(0.03) else None,
            "resps": resps,
        }
        result["filtered_resps"] = [_text(rng)]
        if rng.random() < 0.7:
            result["filter"] = rng.choice(["strict-match", None, 3, "é"]) if rng.rare(0.5) else "none"
    else:
        result = {
            "input": _text(rng),
            "output": _response(rng),
            "gts": json.dumps(answer) if not rng.rare(0.2) else answer,
            "score": 0.0,
        }
        if not rng.rare(0.2):
            result["data_source"] = rng.choice([task, task, "my/data", "rel-bench", "é", None, ["x"]])
        if rng.random() < 0.2:
            result["task"] = task
        if rng.rare(0.1):
            result[rng.choice(["input", "gts"])] = rng.choice([None, 3, {}, [1]])
    _more(rng, result)
    if rng.rare(0.05):
        result.pop(rng.choice(list(result)))
    if rng.random() < 0.1 and "task" in result:
        del result["task"]
    names = list(result)
    if rng.random() < 0.3:
        rng.shuffle(names)
    return {name: result[name] for name in names}


_DAMAGE: Final = [
    b"",
    b'"',
    b"\\",
    b"}",
    b"{",
    b",",
    b" ",
    b"0",
    b"\x01",
    b"\xff",
    b"\t",
    b"x",
    b"]",
    b"[",
    b":",
    b"\\u00e9",
    b"\\ud83d",
    b"\\u000a",
    b"-",
    b"e9",
    b"\xe2\x80",
]


def line(rng: Dice) -> bytes:
    """A line of one row: written in one of the ways JSON is, some of them damaged."""
    rng.wild = rng.choice([0.0, 0.3, 1.0])
    value = row(rng)
    separators = rng.choice([None, (",", ":")])
    data = json.dumps(value, ensure_ascii=rng.random() < 0.5, separators=separators).encode(
        "utf-8", "surrogatepass"
    )
    if rng.rare(0.05) and data.startswith(b'{"'):
        data = b'{"id": 3, ' + data[1:]  # a key twice
    if rng.rare(0.3):
        for _ in range(rng.choice([1, 1, 1, 2])):
            at = rng.randrange(len(data) + 1)
            data = data[:at] + rng.choice(_DAMAGE) + data[at + rng.randrange(2) :]
    return data.replace(b"\n", b" ") + rng.choice([b"", b"", b"", b"\r", b"  "])


def gold_lines(rng: Dice) -> list[bytes]:
    """A file of gold records with the ids that rows have, of all kinds."""
    result = []
    rng.wild = 0.3
    for record_id in [*GOLD_IDS, "g2", "g3"]:
        task = rng.choice(_COMMON)
        answer: Any = _answer(rng, task)
        if rng.random() < 0.2:
            answer = json.dumps(answer)
        record: Json = {"id": record_id, "task": task, "answer": answer}
        if rng.rare(0.4):
            record["task"] = rng.choice(["REL-C2", None, "nobody"])
        if rng.random() < 0.1:
            del record["task"]
        result.append(json.dumps(record).encode())
    return result
