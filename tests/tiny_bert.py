"""A BERT small enough for tests: random weights and a real tokenizer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

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
