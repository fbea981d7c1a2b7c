"""Dumps as other programs write them, of published records and the prose of real model solutions.

Each `Dump` is a way in which people's files differ from our own: its dialect, how JSON was written, what stands in
gold, reasoning, samples, and the options of the command. Seeded, so that everybody measures the same.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import failed_rows
import tool_rows
from corpora import rel_records, solutions
from honest import answer as honest_answer

Json = dict[str, Any]

N_CHARS: Final = 2_000
"""Characters of a response, about: a solution or two."""

_TYPOGRAPHIC: Final = {"'": "’", "->": "→", " - ": " — ", "times": "×", "approximately": "≈", "...": "…"}
"""What models write without being asked, and `json.dumps` escapes."""

_DIGIT: Final = re.compile("[0-9]")
_MARK: Final = "≈ "
_SAMPLES: Final = 8
PROMPT_OPENS: Final = b"Problem "
"""How each question begins where a row is a prompt of its own; a number follows."""


@cache
def _bodies() -> tuple[str, ...]:
    """Prose of real model solutions, each of about `N_CHARS` characters, in ASCII."""
    rng = random.Random(0)
    texts = [row["llm_solution"] for row in solutions()]
    texts = [text for text in texts if text.isascii() and len(text) > 200]
    bodies = []
    for _ in range(500):
        body = ""
        while len(body) < N_CHARS - 200:
            body += rng.choice(texts).strip()[:N_CHARS] + "\n\n"
        bodies.append(body.rstrip())
    return tuple(bodies)


def typographic(prose: str) -> str:
    """Prose with what models write without being asked."""
    for plain, other in _TYPOGRAPHIC.items():
        prose = prose.replace(plain, other)
    return _MARK + prose


def _final(task: str, answer: Json, rng: random.Random) -> str:
    """How a response ends: right about half of the time."""
    right = rng.random() < 0.5
    if task.startswith("REL-A"):
        number = answer["target"] + 1 if right else rng.randint(1, 8)
        return rng.choice(("**Answer: {}**", "Answer {}", "The missing panel is Answer {}.")).format(number)
    if task == "REL-B1":
        if answer["label"] == "no" or not right:
            return "No"
        return "Yes. " + ", ".join(f"taxon_{taxon}" for taxon in answer["taxa"])
    label = answer["label"] if right else rng.choice(("Yes", "No"))
    return f"<{label}>"


@dataclass(frozen=True)
class Dump:
    """One kind of dump.

    Attributes
    ----------
    row
        A record, its responses and its number → the row (``answer`` as gold stands in the record).
    options
        Of ``relfast score``; ``{data}`` stands for a file of the records.
    tasks
        Which tasks, with repetition for their shares.
    samples
        Responses a row.
    escapes
        Share of responses with characters that ``json.dumps`` escapes.
    ascii
        Whether they are escaped (``ensure_ascii``), or written as UTF-8.
    failed
        Share of rows whose request failed, and what becomes of them.
    prompts
        Whether each row is a prompt of its own, as in most people's files, with an id and a question of its own. Else
        a row is a further response to one of the published records.
    golds
        Whether each row has a gold of its own as well: another member beside the published ones.
    left
        Share of responses with a character that kernels leave to Python.
    rows
        Rows of a whole benchmark.
    unmet
        Whether no sentence with a number stands in two responses, and answers are written in all the ways in which
        models write them, not in three.
    body
        What becomes of a response's prose and its final answer.
    """

    row: Callable[[Json, list[str], int], Json]
    options: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ("REL-A1", "REL-A2", "REL-C1")
    samples: int = 1
    escapes: float = 0.0
    ascii: bool = True
    failed: tuple[float, Callable[[Json, random.Random], Json]] | None = None
    prompts: bool = False
    golds: bool = False
    left: float = 0.0
    rows: int = 100_000
    unmet: bool = False
    body: Callable[[str, str], str] = field(default=lambda prose, final: f"{prose}\n\n{final}")

    def write(self, path: Path, n: int, *, seed: int = 0) -> int:
        """Write ``n`` rows, and the records they are of beside it; returns the file's size."""
        gold: dict[str, Json] = {}
        rng = random.Random(seed)
        with path.open("w", encoding="utf-8") as file:
            for number, (record, responses) in enumerate(self._responses(n, seed)):
                gold[record["id"]] = record
                row = self.row(record, responses, number)
                if self.failed is not None and rng.random() < self.failed[0]:
                    row = self.failed[1](row, rng)
                file.write(json.dumps(row, ensure_ascii=self.ascii) + "\n")
        data_of(path).write_text("".join(json.dumps(row) + "\n" for row in gold.values()), "utf-8")
        return path.stat().st_size

    def arguments(self, path: Path) -> list[str]:
        """The options of the command for a written dump."""
        return [option.format(data=data_of(path)) for option in self.options]

    def _responses(self, n: int, seed: int) -> Iterator[tuple[Json, list[str]]]:
        rng = random.Random(seed)
        pools = {task: rel_records(task) for task in self.tasks}
        bodies = _bodies()
        for number in range(n):
            task = rng.choice(self.tasks)
            record = rng.choice(pools[task])
            if self.prompts:
                asked = f"{PROMPT_OPENS.decode()}{number + 1}\n\n{record['question']}"
                record = record | {"id": f"{record['id']}-{number}", "question": asked}
            if self.golds:
                record = record | {"answer": record["answer"] | {"seed": number}}
            responses = []
            for _ in range(self.samples):
                prose = rng.choice(bodies)
                if self.unmet:
                    prose = _DIGIT.sub(lambda _: rng.choice("0123456789"), prose)
                if rng.random() < self.escapes:
                    prose = typographic(prose)
                if rng.random() < self.left:
                    prose += "\n\nStep \ud835"  # half of a letter: JSON can say it, UTF-8 cannot
                if self.unmet:
                    final = honest_answer(record if rng.random() < 0.5 else rng.choice(pools[task]), rng)
                else:
                    final = _final(task, record["answer"], rng)
                responses.append(self.body(prose, final))
            yield record, responses


