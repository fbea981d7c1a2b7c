"""llama.cpp's own OpenAI-compatible server with a model of random weights, a few hundred kB that speak nonsense byte by
byte."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import numpy as np

WIDTH: Final = 32
HIDDEN: Final = 64
HEADS: Final = 2
CONTEXT: Final = 16_384
SPECIAL: Final = ("<unk>", "<s>", "</s>")
ALIAS = "tiny-random"
SLOTS = 2


def write_tiny_model(path: Path, seed: int = 0) -> None:
    """Write a llama with one layer and a vocabulary of bytes."""
    import gguf

    draws = np.random.default_rng(seed)
    tokens = [*SPECIAL, *(f"<0x{byte:02X}>" for byte in range(256))]
    control, byte = gguf.TokenType.CONTROL, gguf.TokenType.BYTE
    kinds = [gguf.TokenType.UNKNOWN, control, control, *[byte] * 256]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny")
    sizes = {"context_length": CONTEXT, "embedding_length": WIDTH, "block_count": 1}
    sizes |= {"feed_forward_length": HIDDEN, "head_count": HEADS, "head_count_kv": HEADS}
    sizes |= {"rope_dimension_count": WIDTH // HEADS, "vocab_size": len(tokens)}
    sizes |= {f"{token}_token_id": at for at, token in enumerate(("unk", "bos", "eos"))}
    for name, size in sizes.items():
        getattr(writer, f"add_{name}")(size)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types(kinds)
    writer.add_chat_template("{% for message in messages %}{{ message.content }}\n{% endfor %}")

    def add(name: str, *shape: int) -> None:
        writer.add_tensor(name, draws.normal(0, 0.3, shape).astype(np.float32))

    add("token_embd.weight", len(tokens), WIDTH)
    writer.add_tensor("output_norm.weight", np.ones(WIDTH, np.float32))
    add("output.weight", len(tokens), WIDTH)
    for norm in ("attn_norm", "ffn_norm"):
        writer.add_tensor(f"blk.0.{norm}.weight", np.ones(WIDTH, np.float32))
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        add(f"blk.0.{name}.weight", WIDTH, WIDTH)
    for name in ("ffn_gate", "ffn_up"):
        add(f"blk.0.{name}.weight", HIDDEN, WIDTH)
    add("blk.0.ffn_down.weight", WIDTH, HIDDEN)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@contextmanager
def tiny_server(folder: Path) -> Iterator[str]:
    """The server's base URL (…/v1); the server ends with the block."""
    import xllamacpp

    model = folder / "tiny.gguf"
    write_tiny_model(model)
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model)
    parameters.model_alias = {ALIAS}
    parameters.n_ctx = CONTEXT * SLOTS
    parameters.n_parallel = SLOTS
    parameters.n_gpu_layers = 0
    parameters.cpuparams.n_threads = 1
    parameters.warmup = False
    parameters.port = 0
    server = xllamacpp.Server(parameters)
    yield f"{server.listening_address}/v1"
