"""``vllm.jsonl`` and ``vllm_batch.jsonl``: vLLM's ``RequestOutput``\\ s and its batch runner's output, ``n=4``.

    python make_vllm.py           # vllm 0.33.0, its wheel unpacked; next to records.jsonl

Everything behind the engine is vLLM's own: requests with ``n=4`` go to its output processor, which takes tokens
and gives ``RequestOutput``\\ s with detokenized text; its chat server makes answers of them, and its batch runner
writes these. The engine itself wants an accelerator and a model: the tokens are our responses', as a small
tokenizer made of the records cuts them. vLLM writes ``RequestOutput``\\ s to no file: a line each is what
``json.dumps({**vars(output), "outputs": [asdict(each) for each in output.outputs]})`` makes of them. The
batch's last request is one that the engine refused.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import tempfile
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast
from vllm.entrypoints.generate.base.protocol import RequestResponseMetadata
from vllm.entrypoints.launchers import run_batch
from vllm.entrypoints.openai.chat_completion.serving import OpenAIServingChat
from vllm.exceptions import GenerationError
from vllm.sampling_params import RequestOutputKind, SamplingParams
from vllm.v1.engine import EngineCoreOutput, EngineCoreRequest, FinishReason
from vllm.v1.engine.output_processor import OutputProcessor
from vllm.v1.engine.parallel_sampling import ParentRequest

HERE = Path(__file__).parent
RECORDS = [json.loads(line) for line in (HERE / "records.jsonl").read_text("utf-8").splitlines()]
END = "<|im_end|>"


def tokenizer():
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=1500,
        special_tokens=[END, "<|im_start|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    texts = [text for record in RECORDS for text in (record["question"], *record["response"])]
    bpe.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=bpe, eos_token=END)


def generate(words, record, number):
    """What the engine gives for a prompt: ``RequestOutput``."""
    prompt = f"<|im_start|>user\n{record['question']}{END}\n<|im_start|>assistant\n"
    params = SamplingParams(n=4, temperature=1.0, max_tokens=64, output_kind=RequestOutputKind.FINAL_ONLY)
    request = EngineCoreRequest(
        request_id=str(number),
        prompt_token_ids=words.encode(prompt),
        mm_features=None,
        sampling_params=params,
        pooling_params=None,
        arrival_time=0.0,
        lora_request=None,
        cache_salt=None,
        data_parallel_rank=None,
        external_req_id=str(number),
    )
    processor = OutputProcessor(words, log_stats=False)
    parent = ParentRequest(request)
    coming = {}
    for at, text in enumerate(record["response"]):
        id, child = parent.get_child_info(at)
        one = EngineCoreRequest(
            **{name: getattr(request, name) for name in request.__struct_fields__}
            | {"request_id": id, "sampling_params": child}
        )
        processor.add_request(one, prompt, parent, at)
        coming[id] = [*words.encode(text), words.eos_token_id]
    done = []
    for step in range(max(map(len, coming.values()))):
        outputs = [
            EngineCoreOutput(
                request_id=id,
                new_token_ids=[tokens[step]],
                finish_reason=FinishReason.STOP if step == len(tokens) - 1 else None,
            )
            for id, tokens in coming.items()
            if step < len(tokens)
        ]
        done += processor.process_outputs(outputs).request_outputs
    (output,) = done
    assert [each.text for each in output.outputs] == record["response"]
    return output


async def batch(outputs, path: Path) -> None:
    """The file of vLLM's batch runner, whose chat server answers with these outputs."""
    server = object.__new__(OpenAIServingChat)
    vars(server).update(
        response_role="assistant",
        enable_auto_tools=False,
        parser_cls=None,
        enable_prompt_tokens_details=False,
        enable_per_request_metrics=False,
        enable_log_outputs=False,
        request_logger=None,
        system_fingerprint=None,
        _include_reasoning_tokens_details=False,
    )

    async def answer(request):
        asked = request.messages[-1]["content"]
        found = [n for n, record in enumerate(RECORDS) if record["question"] == asked]
        if not found:
            raise GenerationError("the engine refused this request")

        async def results():
            yield outputs[found[0]]

        return await server.chat_completion_full_generator(
            request,
            results(),
            f"chatcmpl-{found[0]}",
            "planned",
            request.messages,
            None,
            RequestResponseMetadata(request_id="0"),
        )

    registry = {
        "completions": {
            "url": "/v1/chat/completions",
            "handler_getter": lambda: answer,
            "wrapper_fn": None,
        }
    }
    asked = [*((record["id"], record["question"]) for record in RECORDS), ("refused", "?")]
    lines = [
        json.dumps(
            {
                "custom_id": id,
                "method": "POST",
                "url": "/v1/chat/completions",
                "body": {
                    "model": "planned",
                    "messages": [{"role": "user", "content": question}],
                    "n": 4,
                },
            }
        )
        for id, question in asked
    ]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "in.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
        async with (
            run_batch.open_batch_input(str(Path(folder) / "in.jsonl"), None) as given,
            run_batch.batch_output_writer(str(path), None) as made,
        ):
            assert run_batch.validate_batch(given) == len(asked)
            given.seek(0)
            tracker = run_batch.BatchProgressTracker()
            with tracker.pbar(total=len(asked)):
                await run_batch.dispatch_batch(given, made, registry, tracker, 4)


if __name__ == "__main__":
    words = tokenizer()
    outputs = [generate(words, record, n) for n, record in enumerate(RECORDS)]
    lines = [
        json.dumps({**vars(output), "outputs": [dataclasses.asdict(each) for each in output.outputs]})
        for output in outputs
    ]
    (HERE / "vllm.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    asyncio.run(batch(outputs, HERE / "vllm_batch.jsonl"))
