"""The server under schemathesis, against its own OpenAPI description."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from live_server import live_server
from patience import PATIENCE
from seeds import fresh


@pytest.mark.slow
@pytest.mark.fuzz
@pytest.mark.parametrize("number", [1, 2])
def test_no_request_made_from_the_schema_breaks_the_server(number: int) -> None:
    """No 500, no answer that is not as described, nothing accepted that is malformed."""
    with live_server("--timeout", "2") as server:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "schemathesis.cli",
                "run",
                f"{server.url}/openapi.json",
                "--max-examples",
                "50",
                "--seed",
                str(fresh(number).randrange(10**6)),
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
            timeout=5 * PATIENCE,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-6_000:]
        assert server.ask("/health")[1]["status"] == "ok"
        page = server.ask("/metrics")[1]
        assert 'code="500"' not in page
        assert server.stop() == 0
