"""Embedding models. onnxruntime is imported here and nowhere else."""

from __future__ import annotations


def describe(embedder: str, device: str) -> str:
    """The embedder's name and weight hash, for the signature."""
    return f"{embedder} on {device}"
