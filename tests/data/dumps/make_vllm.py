"""``vllm.jsonl``: vLLM's ``RequestOutput`` with 4 completions a prompt, a line each.

    python make_vllm.py           # next to records.jsonl

vLLM wants an accelerator and writes no file of its own: this one has the fields of its ``RequestOutput`` and
``CompletionOutput`` (vllm/outputs.py at 003d3ee), as ``json.dumps({**vars(output), "outputs": [*map(asdict, …)]})``
would write them. The prompts are what a chat template makes of the questions.
"""

from __future__ import annotations

import json
from pathlib import Path

HERE = Path(__file__).parent

if __name__ == "__main__":
    lines = []
    for n, line in enumerate((HERE / "records.jsonl").read_text("utf-8").splitlines()):
        record = json.loads(line)
        outputs = [
            {
                "index": k,
                "text": text,
                "token_ids": [],
                "cumulative_logprob": None,
                "logprobs": None,
                "routed_experts": None,
                "finish_reason": "stop",
                "stop_reason": None,
                "lora_request": None,
                "kv_transfer_params": None,
            }
            for k, text in enumerate(record["response"])
        ]
        prompt = f"<|im_start|>user\n{record['question']}<|im_end|>\n<|im_start|>assistant\n"
        row = {
            "request_id": str(n),
            "prompt": prompt,
            "prompt_token_ids": [],
            "prompt_logprobs": None,
            "outputs": outputs,
            "finished": True,
            "metrics": None,
            "lora_request": None,
            "encoder_prompt": None,
            "encoder_prompt_token_ids": None,
            "num_cached_tokens": 0,
            "kv_transfer_params_list": [],
        }
        lines.append(json.dumps(row))
    (HERE / "vllm.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
