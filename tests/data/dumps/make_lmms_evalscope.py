"""The files ``lmms_eval.jsonl`` and ``evalscope.jsonl``: the first responses to the records beside this file, written
by the writers of lmms-eval 0.7.3 and EvalScope 1.14.1 (their packages, without the models)."""

import json
import sys
from pathlib import Path

HERE = Path(__file__).parent
RECORDS = [json.loads(line) for line in (HERE / "records.jsonl").read_text("utf-8").splitlines()]


def lmms_eval(folder: Path) -> Path:
    from lmms_eval.loggers.evaluation_tracker import EvaluationTracker

    tracker = EvaluationTracker(output_path=str(folder))
    tracker.general_config_tracker.model_name_sanitized = "model"
    tracker.date_id = "20261128_000000"
    samples = [
        {
            "doc_id": number,
            "doc": record,
            "target": json.dumps(record["answer"]),
            "arguments": (record["question"], {"max_new_tokens": 64, "until": ["\n\n"]}),
            "resps": [record["response"][:1]],
            # the task's filter takes the answer out of every second one
            "filtered_resps": [record["response"][0] if number % 2 else record["response"][0].split()[-1]],
            "token_counts": [{"output_tokens": 3}],
            "doc_hash": f"{number:064x}",
        }
        for number, record in enumerate(RECORDS)
    ]
    tracker.save_results_samples("rel_c1", samples)
    (path,) = folder.rglob("*_samples_rel_c1.jsonl")
    return path


def evalscope(folder: Path) -> Path:
    from evalscope.api.dataset import Sample
    from evalscope.api.evaluator.cache import CacheManager
    from evalscope.api.evaluator.state import TaskState
    from evalscope.api.messages import ChatMessageUser
    from evalscope.api.model import ModelOutput
    from evalscope.utils.io_utils import OutputsStructure

    cache = CacheManager(OutputsStructure(outputs_dir=str(folder)), "model", "rel_c1")
    for number, record in enumerate(RECORDS):
        asked = ChatMessageUser(content=record["question"])
        for repeat, text in enumerate(record["response"][:2]):
            sample = Sample(
                input=[asked], target=record["answer"]["label"], id=2 * number + repeat, group_id=number
            )
            failed = number == 0 and repeat == 1
            output = ModelOutput.from_content(
                "model", "" if failed else text, error="429 Too Many Requests" if failed else None
            )
            messages = [asked] if failed else [asked, output.message]
            cache.save_prediction_cache(
                "default", TaskState("model", sample, messages, output, completed=True)
            )
    (path,) = folder.rglob("predictions/**/*.jsonl")
    return path


if __name__ == "__main__":
    for make in (lmms_eval, evalscope):
        made = make(Path(sys.argv[1]) / make.__name__)
        (HERE / f"{make.__name__}.jsonl").write_bytes(made.read_bytes())