def data_of(path: Path) -> Path:
    """The file of records that belongs to a dump."""
    return path.with_suffix(".records.jsonl")


def _bare(record: Json) -> Json:
    return {name: record[name] for name in ("id", "task", "answer")}


def _native(record: Json, responses: list[str], number: int) -> Json:
    return {**_bare(record), "response": responses[0] if len(responses) == 1 else responses}


def _chat(record: Json, said: list[str]) -> list[Json]:
    return [{"role": "user", "content": record["question"]}, {"role": "assistant", "content": said[0]}]


def _with_special_tokens(prose: str, final: str) -> str:
    """As a server or trainer writes it that decodes with ``skip_special_tokens=False``: gpt-oss, Qwen with and
    without thoughts, Llama 3, a recipe for GRPO on Mistral."""
    kinds = (
        f"<|channel|>analysis<|message|>{prose}<|end|><|start|>assistant<|channel|>final<|message|>{final}<|return|>",
        f"<think>\n{prose}\n</think>\n\n{final}<|im_end|>",
        f"{prose}\n\n{final}<|im_end|>\n<|endoftext|>",
        f"{prose}\n\n{final}<|eot_id|>",
        f"<reasoning>\n{prose}\n</reasoning>\n{final}</s>",
    )
    return kinds[len(prose) % len(kinds)]


STRICT: Final = ("--policy", "strict")
JOINED: Final = ("--data", "{data}")

