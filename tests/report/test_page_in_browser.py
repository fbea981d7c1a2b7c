"""The page in a real Chromium: what a reader can do with it, and what a response cannot."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chromium import Watched, launched
from report_pages import HOSTILE, report

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report(tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as browser:
        yield browser


@pytest.fixture
def opened(browser: Any, path: Path) -> Iterator[Watched]:
    """The page at a desk's width; whatever it complains of fails the test."""
    with Watched.open(browser, path) as watched:
        yield watched
        watched.quiet()


def rows(opened: Watched, selector: str = "#list") -> list[str]:
    return opened.page.locator(selector).last.locator("tbody tr:visible").all_inner_texts()


def test_tables_sort(opened: Watched) -> None:
    table = opened.page.locator("#scores table").first
    column = table.locator("thead button", has_text="correct %")

    def values() -> list[float]:
        cells = table.locator("tbody tr td:nth-child(5)").all_inner_texts()
        return [float(cell) for cell in cells if cell != "–"]

    column.click()
    assert values() == sorted(values(), reverse=True)
    assert table.locator("th[aria-sort=descending]").inner_text().startswith("correct %")
    column.click()
    assert values() == sorted(values())
    table.locator("thead button").first.click()
    names = table.locator("tbody tr td:nth-child(1)").all_inner_texts()
    assert names == sorted(names)
    assert len(set(names)) > 3


def test_tables_filter(opened: Watched) -> None:
    opened.page.locator("#scores summary", has_text="Metrics").click()
    whole = rows(opened, "#scores table")
    opened.page.locator("#scores .table-filter input").last.fill("rel-c3 recall")
    few = rows(opened, "#scores table")
    assert 0 < len(few) < len(whole)
    assert all("REL-C3" in row and "recall" in row for row in few)


def test_records_are_filtered_and_paged(opened: Watched) -> None:
    page = opened.page
    total = 2 * (60 + len(HOSTILE) + 7)
    assert page.locator("#count").inner_text() == f"{total} of {total} records"
    assert len(rows(opened, "#list")) == 25
    first = rows(opened, "#list")
    page.locator("#next").click()
    assert page.locator("#page").inner_text().startswith("2 /")
    assert not set(rows(opened, "#list")) & set(first)
    page.locator("#last").click()
    assert page.locator("#next").is_disabled()
    page.locator("#by-outcome").select_option(label="wrong")
    page.locator("#by-run").select_option(label="model1")
    page.locator("#find").fill("c1")
    assert page.locator("#page").inner_text() == "1 / 1"
    shown = rows(opened, "#list")
    assert shown
    assert all("✗" in row and "model1" in row for row in shown)


def test_records_sort(opened: Watched) -> None:
    page = opened.page
    page.locator("#list thead button", has_text="id").click()
    ids = page.locator("#list tbody td:nth-child(2)").all_inner_texts()
    assert ids[:4] == ["a0", "a0", "a1", "a1"]
    assert page.locator("#list th[aria-sort=ascending]").count() == 1


def test_texts_are_searched(opened: Watched) -> None:
    from playwright.sync_api import expect

    page = opened.page
    page.locator("#within").fill("window.hacked")
    page.locator("#within").press("Enter")
    expect(page.locator("#count")).to_contain_text("6 of")
    assert {row.split()[1] for row in rows(opened, "#list")} == {"script", "closing", "braces"}


def test_deep_links(opened: Watched) -> None:
    from playwright.sync_api import expect

    page = opened.page
    opened.go("record=model1/REL-C2/c1/0")
    page.wait_for_selector("#record h3")
    assert "c1" in page.locator("#record h3").inner_text()
    assert page.locator("#record mark").inner_text() == "CCC"
    assert page.locator("#record svg.molecule").count() >= 2
    assert page.locator("#list tr[aria-current=true]").count() == 1
    # the same prompt's other response
    page.locator("#record .note a").first.click()
    expect(page.locator("#record")).to_contain_text("REL-C2 · model0")
    assert page.url.endswith("#record=model0/REL-C2/c1/0")
    opened.go("record=nobody/REL-C2/c1/0")
    expect(page.locator("#record")).to_contain_text("not in the page")
    # a table's example leads to its record
    page.locator("#what-goes-wrong a").first.click()
    page.wait_for_selector("#record h3")


