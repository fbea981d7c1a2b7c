"""One ONNX Runtime session: threads, providers and options are decided here and nowhere else."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from relfast.cores import number_in, usable_cores
from relfast.embed import THREADS_VARIABLE
from relfast.embed.models import Model
from relfast.errors import InputError, UsageError

_SILENT: Final = 3
"""Log level error: warnings about unused initialisers of foreign graphs are of no use here."""


def usable_threads() -> int:
    """Threads for a session: RELFAST_EMBED_THREADS, else the cores this process may use.

    Raises
    ------
    UsageError
        The variable is set to something that is no positive number.
    """
    return number_in(THREADS_VARIABLE, least=1, otherwise=None) or usable_cores()


class Session:
    """A model's graph, ready to run. Safe to call from several threads.

    ``provider`` names what runs it: ``cpu``, or ``cuda`` with ONNX Runtime's CUDA build.
    """

    def __init__(self, model: Model, device: str = "cpu", threads: int | None = None) -> None:
        import onnxruntime

        self.threads = usable_threads() if threads is None else threads
        self.provider = "cuda" if device.startswith("cuda") else "cpu"
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self.threads
        options.inter_op_num_threads = 1
        options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
        options.log_severity_level = _SILENT
        # idle threads that spin take the cores that the other workers need
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        # the arena and its plans keep the largest batch ever seen: 1.5 GB after one, against 184 MB
        options.enable_cpu_mem_arena = False
        options.enable_mem_pattern = False
        if model.pooling == "graph":
            # further fusing is no gain on our graphs, see `relfast.embed.adding`
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        try:
            self._session = onnxruntime.InferenceSession(
                str(model.graph_path), options, providers=_providers(device, onnxruntime)
            )
        except UsageError:
            raise
        except Exception as error:  # the runtime's errors have no common base of their own
            reason = " ".join(str(error).split())[:300]
            raise InputError(f"cannot be loaded: {reason}", file=str(model.graph_path)) from error
        self._inputs = {item.name for item in self._session.get_inputs()}
        self._pooling = model.pooling

    def run(self, ids: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.float32]:
        """Vectors of length 1, (batch, dimensions) float32, of token ids (batch, tokens) int64.

        ``lengths`` (batch,) are the numbers of tokens that are not padding.
        """
        feeds: dict[str, NDArray[np.int64]] = {"input_ids": ids}
        if "lengths" in self._inputs:
            feeds["lengths"] = lengths
        if "attention_mask" in self._inputs:
            feeds["attention_mask"] = (np.arange(ids.shape[1]) < lengths[:, None]).astype(np.int64)
        if "token_type_ids" in self._inputs:
            feeds["token_type_ids"] = np.zeros_like(ids)
        output: NDArray[np.float32] = self._session.run(None, feeds)[0]
        if self._pooling == "graph":
            return output
        return _pool(output.astype(np.float32, copy=False), lengths, self._pooling)


def _pool(tokens: NDArray[np.float32], lengths: NDArray[np.int64], pooling: str) -> NDArray[np.float32]:
    """One vector of length 1 of a foreign graph's output, (batch, tokens, dimensions) or already pooled."""
    if tokens.ndim == 3:
        if pooling == "cls":
            tokens = tokens[:, 0]
        else:
            present = np.arange(tokens.shape[1]) < lengths[:, None]
            tokens = (tokens * present[:, :, None]).sum(axis=1) / lengths[:, None].astype(np.float32)
    # a zero vector stays one: its cosine with anything is 0
    norm = np.sqrt((tokens * tokens).sum(axis=1, keepdims=True))
    unit: NDArray[np.float32] = (tokens / np.where(norm > 0, norm, np.float32(1))).astype(np.float32)
    return unit


def _providers(device: str, onnxruntime: Any) -> list[Any]:
    """The runtime's providers for a device: ``cpu``, ``cuda`` or ``cuda:N``.

    Raises
    ------
    UsageError
        No such device, or ONNX Runtime here has no CUDA provider.
    """
    kind, _, number = device.partition(":")
    if kind == "cpu" and not number:
        return ["CPUExecutionProvider"]
    if kind != "cuda" or (number and not number.isdecimal()):
        raise UsageError(f"unknown device {device!r}; known are cpu, cuda and cuda:N")
    if "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
        raise UsageError(
            f"device {device}: this ONNX Runtime has no CUDA provider; pip install onnxruntime-gpu in place"
            " of onnxruntime, or use --device cpu"
        )
    return [("CUDAExecutionProvider", {"device_id": int(number or 0)}), "CPUExecutionProvider"]
