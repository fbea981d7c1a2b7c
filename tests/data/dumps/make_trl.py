"""``completions_00001.parquet`` and ``trl.json``: what TRL's GRPOTrainer writes and logs with ``log_completions=True``.

    python make_trl.py            # trl 1.16.0; next to records.jsonl

One step of training of a tiny random model whose rollouts are our responses (``rollout_func``), with a reward
function that matches yes or no. The prompts are conversations.
"""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path

from datasets import Dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer

HERE = Path(__file__).parent
RECORDS = [json.loads(line) for line in (HERE / "records.jsonl").read_text("utf-8").splitlines()]
TEMPLATE = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"


def tokenizer():
    letters = {letter: n for n, letter in enumerate(["<eos>", *sorted(pre_tokenizers.ByteLevel.alphabet())])}
    bytes_of = Tokenizer(models.BPE(vocab=letters, merges=[]))
    bytes_of.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytes_of.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(
        tokenizer_object=bytes_of, eos_token="<eos>", pad_token="<eos>", chat_template=TEMPLATE
    )


def rollouts(prompts, trainer):
    words, asked, ids = trainer.processing_class, {}, []
    for prompt in prompts:
        question = prompt[-1]["content"]
        (record,) = [record for record in RECORDS if record["question"] == question]
        k = asked[question] = asked.get(question, -1) + 1
        ids.append([*words.encode(record["response"][k]), words.eos_token_id])
    return {
        "prompt_ids": [words.encode(prompt[-1]["content"]) for prompt in prompts],
        "completion_ids": ids,
        "logprobs": [[0.0] * len(each) for each in ids],
    }


def rel_reward(completions, label, **_):
    found = [re.findall("<(Yes|No)>", completion[-1]["content"]) for completion in completions]
    return [float(bool(said) and said[-1] == gold) for said, gold in zip(found, label, strict=True)]


if __name__ == "__main__":
    words = tokenizer()
    config = LlamaConfig(
        vocab_size=len(words),
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=1,
        max_position_embeddings=2048,
        eos_token_id=words.eos_token_id,
        pad_token_id=words.pad_token_id,
    )
    rows = [
        {"prompt": [{"role": "user", "content": record["question"]}], "label": record["answer"]["label"]}
        for record in RECORDS
    ]
    with tempfile.TemporaryDirectory() as folder:
        trainer = GRPOTrainer(
            model=LlamaForCausalLM(config),
            processing_class=words,
            reward_funcs=rel_reward,
            train_dataset=Dataset.from_list(rows),
            rollout_func=rollouts,
            args=GRPOConfig(
                output_dir=folder,
                max_steps=1,
                per_device_train_batch_size=32,
                num_generations=4,
                max_completion_length=64,
                shuffle_dataset=False,
                log_completions=True,
                logging_steps=1,
                save_strategy="no",
                report_to=[],
                use_cpu=True,
                bf16=False,
                gradient_checkpointing=False,
                disable_tqdm=True,
            ),
        )
        trainer.train()
        (made,) = Path(folder).rglob("completions_*.parquet")
        (HERE / made.name).write_bytes(made.read_bytes())
        (entry,) = [entry for entry in trainer.state.log_history if "reward" in entry]
        reported = {
            key: entry[key] for key in ("reward", "rewards/rel_reward/mean", "rewards/rel_reward/std")
        }
        (HERE / "trl.json").write_text(json.dumps(reported) + "\n", "utf-8")
        print(reported)