def test_keys(opened: Watched) -> None:
    page = opened.page
    page.keyboard.press("j")
    page.wait_for_selector("#record h3")
    first = page.url
    page.keyboard.press("j")
    page.wait_for_url(lambda url: url != first)
    page.keyboard.press("k")
    page.wait_for_url(first)
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "find"
    page.keyboard.type("j")
    assert page.locator("#find").input_value() == "j"
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#keys").is_visible()


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_responses_are_text(opened: Watched, name: str) -> None:
    page = opened.page
    opened.go(f"record=model0/REL-A1/{name}/0")
    page.wait_for_selector("#record pre")
    assert page.evaluate("window.hacked") is None
    assert page.locator("#record img, #record script").count() == 0
    shown = page.locator("#record pre").first.text_content()
    assert shown is not None
    if name in ("script", "closing", "braces"):
        assert shown == HOSTILE[name]
    elif name == "right-to-left":
        assert "U+202E" in shown
        assert "\u202e" not in shown
    elif name == "separators":
        assert "U+2028" in shown
    elif name == "megabyte":
        assert "characters left out" in shown


def test_dark_and_light(browser: Any, path: Path) -> None:
    with Watched.open(browser, path, color_scheme="dark") as watched:
        page = watched.page
        background = "getComputedStyle(document.body).backgroundColor"
        dark = page.evaluate(background)
        # figures follow: their letters are the page's ink
        letters = "getComputedStyle(document.querySelector('.drawing text')).fill"
        before = page.evaluate(letters)
        page.keyboard.press("t")
        assert page.evaluate(background) != dark
        assert page.evaluate(letters) != before
        assert page.locator("html").get_attribute("data-theme") == "light"
        watched.quiet()


@pytest.mark.parametrize("width", [390, 1400])
def test_nothing_sticks_out(browser: Any, path: Path, width: int) -> None:
    with Watched.open(browser, path, viewport={"width": width, "height": 900}) as watched:
        for record in ("REL-A1/megabyte", "REL-C3/isomers", "SeqBench/maze", "REL-B1/b"):
            watched.go(f"record=model0/{record}/0")
            watched.page.wait_for_selector("#record pre")
            assert watched.page.evaluate("document.documentElement.scrollWidth") <= width
        watched.quiet()


def test_a_figure_fills_the_window(opened: Watched) -> None:
    page = opened.page
    page.locator("button.zoom").first.click()
    assert page.locator("#zoom-place svg").is_visible()
    before = page.locator("#zoom-place svg").get_attribute("viewBox")
    page.locator("#zoom-in").click()
    assert page.locator("#zoom-place svg").get_attribute("viewBox") != before
    with page.expect_download() as saved:
        page.locator("#zoom-save").click()
    text = Path(saved.value.path()).read_text(encoding="utf-8")
    assert text.startswith("<svg")
    assert "var(" not in text
    page.locator("#zoom-close").click()
    assert page.locator(".drawing svg").first.get_attribute("viewBox") == before


def test_print(opened: Watched) -> None:
    opened.page.emulate_media(media="print")
    assert not opened.page.locator("nav").is_visible()
    assert opened.page.locator("#scores table").first.is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("record", ["", "REL-C3/isomers", "SeqBench/maze", "REL-A1/right-to-left"])
def test_axe_finds_nothing_serious(browser: Any, path: Path, scheme: str, record: str) -> None:
    from axe_core_python.sync_playwright import Axe

    with Watched.open(browser, path, color_scheme=scheme) as watched:
        if record:
            watched.go(f"record=model0/{record}/0")
            watched.page.wait_for_selector("#record pre")
        found = Axe().run(watched.page)["violations"]
        serious = [
            (one["id"], one["help"], [node["html"][:200] for node in one["nodes"][:3]])
            for one in found
            if one["impact"] in ("serious", "critical")
        ]
        assert serious == []
        watched.quiet()


def test_many_records_cost_no_more_to_show(browser: Any, tmp_path: Path) -> None:
    n = 3_000
    one = report(
        tmp_path,
        models=1,
        records_of=lambda shift: [
            {
                "id": f"r{k}",
                "task": "REL-A1",
                "answer": {"target": k % 8},
                "response": "Answer 1 " + "." * (k % 50),
            }
            for k in range(n)
        ],
    )
    with Watched.open(browser, one) as watched:
        # the sample of a thousand, of which the page says that it is one
        assert "1,0" in watched.page.locator("#count").inner_text()
        assert "of 3,000 rows" in watched.page.locator("#which").inner_text()
        assert watched.page.locator("#list tbody tr").count() == 25
        watched.quiet()
