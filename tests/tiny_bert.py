"""A BERT small enough for tests: random weights, a real tokenizer, and a forward pass in plain numpy.

The forward pass is written from Devlin et al. 2019 and shares no code with the exporter, which it checks.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789+-=*/()$\\{}.,:"


def make_checkpoint(
    directory: Path,
    *,
    hidden: int = 32,
    heads: int = 4,
    layers: int = 2,
    pooling: Literal["cls", "mean"] = "cls",
    prefix: str = "",
    seed: int = 0,
) -> Path:
    """Write config, tokenizer, pooling config and random weights as a sentence-transformers directory."""
    from safetensors.numpy import save_file
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    directory.mkdir(parents=True, exist_ok=True)
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS, *(f"##{letter}" for letter in LETTERS)]
    pieces += ["the", "and", "step", "##ing", "answer", "is", "equal", "to"]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    # as in MiniLM's file: padding and a short cut are baked in, and have to be switched off
    tokenizer.enable_padding(length=16)
    tokenizer.enable_truncation(max_length=16)
    tokenizer.save(str(directory / "tokenizer.json"))

    config = {
        "model_type": "bert",
        "hidden_act": "gelu",
        "hidden_size": hidden,
        "num_attention_heads": heads,
        "num_hidden_layers": layers,
        "intermediate_size": 4 * hidden,
        "layer_norm_eps": 1e-12,
        "max_position_embeddings": 64,
        "position_embedding_type": "absolute",
        "type_vocab_size": 2,
        "vocab_size": len(pieces),
        "architectures": ["BertModel"],
        "pad_token_id": 0,
    }
    (directory / "config.json").write_text(json.dumps(config))
    (directory / "sentence_bert_config.json").write_text('{"max_seq_length": 48, "do_lower_case": false}')
    (directory / "1_Pooling").mkdir(exist_ok=True)
    pooled = {
        "word_embedding_dimension": hidden,
        "pooling_mode_cls_token": pooling == "cls",
        "pooling_mode_mean_tokens": pooling == "mean",
        "pooling_mode_max_tokens": False,
    }
    (directory / "1_Pooling" / "config.json").write_text(json.dumps(pooled))
    weights = random_weights(config, seed)
    save_file({prefix + name: array for name, array in weights.items()}, str(directory / "model.safetensors"))
    return directory


def random_weights(config: dict[str, Any], seed: int) -> dict[str, NDArray[np.float32]]:
    rng = np.random.default_rng(seed)
    hidden, inner = config["hidden_size"], config["intermediate_size"]

    def normal(*shape: int) -> NDArray[np.float32]:
        return (rng.standard_normal(shape) * 0.2).astype(np.float32)

    weights = {
        "embeddings.word_embeddings.weight": normal(config["vocab_size"], hidden),
        "embeddings.position_embeddings.weight": normal(config["max_position_embeddings"], hidden),
        "embeddings.token_type_embeddings.weight": normal(2, hidden),
    }
    sizes = {
        "attention.self.query": (hidden, hidden),
        "attention.self.key": (hidden, hidden),
        "attention.self.value": (hidden, hidden),
        "attention.output.dense": (hidden, hidden),
        "intermediate.dense": (inner, hidden),
        "output.dense": (hidden, inner),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in range(config["num_hidden_layers"]):
        block = f"encoder.layer.{layer}."
        for name, shape in sizes.items():
            weights[f"{block}{name}.weight"] = normal(*shape)
            weights[f"{block}{name}.bias"] = normal(shape[0])
        norms += [f"{block}attention.output.LayerNorm", f"{block}output.LayerNorm"]
    for name in norms:
        weights[f"{name}.weight"] = 1 + normal(hidden)
        weights[f"{name}.bias"] = normal(hidden)
    return weights


def forward(directory: Path, ids: list[int], pooling: Literal["cls", "mean"], prefix: str = "") -> Floats:
    """The unit vector of one text's token ids, in float64."""
    from safetensors.numpy import load_file

    config = json.loads((directory / "config.json").read_text())
    weights = {
        name.removeprefix(prefix): array.astype(np.float64)
        for name, array in load_file(str(directory / "model.safetensors")).items()
    }
    heads = config["num_attention_heads"]
    size = config["hidden_size"] // heads

    def linear(x: Floats, name: str) -> Floats:
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def norm(x: Floats, name: str) -> Floats:
        centred = x - x.mean(axis=1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + config["layer_norm_eps"])
        return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    x = weights["embeddings.word_embeddings.weight"][ids]
    x = x + weights["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm(x + weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    erf = np.vectorize(math.erf)
    for layer in range(config["num_hidden_layers"]):
        block = f"encoder.layer.{layer}."
        query, key, value = (linear(x, f"{block}attention.self.{name}") for name in ("query", "key", "value"))
        context = np.empty_like(x)
        for head in range(heads):
            part = slice(head * size, (head + 1) * size)
            scores = query[:, part] @ key[:, part].T / math.sqrt(size)
            shares = np.exp(scores - scores.max(axis=1, keepdims=True))
            context[:, part] = shares / shares.sum(axis=1, keepdims=True) @ value[:, part]
        x = norm(linear(context, f"{block}attention.output.dense") + x, f"{block}attention.output.LayerNorm")
        inner = linear(x, f"{block}intermediate.dense")
        inner = 0.5 * inner * (1 + erf(inner / math.sqrt(2)))
        x = norm(linear(inner, f"{block}output.dense") + x, f"{block}output.LayerNorm")
    vector: Floats = x[0] if pooling == "cls" else x.mean(axis=0)
    return vector / np.linalg.norm(vector)
