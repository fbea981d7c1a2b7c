"""GRPO with TRL in an environment of many steps: SeqBench mazes walked by calls of tools, on a CPU.

A tiny random transformer whose words are whole calls of tools walks through small mazes; what it earns is
relfast's strict score of the plan that its calls make. New mazes come without end, larger ones later.
It shows how the parts fit; it was not trained until it walks.

    pip install relfast trl torch
    python examples/trl_walk.py --steps 10
"""

import argparse
import json
import tempfile
from functools import partial
from typing import Any

from datasets import IterableDataset
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, PrinterCallback
from trl import GRPOConfig, GRPOTrainer
from trl.chat_template_utils import qwen3_chat_template

from relfast.rewards.curriculum import Problems
from relfast.rewards.trl_environments import SeqBenchEnvironment, prompts

ROOMS = [f"{column}{row}" for column in "AB" for row in (1, 2, 3)]
SMALL = {"rows": 3, "cols": 2, "B": 0, "names": ("Bob", "Alice")}
CURRICULUM = [(0, {**SMALL, "L": 3}), (40, {**SMALL, "L": (3, 5)})]


def call(tool: str, **arguments: str) -> str:
    """A call of a tool as Qwen's chat template writes it."""
    return f"<tool_call>\n{json.dumps({'name': tool, 'arguments': arguments})}\n</tool_call>"


def make_tokenizer() -> PreTrainedTokenizerFast:
    """A call of a tool is one token; what else is said, a token a word. Nothing is fetched."""
    calls = [*(call("move_to", room=room) for room in ROOMS), call("rescue", name="Alice")]
    words = ["<pad>", "<|im_end|>", "<unk>", "Possible:", "move_to:", "rescue:"]
    tokenizer = Tokenizer(models.WordLevel({word: n for n, word in enumerate(words)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.add_tokens([AddedToken(text, normalized=False) for text in ["<|im_end|>", *ROOMS, *calls]])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        eos_token="<|im_end|>",
        unk_token="<unk>",
        padding_side="left",
        chat_template=qwen3_chat_template,
    )


def make_model(tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """30,000 random weights."""
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=2,
            max_position_embeddings=2048,
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
            bos_token_id=tokenizer.eos_token_id,
        )
    )


def train(steps: int, output: str, rollouts: int = 16) -> list[dict[str, Any]]:
    """Train for some steps of so many rollouts, 8 a maze; TRL's log, one entry a step."""
    tokenizer = make_tokenizer()
    problems = Problems("SeqBench", curriculum=CURRICULUM)
    trainer = GRPOTrainer(
        model=make_model(tokenizer),
        processing_class=tokenizer,
        train_dataset=IterableDataset.from_generator(prompts, gen_kwargs={"problems": problems}),
        environment_factory=partial(SeqBenchEnvironment, sight=True),
        args=GRPOConfig(
            output_dir=output,
            max_steps=steps,
            per_device_train_batch_size=rollouts,
            num_generations=8,
            max_completion_length=64,
            max_tool_calling_iterations=3,
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
    parser.add_argument("--steps", type=int, default=10)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        log = train(arguments.steps, folder)
    for entry in log[:: max(1, len(log) // 10)]:
        print(
            f"step {entry['step']:3d}  reward {entry['reward']:.3f}"
            f"  calls {entry['tools/call_frequency']:.1f}  refused {entry['tools/failure_frequency']:.2f}"
        )
