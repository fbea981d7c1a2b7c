"""Rows as tools write them, field by field: a record, its responses and a number → a row, gold in it or not.

Names and order of fields are those of the tools' own writers (inspect_ai 0.3, verifiers 0.1 and 0.4, TRL 1.16,
lighteval 0.13, crfm-helm 0.5, OpenCompass 0.5, vLLM 0.33, NeMo-Skills of 025b4859, skyrl-train of 05885025) and of the batch
interfaces' documentation.
"""

from __future__ import annotations

import json
from typing import Any

Json = dict[str, Any]


def _template(record: Json) -> str:
    return f"<|im_start|>user\n{record['question']}<|im_end|>\n<|im_start|>assistant\n"


def _messages(record: Json) -> list[Json]:
    system = {"role": "system", "content": "You are a careful scientist."}
    return [system, {"role": "user", "content": record["question"]}]


def _uuid(number: int) -> str:
    return f"{number:08x}-0000-4000-8000-000000000000"


def _tokens(text: str, number: int, step: int) -> list[int]:
    return [(number + step * k) % 50_000 for k in range(len(text) // 4)]


def vllm(record: Json, responses: list[str], number: int) -> Json:
    """vLLM's ``RequestOutput`` as its fields stand: a number of its own, the prompt with its template."""
    prompt = _template(record)
    outputs = [
        {"index": index, "text": text, "token_ids": _tokens(text, number, 7)}
        | {"cumulative_logprob": None, "logprobs": None}
        | {"finish_reason": "stop", "stop_reason": None, "lora_request": None}
        for index, text in enumerate(responses)
    ]
    asked = {"request_id": str(number), "prompt": prompt, "prompt_token_ids": _tokens(prompt, number, 11)}
    done = {"prompt_logprobs": None, "outputs": outputs, "finished": True}
    return asked | done | {"metrics": None, "lora_request": None, "num_cached_tokens": 0}


def _choices(responses: list[str], message: Json, choice: Json) -> list[Json]:
    """Choices with a text each, and what else their messages and they have."""
    return [
        {"index": index, "message": {"role": "assistant", "content": text, **message}, **choice}
        for index, text in enumerate(responses)
    ]


def openai(record: Json, responses: list[str], number: int) -> Json:
    """OpenAI's batch output with a choice a response."""
    usage = {"prompt_tokens": 812, "completion_tokens": 611, "prompt_tokens_details": {"cached_tokens": 0}}
    more = {"logprobs": None, "finish_reason": "stop"}
    body = {
        "id": f"chatcmpl-{number:x}",
        "object": "chat.completion",
        "created": 1_790_000_000 + number,
        "model": "a-model",
    }
    body["choices"] = _choices(responses, {"refusal": None, "annotations": []}, more)
    body |= {"usage": usage, "service_tier": "default", "system_fingerprint": "fp_51e1070cf2"}
    response = {"status_code": 200, "request_id": _uuid(number), "body": body}
    return {"id": f"batch_req_{number:x}", "custom_id": record["id"], "response": response, "error": None}


def openai_logprobs(record: Json, responses: list[str], number: int) -> Json:
    """The same with the logarithms of its tokens."""
    row = openai(record, responses, number)
    for choice, text in zip(row["response"]["body"]["choices"], responses, strict=True):
        tokens = [
            {"token": text[k : k + 4], "logprob": -1e-7 * k, "bytes": [65, 66], "top_logprobs": []}
            for k in range(0, len(text), 4)
        ]
        choice["logprobs"] = {"content": tokens, "refusal": None}
    return row


def fireworks(record: Json, responses: list[str], number: int) -> Json:
    """Fireworks' batch output: the completion is the response itself."""
    response = {"id": _uuid(number), "object": "chat.completion", "model": "a-model"}
    response["choices"] = _choices(responses, {}, {"finish_reason": "stop"})
    return {"custom_id": record["id"], "response": response, "error": None}


def anthropic(record: Json, responses: list[str], number: int) -> Json:
    """Results of Anthropic's batches, with a block of thinking."""
    thought, _, said = responses[0].rpartition("\n\n")
    thinking = {"type": "thinking", "thinking": thought, "signature": "EqoB" + 300 * "q"}
    message = {"id": f"msg_{number:024x}", "type": "message", "role": "assistant", "model": "a-model"}
    message["content"] = [thinking, {"type": "text", "text": said}]
    message |= {"stop_reason": "end_turn", "stop_sequence": None}
    message["usage"] = {"input_tokens": 101, "cache_read_input_tokens": 0, "output_tokens": 450}
    return {"custom_id": record["id"], "result": {"type": "succeeded", "message": message}}


def gemini(record: Json, responses: list[str], number: int) -> Json:
    """Results of Gemini's batch mode."""
    candidates = [
        {"content": {"parts": [{"text": text}], "role": "model"}, "finishReason": "STOP", "avgLogprobs": -0.03125, "index": index}
        for index, text in enumerate(responses)
    ]  # fmt: skip
    usage = {"promptTokenCount": 11, "totalTokenCount": 20}
    response = {
        "candidates": candidates,
        "usageMetadata": usage,
        "modelVersion": "a-model",
        "responseId": _uuid(number),
    }
    return {"key": record["id"], "response": response}


def vertex(record: Json, responses: list[str], number: int) -> Json:
    """Vertex AI's batch output of Gemini: the request in place of a key."""
    asked = {"contents": [{"role": "user", "parts": [{"text": record["question"]}]}]}
    response = gemini(record, responses, number)["response"]
    return {
        "status": "",
        "processed_time": "2026-11-28T03:00:00.000Z",
        "request": asked,
        "response": response,
    }


def nemo_gym(record: Json, responses: list[str], number: int) -> Json:
    """A rollout of NeMo-Gym: the row of its input, the response and the reward."""
    text = {"type": "output_text", "text": responses[0], "annotations": []}
    message = {
        "id": _uuid(number),
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [text],
    }
    thought = {
        "id": _uuid(number + 1),
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": "Hm"}],
    }
    row = {
        "responses_create_params": {"input": _messages(record)},
        "task": record["task"],
        "answer": record["answer"],
    }
    body = {"id": _uuid(number), "object": "response", "error": None, "incomplete_details": None}
    row["response"] = body | {"output": [thought, message]}
    return row | {
        "reward": 1.0,
        "_ng_task_index": number,
        "_ng_rollout_index": 0,
        "agent_ref": {"name": "agent"},
    }


def lmms_eval(record: Json, responses: list[str], number: int) -> Json:
    """A sample of lmms-eval, whose filter has changed the second one's response."""
    row = {"doc_id": number, "target": json.dumps(record["answer"])}
    row |= {"resps": responses[:1], "filtered_resps": "x"} if number % 2 else {"filtered_resps": responses[0]}
    return row | {"token_counts": [None], "doc_hash": f"{number:064x}", "input": record["question"]}


def evalscope(record: Json, responses: list[str], number: int) -> Json:
    """A prediction of EvalScope."""
    asked = {"id": "u", "content": record["question"], "source": None, "role": "user"}
    said = {"id": _uuid(number), "content": responses[0], "source": "generate", "role": "assistant"}
    choices = [{"message": said, "stop_reason": "stop", "logprobs": None}]
    output = {"model": "a-model", "choices": choices, "usage": None, "error": None}
    about = {"id": record["id"], "task": record["task"], "answer": record["answer"]}
    return {
        "index": number,
        "model": "a-model",
        "model_output": output,
        "messages": [asked, said],
        "metadata": about,
    }


def matharena(record: Json, responses: list[str], number: int) -> Json:
    """MathArena's file of a problem, with the thoughts before each answer."""
    asked = {"role": "user", "content": record["question"]}
    thought = {"role": "assistant", "type": "cot", "content": "<Yes>, or Answer 1?"}
    chats = [
        [asked, thought, {"role": "assistant", "type": "response", "content": text}] for text in responses
    ]
    row = {"idx": number, "problem": record["question"], "gold_answer": "4", "source": "None", "types": []}
    row |= {"N": len(chats), "cost": {"cost": 0.1}, "pass_at_1": 0.5, "answers": ["4"] * len(chats)}
    return row | {"correct": [True] * len(chats), "warnings": [0] * len(chats), "messages": chats}


def nemo_skills(record: Json, responses: list[str], number: int) -> Json:
    """A line of NeMo-Skills' ``output.jsonl``: what was generated, then the input row."""
    row = {"generation": responses[0], "num_generated_tokens": 611, "generation_time": 8.5}
    own = {name: record[name] for name in ("id", "task", "question")}
    return row | own | {"expected_answer": json.dumps(record["answer"]), "predicted_answer": "4"}


def skyrl(record: Json, responses: list[str], number: int) -> Json:
    """A line of SkyRL's evaluation dump: the decoded prompt and response, and the data set's row."""
    gold = {"method": "rule", "ground_truth": json.dumps(record["answer"])}
    own = {name: record[name] for name in ("id", "task", "question")}
    row = {"input_prompt": _template(record), "output_response": responses[0], "score": 0.5}
    row |= {"stop_reason": "stop", "env_class": "relfast"}
    return row | {"env_extras": own | {"reward_spec": gold}, "data_source": "unknown"}


def rollout(record: Json, responses: list[str], number: int) -> Json:
    """``results.jsonl`` of verifiers before its traces."""
    said = {"role": "assistant", "content": responses[0], "tool_calls": None}
    row = {
        "example_id": number,
        "prompt": _messages(record),
        "completion": [said],
        "task": record["task"],
        "reward": 0.5,
    }
    row["timing"] = {"generation_ms": 900.25, "scoring_ms": 1.5, "total_ms": 901.75}
    row |= {"is_completed": True, "is_truncated": False, "metrics": {"rel_reward": 0.5}, "error": None}
    return row | {"stop_condition": "max_turns_reached", "answer": json.dumps(record["answer"]), "info": {}}


def rollout_in_text(record: Json, responses: list[str], number: int) -> Json:
    """The same of a data set that keeps its columns, also the gold, as JSON in ``info``."""
    row = rollout(record, responses, number)
    answer = record["answer"] if number % 2 else json.dumps(record["answer"])
    info = json.dumps(
        {"split": number, "task": record["task"], "answer": answer}, ensure_ascii=number % 3 == 0
    )
    return row | {"task": "default", "answer": "", "info": info}


def traces(record: Json, responses: list[str], number: int) -> Json:
    """``traces.jsonl`` of verifiers and prime-rl: an episode of as many traces as there are responses."""
    data = {"idx": number, "id": record["id"], "prompt": record["question"], "skills": [], "timeout": {}}
    data |= {"task": record["task"], "answer": record["answer"]}
    task = {"type": "RelTask", "data": data, "key": record["id"]}
    asked = {"message": {"role": "user", "content": record["question"]}, "sampled": False, "token_ids": []}
    traces = []
    for text in responses:
        said = {"parent": 0, "message": {"role": "assistant", "content": text}, "sampled": True}
        said["token_ids"] = _tokens(text, number, 7)
        trace = {
            "version": 1,
            "id": _uuid(number),
            "task": task,
            "agent": {"name": "agent", "trainable": True},
        }
        trace |= {"nodes": [asked, said], "rewards": {"yes_or_no": {"score": 0.0, "weight": 1.0}}}
        traces.append(trace | {"ok": True, "errors": []})
    return {
        "id": _uuid(number),
        "env": {"id": "rel"},
        "task": task,
        "ok": True,
        "errors": [],
        "traces": traces,
    }


def trl(record: Json, responses: list[str], number: int) -> Json:
    """TRL's completions log as JSON lines."""
    return {
        "step": number // 64,
        "prompt": _template(record),
        "completion": responses[0],
        "rel_reward": 0.5,
        "advantage": -0.25,
    }


def inspect(record: Json, responses: list[str], number: int) -> Json:
    """A sample of Inspect's log."""
    message = {"id": _uuid(number), "content": responses[0], "source": "generate", "role": "assistant"}
    asked = {"id": "u", "content": record["question"], "source": "input", "role": "user"}
    row = {
        "id": record["id"],
        "epoch": 1,
        "input": record["question"],
        "target": json.dumps(record["answer"]),
    }
    row |= {"metadata": {"task": record["task"], "answer": record["answer"]}, "messages": [asked, message]}
    choices = [{"message": message, "stop_reason": "stop"}]
    row["output"] = {"model": "a-model", "choices": choices, "completion": responses[0], "time": 0.25}
    return row | {"scores": {"rel": {"value": "C", "answer": "x"}}, "events": [], "attachments": {}}


def helm(record: Json, responses: list[str], number: int) -> Json:
    """A request of HELM's ``scenario_state.json``."""
    gold = {"output": {"text": json.dumps(record["answer"])}, "tags": ["correct"]}
    references = [{"output": {"text": "no"}, "tags": []}, gold]
    completions = [{"text": text, "logprob": 0.0, "tokens": []} for text in responses]
    return {
        "instance": {"input": {"text": record["question"]}, "references": references, "split": "test", "id": f"id{number}"},
        "request": {"model": "a-model", "prompt": record["question"], "temperature": 0.0},
        "train_trial_index": 0,
        "result": {"success": True, "embedding": [], "completions": completions, "cached": False},
    }  # fmt: skip


def opencompass(record: Json, responses: list[str], number: int) -> Json:
    """One of OpenCompass' predictions."""
    prompt = [{"role": "HUMAN", "prompt": record["question"]}]
    return {"origin_prompt": prompt, "prediction": responses[0], "gold": json.dumps(record["answer"])}


def lighteval(record: Json, responses: list[str], number: int) -> Json:
    """A row of lighteval's details."""
    doc = {"query": record["question"], "choices": ["none", json.dumps(record["answer"])], "gold_index": [1]}
    doc |= {
        "task_name": "community|rel|0",
        "specific": {"id": record["id"], "task": record["task"]},
        "id": str(number),
    }
    response = {"text": responses, "input_tokens": [1, 2], "logprobs": []}
    return {"doc": doc, "model_response": response, "metric": {"rel": 0.5}}


def verl(record: Json, responses: list[str], number: int) -> Json:
    """verl's rollouts."""
    return {
        "input": _template(record),
        "output": responses[0],
        "gts": json.dumps(record["answer"]),
        "score": 0.0,
        "step": number // 512,
        "uid": _uuid(number),
    }


def verl_object(record: Json, responses: list[str], number: int) -> Json:
    """The same where the reward model's ground truth is an object."""
    return {**verl(record, responses, number), "gts": record["answer"]}


def lm_eval(record: Json, responses: list[str], number: int) -> Json:
    """A line of ``lm_eval --log_samples``."""
    row = {"doc_id": number, "doc": {name: record[name] for name in ("id", "task", "question", "answer")}}
    row["target"] = json.dumps(record["answer"])
    row["arguments"] = {"gen_args_0": {"arg_0": record["question"], "arg_1": {"until": ["</s>"]}}}
    row |= {
        "resps": [responses],
        "filtered_resps": responses[:1],
        "filter": "none",
        "metrics": ["exact_match"],
    }
    row |= {f"{name}_hash": f"{number + at:064x}" for at, name in enumerate(("doc", "prompt", "target"))}
    return row | {"exact_match": 0.0}


def listed_id(record: Json, responses: list[str], number: int) -> Json:
    """A record with an id of parts."""
    parts = [record["task"], number, {"seed": 7}]
    return {"id": parts, "task": record["task"], "answer": record["answer"], "response": responses[0]}


def in_text(record: Json, responses: list[str], number: int) -> Json:
    """Gold in a column of JSON text, as data sets carry it."""
    details = {"task": record["task"], "answer": record["answer"], "split": number}
    details["deep"] = json.dumps({"task": record["task"], "gold": [json.dumps(record["answer"])]})
    return {"id": record["id"], "response": responses[0], "extra_info": json.dumps(details)}


BATCHES = (openai_logprobs, fireworks, anthropic, gemini)
"""Rows without gold, by our ids."""
TOOLS = (
    *(
        vllm,
        rollout,
        rollout_in_text,
        traces,
        trl,
        inspect,
        helm,
        opencompass,
        lighteval,
        verl_object,
        listed_id,
        vertex,
        nemo_gym,
    ),
    *(lmms_eval, evalscope, matharena, nemo_skills, skyrl),
)
ALL = (*BATCHES, *TOOLS)
