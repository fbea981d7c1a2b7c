"""Run a model in this process (`Session`).

Threads, providers and options of ONNX Runtime are chosen only in this module.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from relfast.embed.models import Model
from relfast.errors import InputError, UsageError

_SILENT: Final = 3
"""ONNX Runtime's log level "error": warnings about unused initialisers of foreign graphs are noise."""


class Session:
    """A model's graph, loaded in this process. Thread-safe.

    Raises
    ------
    UsageError
        As `providers_of`.
    InputError
        The graph cannot be loaded.
    """

    def __init__(self, model: Model, device: str = "cpu") -> None:
        providers = providers_of(model, device)
        import onnxruntime

        # for a process that had imported it before this package
        onnxruntime.disable_telemetry_events()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
        options.log_severity_level = _SILENT
        # idle threads must not spin on cores that other workers need
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        # the arena never frees the memory of the largest batch so far: 1.5 GB, instead of 184 MB
        options.enable_cpu_mem_arena = False
        options.enable_mem_pattern = False
        if model.pooling == "graph":
            # further fusing does not speed up graphs that relfast exports, see `relfast.embed.adding`
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        try:
            self._session = onnxruntime.InferenceSession(str(model.graph_path), options, providers=providers)
        except Exception as error:  # the runtime's errors have no common base of their own
            reason = " ".join(str(error).split())[:300]
            raise InputError(f"cannot be loaded: {reason}", file=str(model.graph_path)) from error
        self._inputs = {item.name for item in self._session.get_inputs()}
        self._pooling = model.pooling

    def run(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """Vectors of length 1, (batch, dimensions) float32, for token ids (batch, tokens) int64 without
        padding."""
        known = {
            "input_ids": ids,
            "lengths": np.full(len(ids), ids.shape[1]),
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        feeds = {name: value for name, value in known.items() if name in self._inputs}
        output: NDArray[np.float32] = self._session.run(None, feeds)[0]
        if self._pooling == "graph":
            return output
        return _pool(output.astype(np.float32, copy=False), self._pooling)


def _pool(tokens: NDArray[np.float32], pooling: str) -> NDArray[np.float32]:
    """Vectors of length 1 from the output of a graph without pooling, (batch, tokens, dimensions); or of
    an output that is already pooled, (batch, dimensions)."""
    if tokens.ndim == 3:
        tokens = tokens[:, 0] if pooling == "cls" else tokens.sum(axis=1) / np.float32(tokens.shape[1])
    # a zero vector stays zero: its cosine with anything is 0
    norm = np.sqrt((tokens * tokens).sum(axis=1, keepdims=True))
    unit: NDArray[np.float32] = (tokens / np.where(norm > 0, norm, np.float32(1))).astype(np.float32)
    return unit


def providers_of(model: Model, device: str) -> list[Any]:
    """ONNX Runtime's providers that run a model on a device: ``cpu``, ``cuda`` or ``cuda:N``. For the CPU the
    library is not loaded.

    Raises
    ------
    UsageError
        The device is unknown, the installed ONNX Runtime has no CUDA provider, or the CPU is to run a model
        of half precision.
    """
    if device == "cpu" and model.precision != "fp32":
        raise UsageError(
            f"{model.name} is of {model.precision}, which only a GPU runs: use --device cuda,"
            " or add the model with --precision fp32"
        )
    kind, _, number = device.partition(":")
    if kind == "cpu" and not number:
        return ["CPUExecutionProvider"]
    if kind != "cuda" or (number and not number.isdecimal()):
        raise UsageError(f"unknown device {device!r}; known are cpu, cuda and cuda:N")
    import onnxruntime

    if "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
        raise UsageError(
            f"device {device}: this ONNX Runtime has no CUDA provider; pip install onnxruntime-gpu in place"
            " of onnxruntime, or use --device cpu"
        )
    return [("CUDAExecutionProvider", {"device_id": int(number or 0)}), "CPUExecutionProvider"]
