"""``inspect.eval`` and ``inspect.json``: 8 samples × 4 epochs by Inspect's mock model, scored by a match.

In the second, one epoch of a sample failed; its transcripts and tracebacks are left out, which would be most of it.

    python make_inspect.py        # inspect_ai 0.3.285; next to records.jsonl
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from pathlib import Path

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import ChatMessageUser, ModelOutput, get_model
from inspect_ai.scorer import CORRECT, INCORRECT, Score, accuracy, scorer, stderr
from inspect_ai.solver import generate

HERE = Path(__file__).parent
RECORDS = [json.loads(line) for line in (HERE / "records.jsonl").read_text("utf-8").splitlines()]
ASKED: dict[str, int] = {}
FAILING: list[bool] = []


def answer(input, tools, tool_choice, config):
    """The next of a record's responses; of the second log, the last record's third request fails."""
    record = next(record for record in RECORDS if record["question"] == input[-1].text)
    n = ASKED[record["id"]] = ASKED.get(record["id"], -1) + 1
    if FAILING and record is RECORDS[-1] and n == 2:
        raise RuntimeError("the server is overloaded")
    return ModelOutput.from_content("mockllm/model", record["response"][n % 4])


async def no_tokens(*_args, **_options):
    return 0


@scorer(metrics=[accuracy(), stderr()])
def yes_or_no():
    async def score(state, target):
        found = re.findall(r"<(Yes|No)>", state.output.completion)
        right = bool(found) and found[-1] == json.loads(state.metadata["gold"])["label"]
        return Score(value=CORRECT if right else INCORRECT)

    return score


def task(gold_in: str) -> Task:
    samples = [
        Sample(
            id=record["id"],
            input=[ChatMessageUser(content=record["question"])],
            target=json.dumps(record["answer"]) if gold_in == "target" else record["answer"]["label"],
            metadata={
                "gold": json.dumps(record["answer"]),
                **({"task": record["task"], "answer": record["answer"]} if gold_in == "metadata" else {}),
            },
        )
        for record in RECORDS
    ]
    return Task(MemoryDataset(samples), solver=generate(), scorer=yes_or_no(), epochs=4, name="rel_c1")


if __name__ == "__main__":
    for gold_in, name in (("metadata", "inspect.eval"), ("target", "inspect.json")):
        ASKED.clear()
        if name == "inspect.json":
            FAILING.append(True)
        model = get_model("mockllm/model", custom_outputs=answer, memoize=False)
        model.api.count_tokens = no_tokens  # else it loads a tokenizer from the network
        with tempfile.TemporaryDirectory() as folder:
            (log,) = eval(
                task(gold_in),
                model=model,
                log_dir=folder,
                fail_on_error=False,
                max_samples=1,
                max_connections=1,
                display="none",
                score_display=False,
            )
            made = Path(log.location)
            if name.endswith(".eval"):
                shutil.copy(made, HERE / name)
            else:
                log = read_eval_log(str(made))
                for sample in log.samples:
                    sample.events = []
                    if sample.error is not None:
                        sample.error.traceback = sample.error.traceback_ansi = ""
                write_eval_log(log, str(HERE / name))
        print(name, log.results.scores[0].metrics)
