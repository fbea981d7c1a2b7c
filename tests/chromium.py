"""A headless Chromium for tests, and a page that is watched for complaints."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from playwright.sync_api import expect, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def executable() -> str | None:
    """The browser to test with: ``RELFAST_CHROMIUM``, or the first that is installed."""
    given = os.environ.get("RELFAST_CHROMIUM")
    return given or next((path for name in NAMES if (path := shutil.which(name))), None)


@contextmanager
def launched() -> Iterator[Any]:
    expect.set_options(timeout=30_000)  # milliseconds; a busy machine is slow, not wrong
    with sync_playwright() as playwright:
        # as root (CI in a container) there is no sandbox
        browser = playwright.chromium.launch(executable_path=executable(), args=["--no-sandbox"])
        yield browser
        browser.close()


class Watched:
    """A page, what it wrote to the console, and what it asked for."""

    def __init__(self, page: Any, path: Path) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.asked: list[str] = []
        self._address = path.absolute().as_uri()
        page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.asked.append(request.url.partition("#")[0]))

    @classmethod
    @contextmanager
    def open(cls, browser: Any, path: Path, **context: Any) -> Iterator[Self]:
        context = {"viewport": {"width": 1400, "height": 900}, **context}
        surroundings = browser.new_context(**context)
        try:
            watched = cls(surroundings.new_page(), path)
            watched.page.goto(watched._address)
            watched.page.wait_for_selector("html[data-ready]", state="attached")
            yield watched
        finally:
            surroundings.close()

    def go(self, place: str) -> None:
        self.page.evaluate("place => { location.hash = place }", place)
        self.settle()

    def settle(self) -> None:
        """Wait until the page shows what its address says."""
        expect(self.page.locator("html")).to_have_attribute("data-shown", self.page.evaluate("location.hash"))

    def follow(self, link: Any) -> None:
        """Click what changes the address, and wait until that is shown."""
        before = self.page.evaluate("location.hash")
        link.click()
        expect(self.page.locator("html")).not_to_have_attribute("data-shown", before)
        self.settle()

    def quiet(self) -> None:
        """Nothing was written to the console, and nothing but the page was asked for."""
        assert self.complaints == []
        assert {address for address in self.asked if not address.startswith("blob:")} == {self._address}