DUMPS: Final = {
    "native": Dump(_native),
    "native, strict": Dump(_native, STRICT),
    "native, strict, all ways to answer, no sentence met before": Dump(
        _native,
        STRICT,
        tasks=("REL-A1", "REL-A2", "REL-A3", "REL-A4", "REL-B1", "REL-C1"),
        escapes=0.15,
        unmet=True,
    ),
    "native with questions": Dump(lambda record, said, _: record | {"model": "a-model", "response": said[0]}),
    "details": Dump(_native, ("--details",)),
    "strip-reasoning": Dump(
        _native, ("--strip-reasoning",), body=lambda prose, final: f"<think>\n{prose}\n</think>\n\n{final}"
    ),
    "thinking, strict": Dump(
        _native,
        STRICT,
        body=lambda prose, final: f"<think>\n{prose}\n</think>\n\n**Final answer**\n\n{final}",
    ),
    "special tokens kept, strict": Dump(_native, STRICT, body=_with_special_tokens),
    "answer as JSON text": Dump(
        lambda record, said, at: {**_native(record, said, at), "answer": json.dumps(record["answer"])}
    ),
    "8 samples a line": Dump(_native, samples=_SAMPLES),
    "chat messages": Dump(lambda record, said, _: {**_bare(record), "response": _chat(record, said)}),
    "--data join": Dump(lambda record, said, _: {"id": record["id"], "response": said[0]}, JOINED),
    "OpenAI batch with --data": Dump(tool_rows.openai, JOINED),
    "lm-eval samples": Dump(tool_rows.lm_eval),
    "verl rollouts": Dump(
        lambda record, said, at: {**tool_rows.verl(record, said, at), "data_source": record["task"]}
    ),
    # as ``json.dumps({"id": …, **vars(output), "outputs": [asdict(each) …]})`` writes it
    "vLLM outputs": Dump(lambda record, said, at: {**_bare(record), **tool_rows.vllm(record, said, at)}),
    r"native, 15 % with \uXXXX, 20 % REL-B1": Dump(
        _native, tasks=("REL-A1", "REL-A2", "REL-C1", "REL-C1", "REL-B1"), escapes=0.15
    ),
    "vLLM outputs joined by prompt": Dump(tool_rows.vllm, JOINED),
    "verifiers rollouts": Dump(tool_rows.rollout),
    "verifiers traces, 4 a task": Dump(tool_rows.traces, samples=4),
    "TRL completions, strict, joined by prompt": Dump(tool_rows.trl, (*STRICT, *JOINED)),
    "Inspect samples": Dump(tool_rows.inspect, escapes=0.3, ascii=False),
    "Anthropic batch with thinking": Dump(tool_rows.anthropic, JOINED),
    "native, 5 % of requests failed": Dump(_native, failed=(0.05, failed_rows.of_client)),
    "native, strict, 8 samples a line, 5 % of rows with failures": Dump(
        _native, STRICT, samples=_SAMPLES, failed=(0.05, failed_rows.of_client)
    ),
    "OpenAI batch with --data, 5 % of requests failed": Dump(
        tool_rows.openai, JOINED, failed=(0.05, failed_rows.of_batch)
    ),
    "native in UTF-8": Dump(_native, escapes=0.5, ascii=False),
}
"""By what the dump is, as benchmarks and README name it."""

_DIALECTS: Final = (
    "native", "answer as JSON text", "8 samples a line", "chat messages", "--data join", "OpenAI batch with --data",
    "lm-eval samples", "verl rollouts", "vLLM outputs", "verifiers rollouts", "Inspect samples",
    "Anthropic batch with thinking",
)  # fmt: skip
_TEXT_TASKS: Final = ("REL-A1", "REL-A2", "REL-A3", "REL-A4", "REL-B1", "REL-C1", "REL-C1", "REL-C1")


def _in_words(words: str) -> Callable[[str, str], str]:
    """A response with prose in another script: as many words of it as the prose has."""
    known = words.split()
    return lambda prose, final: (
        " ".join(known[len(word) * k % len(known)] for k, word in enumerate(prose.split())) + f"\n\n{final}"
    )


def _as_others_write() -> Iterator[tuple[str, Dump]]:
    theirs = {"prompts": True, "tasks": _TEXT_TASKS, "escapes": 0.15}
    for dialect in _DIALECTS:
        plain = replace(DUMPS[dialect], **theirs)  # type: ignore[arg-type]
        yield dialect, plain
        yield f"{dialect}, strict", replace(plain, options=(*STRICT, *plain.options))
    native = replace(DUMPS["native"], **theirs)  # type: ignore[arg-type]
    joined = replace(DUMPS["--data join"], **theirs)  # type: ignore[arg-type]
    yield "golds all distinct", replace(native, golds=True)
    yield "10 % left to Python", replace(native, left=0.1)
    yield "130,000 golds joined", replace(joined, rows=130_000)
    yield "260,000 golds joined", replace(joined, rows=260_000)
    turkish = "ışığın kırılması için üçüncü şıkkı doğru buluyoruz çünkü değer İkinci satırda artıyor"
    chinese = "因此 我们 可以 得出 第三 个 图形 的 数量 逐行 增加， 所以 答案 是"
    yield "Turkish prose", replace(native, body=_in_words(turkish), ascii=False)
    yield "Chinese prose", replace(native, body=_in_words(chinese), ascii=False)


PROMPTS: Final = {f"{kind}, a prompt a row": dump for kind, dump in _as_others_write()}
"""Files as most people have them: as many prompts as rows, golds drawn from all published records of all text tasks."""
