"""Run a model in this process (`Session`), or in a process that all processes of a machine share
(`SharedSession`).

Threads, providers and options of ONNX Runtime are chosen only in this module.

A model is 90 MB to 1.3 GB; a cluster node with an actor for every few cores would load it dozens of times.
`SharedSession` sends the work to a host process instead. The first client starts the host (by exec), and
the host exits `IDLE_SECONDS` after its last client. It runs as many batches at a time as clients request,
each in one thread like a `Session`, so vectors have the same bits. A process that cannot reach the host
uses its own `Session`.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import threading
from dataclasses import asdict
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from relfast_kernels.compiled.cache import Cache

from relfast.embed import SHARED_VARIABLE
from relfast.embed.models import Model
from relfast.errors import InputError, UsageError
from relfast.meeting import reach, serve

_SILENT: Final = 3
"""ONNX Runtime's log level "error": warnings about unused initialisers of foreign graphs are noise."""


class Session:
    """A model's graph, loaded in this process. Thread-safe.

    ``provider`` is ``cpu``, or ``cuda`` with ONNX Runtime's CUDA build.
    """

    def __init__(self, model: Model, device: str = "cpu") -> None:
        import onnxruntime

        # for a process that had imported it before this package
        onnxruntime.disable_telemetry_events()
        self.provider = "cuda" if device.startswith("cuda") else "cpu"
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


def _providers(device: str, onnxruntime: Any) -> list[Any]:
    """ONNX Runtime's providers for a device: ``cpu``, ``cuda`` or ``cuda:N``.

    Raises
    ------
    UsageError
        The device is unknown, or the installed ONNX Runtime has no CUDA provider.
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


# One model for all processes of a machine: the client (`SharedSession`) and the host process (`main`)

IDLE_SECONDS: Final = 10.0
"""Time without clients after which the host exits: a replaced worker is back within one second."""

START_SECONDS: Final = 30.0
"""Maximum wait for the host to start, which does not include loading the model."""


def shared_folder() -> Cache | None:
    """The directory of the host's socket; None if `SHARED_VARIABLE` does not turn sharing on."""
    chosen = os.environ.get(SHARED_VARIABLE, "")
    if chosen in ("", "0", "off"):
        return None
    default = Path(tempfile.gettempdir()) / f"relfast-embed-{os.getuid()}"
    return Cache(default if chosen in ("1", "on") else Path(chosen), variable=SHARED_VARIABLE)


def open_session(model: Model, device: str) -> Session | SharedSession:
    """A session for a model: shared if that is turned on and possible, else in this process."""
    folder = shared_folder() if device == "cpu" else None
    if folder is not None and folder.usable(make=True):
        return SharedSession(model, folder.path)
    return Session(model, device)


class SharedSession:
    """Client of a `Session` on a CPU in the host process. Thread-safe: each thread has its own connection."""

    provider: Final = "cpu"

    def __init__(self, model: Model, folder: Path, idle: float = IDLE_SECONDS) -> None:
        self._model, self._idle = model, idle
        facts = json.dumps(asdict(model), sort_keys=True) + sys.prefix
        self._path = str(folder / f"{hashlib.blake2b(facts.encode(), digest_size=8).hexdigest()}.sock")
        self._lines = threading.local()
        self._lock = threading.Lock()
        self._fallback: Session | None = None

    def run(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """Like `Session.run`.

        Raises
        ------
        InputError
            The model cannot be loaded.
        """
        for _ in range(2):  # the host may have been killed since the last call
            if self._fallback is not None:
                break
            try:
                return self._ask(ids)
            except (OSError, EOFError):
                self._lines.line = None
        with self._lock:
            if self._fallback is None:
                self._fallback = Session(self._model)
        return self._fallback.run(ids)

    def _ask(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        line: Connection | None = getattr(self._lines, "line", None)
        if line is None:
            line = self._lines.line = self._connected()
        line.send_bytes(np.concatenate((ids.shape, ids.ravel())).astype(np.int64).tobytes())
        data = line.recv_bytes()
        if not data:
            raise EOFError
        return np.frombuffer(data, np.float32).reshape(len(ids), -1)

    def _connected(self) -> Connection:
        """A connection to the host, which is started if necessary. Raises `OSError`."""
        line = Connection(reach(self._path, self._start).detach())
        if not line.poll(START_SECONDS):
            raise TimeoutError
        line.recv_bytes()
        return line

    def _start(self, listener: int, **how: Any) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-P", "-m", "relfast.embed.session", self._path, str(listener)]
        path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
        return subprocess.Popen(
            [*command, str(self._idle), json.dumps(asdict(self._model))],
            env={**os.environ, "PYTHONPATH": path},
            **how,
        )


class _Host:
    """The host process's model and its service to clients."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._loading = threading.Lock()
        self._session: Session | None = None

    def attend(self, connection: socket.socket) -> None:
        """Serve one client: token ids in, vectors out; no bytes if the model fails."""
        with Connection(connection.detach()) as line:
            line.send_bytes(b"")  # tell the client that the host is up
            while True:
                numbers = np.frombuffer(line.recv_bytes(), np.int64)
                ids = numbers[2:].reshape(numbers[:2])
                try:
                    with self._loading:
                        self._session = self._session or Session(self._model)
                    vectors = self._session.run(ids)
                except Exception:  # the client then runs the model itself and reports the error
                    line.send_bytes(b"")
                    continue
                line.send_bytes(np.ascontiguousarray(vectors, np.float32).tobytes())


def main(_: str, listener: str, idle: str, model: str) -> None:
    """Run the host process: serve a model as long as there are clients."""
    # lift the memory limit that a worker, the host's parent, may have set
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    with socket.socket(fileno=int(listener)) as at:
        serve(at, float(idle), _Host(Model(**json.loads(model))).attend)


if __name__ == "__main__":
    main(*sys.argv[1:])
