"""The server under schemathesis, against its own OpenAPI description."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys

import pytest
from live_server import live_server

pytest.importorskip("fastapi", reason="the server needs the extra `serve`")


def _command() -> list[str]:
    """schemathesis in this environment, or one on the path (it may live in an environment of its own)."""
    if importlib.util.find_spec("schemathesis") is not None:
        return [sys.executable, "-m", "schemathesis.cli"]
    found = shutil.which("schemathesis")
    if found is None:
        pytest.skip("schemathesis is not installed (pip install schemathesis)")
    return [found]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_no_request_made_from_the_schema_breaks_the_server(seed: int) -> None:
    """No 500, no answer that is not as described, nothing accepted that is malformed."""
    command = _command()
    with live_server("--timeout", "2") as server:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(
            [
                *command,
                "run",
                f"{server.url}/openapi.json",
                "--max-examples",
                "50",
                "--seed",
                str(seed),
                "--suppress-health-check",
                "all",
                # that labels are as many as queries is a rule no JSON schema can say, so not all that fits
                # the schema is accepted
                "--exclude-checks",
                "positive_data_acceptance",
                "--no-color",
            ],
            env=environment,
            capture_output=True,
            text=True,
            timeout=150,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-6_000:]
        assert server.ask("/health")[1]["status"] == "ok"
        page = server.ask("/metrics")[1]
        assert 'code="500"' not in page
        assert server.stop() == 0
