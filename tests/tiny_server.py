"""llama.cpp's own OpenAI-compatible server with the tiny model, in a process of its own:

    python tests/tiny_server.py MODEL.gguf

says its URL in a line on stdout, and serves until stdin ends.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tiny_gguf import CONTEXT, write_tiny_model

ALIAS = "tiny-random"
SLOTS = 2


@contextmanager
def tiny_server(folder: Path) -> Iterator[str]:
    """The server's base URL (…/v1); the server ends with the block."""
    model = folder / "tiny.gguf"
    write_tiny_model(model)
    process = subprocess.Popen(
        [sys.executable, __file__, str(model)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert url.startswith("http"), url
        yield f"{url}/v1"
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.kill()
        process.wait()
        process.stdout.close()


def serve(model: str) -> None:
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = model
    parameters.model_alias = {ALIAS}
    parameters.n_ctx = CONTEXT * SLOTS
    parameters.n_parallel = SLOTS
    parameters.n_gpu_layers = 0
    parameters.cpuparams.n_threads = 1
    parameters.warmup = False
    parameters.port = 0
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    serve(sys.argv[1])
