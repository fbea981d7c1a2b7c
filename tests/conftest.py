"""What every test needs from the process it runs in, and the order in which tests run."""

from __future__ import annotations

import os
import signal

import pytest
from chromium import executable
from hypothesis import is_hypothesis_test, settings
from seeds import SEED

# A shell starts background jobs with SIGINT ignored, and children inherit that: the tests that interrupt a
# command would then wait for it for ever. A handler of ours becomes the default action in a child.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A test with an empty cache leaves nothing behind that compiles; those of compiling say otherwise
os.environ.setdefault("RELFAST_COMPILE", "off")

# `make test` tries the same examples everywhere and always; `make fuzz` looks for new ones
settings.register_profile("test", derandomize=True, deadline=None, database=None)
settings.register_profile("fuzz", deadline=None, print_blob=True)
settings.load_profile("test" if SEED is None else "fuzz")


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the groups and -m selects
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The slow ones first, each for a free worker; the others by module, whose fixtures are made once."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    for item in items:
        slow = item.get_closest_marker("slow") is not None
        item.add_marker(pytest.mark.xdist_group(item.nodeid if slow else item.nodeid.partition("::")[0]))
        # Hypothesis' own marker is set later
        if is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker("fuzz")
    if executable() is None:
        without = [item for item in items if item.get_closest_marker("browser") is not None]
        config.hook.pytest_deselected(items=without)
        items[:] = [item for item in items if item.get_closest_marker("browser") is None]


def pytest_report_header() -> str:
    """Which browser the report's page is tested in."""
    return (
        f"browser: {executable() or 'none (make chromium); the tests of the page in a browser are left out'}"
    )
