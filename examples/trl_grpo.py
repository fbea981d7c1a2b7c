"""GRPO with TRL and a REL reward, on a CPU, in a minute or two, without downloads.

A tiny random transformer is trained to answer "are these constitutional isomers?" (REL-C1). It says words
at random, some of them tags; the reward is relfast's, strict: exactly one tag, the right one. Over 60 steps
the mean reward climbs from about 0.2 to about 0.5.

    pip install relfast trl torch
    python examples/trl_grpo.py --steps 60
"""

import argparse
import json
import tempfile
from typing import Any

from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, PrinterCallback
from trl import GRPOConfig, GRPOTrainer

from relfast.rewards.trl import reward

QUESTIONS = [
    (["CCO", "COC"], "Yes"),
    (["CCN", "CNC"], "Yes"),
    (["CC=O", "C=CO", "C1CO1"], "Yes"),
    (["CCO", "CCCO"], "No"),
    (["CC#N", "CCN"], "No"),
    (["CCCC", "CC(C)C"], "Yes"),
]


def make_dataset() -> Dataset:
    """The columns that the reward reads beside the prompt: ``task``, and gold as JSON text."""
    rows = [
        {
            "prompt": f"Are these constitutional isomers? {' '.join(molecules)}",
            "task": "REL-C1",
            "answer": json.dumps({"label": label}),
        }
        for molecules, label in QUESTIONS
    ]
    return Dataset.from_list(rows * 64)


def make_tokenizer(dataset: Dataset) -> PreTrainedTokenizerFast:
    """A word is a token; nothing is fetched."""
    words = ["<pad>", "<eos>", "<unk>", "<Yes>", "<No>", "I", "think", "so", "maybe", "not", "sure", "."]
    words += sorted({word for row in dataset["prompt"] for word in row.split()} - set(words))
    tokenizer = Tokenizer(models.WordLevel({word: n for n, word in enumerate(words)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        eos_token="<eos>",
        unk_token="<unk>",
        padding_side="left",
    )


def make_model(tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """50,000 random weights."""
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=2,
            max_position_embeddings=64,
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
            bos_token_id=tokenizer.eos_token_id,
        )
    )


def train(steps: int, output: str, dataset: Dataset, rollouts: int = 32) -> list[dict[str, Any]]:
    """Train for some steps of so many rollouts in each process; TRL's log, one entry a step."""
    tokenizer = make_tokenizer(dataset)
    trainer = GRPOTrainer(
        model=make_model(tokenizer),
        processing_class=tokenizer,
        reward_funcs=reward,
        train_dataset=dataset,
        args=GRPOConfig(
            output_dir=output,
            max_steps=steps,
            per_device_train_batch_size=rollouts,
            num_generations=8,
            max_completion_length=6,
            learning_rate=1e-2,
            lr_scheduler_type="constant",
            gradient_checkpointing=False,
            beta=0.0,
            logging_steps=1,
            save_strategy="no",
            report_to=[],
            use_cpu=True,
            bf16=False,
            disable_tqdm=True,
            seed=0,
        ),
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    return [entry for entry in trainer.state.log_history if "reward" in entry]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--steps", type=int, default=60)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        log = train(arguments.steps, folder, make_dataset())
    for entry in log[:: max(1, len(log) // 10)]:
        print(
            f"step {entry['step']:3d}  reward {entry['reward']:.3f}"
            f"  answered {entry['relfast/answered']:.2f}  correct {entry['relfast/correct']:.2f}"
        )
