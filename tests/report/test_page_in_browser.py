"""The page in a real Chromium: what a reader can do with it, and what a response cannot."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from chromium import Watched, launched
from playwright.sync_api import expect
from report_pages import HOSTILE, report

from relfast.report import record_blocks

pytestmark = pytest.mark.browser

TELEPHONE = {"viewport": {"width": 390, "height": 800}}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report(tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as browser:
        yield browser


@pytest.fixture
def opened(request: pytest.FixtureRequest, browser: Any, path: Path) -> Iterator[Watched]:
    """The page, at a desk's width unless a test says how; whatever it complains of fails the test."""
    with Watched.open(browser, path, **getattr(request, "param", {})) as watched:
        yield watched
        watched.quiet()


def rows(opened: Watched) -> list[str]:
    return opened.page.locator("#list").last.locator("tbody tr:visible").all_inner_texts()


def test_the_first_screen_has_the_scores_and_leads_to_their_records(opened: Watched) -> None:
    page = opened.page
    table = page.locator("#correct table")
    assert page.locator("h1").inner_text().startswith("model0 and model1, ")
    assert table.locator("th").all_inner_texts() == ["task", "prompts", "model0", "model1"]
    column = table.locator("thead button", has_text="model0")
    column.click()
    shares = [float(cell.split()[0]) for cell in table.locator("td:nth-child(3) b").all_inner_texts()]
    assert shares == sorted(shares, reverse=True)
    assert table.locator("th[aria-sort=descending]").inner_text().startswith("model0")
    opened.follow(table.locator("tr", has_text="REL-C2").locator("a").last)
    assert all("REL-C2" in row and "model1" in row for row in rows(opened))
    assert page.locator("#task").input_value() == "REL-C2"


def test_a_view_is_an_address(opened: Watched) -> None:
    for view in ("scores", "compare", "failures", "records", "about"):
        opened.go(f"view={view}")
        shown = opened.page.locator("section[data-view]:visible")
        assert {one.get_attribute("data-view") for one in shown.all()} == {view}
        assert opened.page.locator("nav a[aria-current]").inner_text().lower() == view
    opened.go("view=scores")
    opened.page.emulate_media(media="print")
    expect(opened.page.locator("nav")).to_be_hidden()
    expect(opened.page.locator("#correct table")).to_be_visible()


def test_only_where_models_disagree(opened: Watched) -> None:
    opened.go("view=records&differ=1&task=REL-A1")
    page = opened.page
    assert page.locator("#differ").is_checked()
    signs = {}
    for row in rows(opened):
        sign, name, *_ = row.split()
        signs.setdefault(name, set()).add(sign)
    assert signs
    assert all(len(of_prompt) == 2 for of_prompt in list(signs.values())[:-1])


def test_records_are_filtered_and_paged(opened: Watched) -> None:
    page = opened.page
    opened.go("view=records")
    total = 2 * (60 + len(HOSTILE) + 8)
    assert page.locator("#count").inner_text() == f"{total} of {total} records"
    assert len(rows(opened)) == 25
    page.locator("#list thead button", has_text="id").click()
    ids = page.locator("#list tbody td:nth-child(2)").all_inner_texts()
    assert ids[:4] == ["a0", "a0", "a1", "a1"]
    assert page.locator("#list th[aria-sort=ascending]").count() == 1
    first = rows(opened)
    page.locator("#next").click()
    expect(page.locator("#page")).to_contain_text("2 /")
    assert not set(rows(opened)) & set(first)
    page.locator("#last").click()
    expect(page.locator("#next")).to_be_disabled()
    page.locator("#outcome").select_option(label="wrong")
    page.locator("#model").select_option(label="model1")
    page.locator("#find").fill("c1")
    expect(page.locator("#page")).to_have_text("1 / 1")
    shown = rows(opened)
    assert shown
    assert all("✗" in row and "model1" in row for row in shown)


def test_texts_are_searched(opened: Watched) -> None:
    page = opened.page
    opened.go("view=records")
    page.locator("#text").fill("window.hacked")
    page.locator("#text").press("Enter")
    expect(page.locator("#count")).to_contain_text("6 of")
    opened.settle()
    assert {row.split()[1] for row in rows(opened)} == {"script", "closing", "braces"}


@pytest.mark.parametrize(
    ("query", "holds"),
    [
        ("reward<0.5 model:model1", lambda row: row[4] == "0.000" and row[3] == "model1"),
        ("-outcome:right task:REL-A1", lambda row: row[0] != "✓" and row[2] == "REL-A1"),
        ('-kind:"no molecule" outcome="wrong"', lambda row: row[0] == "✗"),
        ("right=0.5", lambda row: True),
        ("chars>=100000", lambda row: row[1] == "megabyte"),
    ],
)
def test_queries(opened: Watched, query: str, holds: Callable[[list[str]], bool]) -> None:
    page = opened.page
    opened.go("view=records")
    page.locator("#find").fill(query)
    opened.settle()
    shown = [row.split("\t") for row in rows(opened)]
    assert shown
    assert all(holds([cell.strip() for cell in row]) for row in shown), shown[:3]
    total = 2 * (60 + len(HOSTILE) + 8)
    n = int(page.locator("#count").inner_text().split()[0])
    page.locator("#find").fill(f"{query} -id:a")
    opened.settle()
    assert int(page.locator("#count").inner_text().split()[0]) <= n < total


def test_prompts_are_listed_and_shown_with_all_their_responses(opened: Watched) -> None:
    page = opened.page
    opened.go("view=records&grouped=1&task=REL-A1")
    assert page.locator("#count").inner_text().startswith("68 prompts with 136 of")
    page.locator("#list thead button", has_text="right").click()
    shares = [row.split()[0] for row in rows(opened)]
    assert shares[0] in ("no", "0/2")
    opened.go("view=records&grouped=1&prompt=model0/REL-C2/c1/0")
    record = page.locator("#record")
    assert record.locator("h3").inner_text() == "c1"
    assert record.locator(".matrix tbody tr").count() == 2
    assert record.locator(".sides pre").count() == 2
    assert page.locator("#record ins").count() == 0, "both models say the same"
    first = page.url
    page.keyboard.press("j")
    page.wait_for_url(lambda url: url != first)
    opened.settle()
    assert record.locator("h3").inner_text() != "c1"
    page.keyboard.press("k")
    opened.settle()
    assert record.locator("h3").inner_text() == "c1"
    opened.go("prompt=model0/REL-A1/a3/0")
    opened.follow(record.locator(".matrix a").last)
    assert record.locator(".matrix .chosen").count() == 2
    assert "side=" in page.url
    assert record.locator("ins").all_inner_texts() == ["4", "5"]
    with page.expect_download() as loaded:
        record.locator("button", has_text="Download").click()
    lines = [json.loads(line) for line in Path(loaded.value.path()).read_text("utf-8").splitlines()]
    assert [(line["model"], line["id"], line["response"]) for line in lines] == [
        ("model0", "a3", "Answer 4"), ("model1", "a3", "Answer 5")
    ]  # fmt: skip


def test_the_list_is_downloaded_as_it_is_filtered(opened: Watched) -> None:
    page = opened.page
    opened.go("view=records&find=task:REL-C2+reward%3D1")
    with page.expect_download() as loaded:
        page.locator("#export").click()
    lines = [json.loads(line) for line in Path(loaded.value.path()).read_text("utf-8").splitlines()]
    assert {(line["task"], line["reward"], line["correct"]) for line in lines} == {("REL-C2", 1, True)}
    assert len(lines) == int(page.locator("#count").inner_text().split()[0])


def test_differences_are_least(opened: Watched) -> None:
    """Against the longest common sequence by its definition."""
    rng = random.Random(5)
    for _ in range(60):
        texts = ["".join(rng.choices(["a", "b", "cc", " ", "\n"], k=rng.randrange(40))) for _ in range(2)]
        words = [[word for word in re.split(r"(\s+)", text) if word] for text in texts]
        sides = opened.page.evaluate("texts => differences(...texts)", texts)
        assert ["".join(part for part, _ in side) for side in sides] == texts
        common = ["".join(part for part, differs in side if not differs) for side in sides]
        assert common[0] == common[1]
        longest = [[0] * (len(words[1]) + 1) for _ in range(len(words[0]) + 1)]
        for i, one in enumerate(words[0]):
            for j, other in enumerate(words[1]):
                longest[i + 1][j + 1] = (
                    longest[i][j] + 1 if one == other else max(longest[i][j + 1], longest[i + 1][j])
                )
        kept = sum(
            len([word for word in re.split(r"(\s+)", part) if word])
            for part, differs in sides[0]
            if not differs
        )
        assert kept == longest[-1][-1] or common[0] == ""
    assert opened.page.evaluate("differences('a '.repeat(9000), 'b')") is None


def test_deep_links(opened: Watched) -> None:
    page = opened.page
    opened.go("record=model1/REL-C2/c1/0")
    assert "c1" in page.locator("#record h3").inner_text()
    assert page.locator("#record mark").inner_text() == "CCC"
    assert page.locator("#record svg.molecule").count() >= 2
    assert page.locator("#list tr[aria-current=true]").count() == 1
    # the same prompt's other response
    opened.follow(page.locator("#record .note a").first)
    expect(page.locator("#record")).to_contain_text("REL-C2 · model0")
    assert page.url.endswith("record=model0%2FREL-C2%2Fc1%2F0")
    opened.go("record=nobody/REL-C2/c1/0")
    expect(page.locator("#record")).to_contain_text("not in the page")
    # a count leads to its records
    opened.go("view=failures")
    count = page.locator("#what-goes-wrong td a").first
    n = count.inner_text().split()[0]
    opened.follow(count)
    assert page.locator("#count").inner_text().startswith(f"{n} of ")
    assert all("wrong answer" in row and "model0" in row for row in rows(opened))


def test_keys(opened: Watched) -> None:
    page = opened.page
    page.keyboard.press("j")
    expect(page.locator("#record h3")).to_be_visible()
    first = page.url
    page.keyboard.press("j")
    page.wait_for_url(lambda url: url != first)
    page.keyboard.press("k")
    page.wait_for_url(first)
    page.keyboard.press("/")
    expect(page.locator("#find")).to_be_focused()
    page.keyboard.type("j")
    assert page.locator("#find").input_value() == "j"
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()


def test_hostile_responses_are_text(opened: Watched) -> None:
    page, shown = opened.page, {}
    for name in HOSTILE:
        opened.go(f"record=model0/REL-A1/{name}/0")
        assert page.evaluate("window.hacked") is None
        assert page.locator("#record img, #record script").count() == 0
        shown[name] = page.locator("#record pre").first.text_content() or ""
    assert all(shown[name] == HOSTILE[name] for name in ("script", "closing", "braces"))
    assert "U+202E" in shown["right-to-left"]
    assert "\u202e" not in shown["right-to-left"]
    assert "U+2028" in shown["separators"]
    assert "characters left out" in shown["megabyte"]


@pytest.mark.parametrize("opened", [{"color_scheme": "dark"}], indirect=True)
def test_dark_and_light(opened: Watched) -> None:
    page = opened.page
    # figures follow: their letters are the page's ink
    letters = "getComputedStyle(document.querySelector('.drawing text')).fill"
    looks = f"[getComputedStyle(document.body).backgroundColor, {letters}]"
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    before = page.evaluate(looks)
    page.keyboard.press("t")
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    assert all(one != other for one, other in zip(page.evaluate(looks), before, strict=True))


@pytest.mark.parametrize("opened", [TELEPHONE, {}], indirect=True)
def test_nothing_sticks_out(opened: Watched) -> None:
    page, width = opened.page, opened.page.viewport_size["width"]
    for record in ("REL-A1/megabyte", "REL-C3/isomers", "SeqBench/maze", "REL-B1/b"):
        opened.go(f"record=model0/{record}/0")
        assert page.locator("#record pre").count()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        covered = "all => all.filter(each => each.getBoundingClientRect().bottom > 1 + each.nextElementSibling.getBoundingClientRect().top)"
        assert page.locator("#record > .tools").evaluate_all(covered) == []
    for view in ("scores", "compare", "failures", "records&grouped=1", "records&prompt=model0/REL-A1/a3/0"):
        opened.go(f"view={view}")
        tables = "all => all.filter(each => each.scrollWidth > each.clientWidth).map(each => each.ariaLabel)"
        assert width > 390 or page.locator(".scroll:visible").evaluate_all(tables) == []


@pytest.mark.parametrize("opened", [TELEPHONE], indirect=True)
def test_on_a_telephone_a_record_is_a_view_with_a_way_back(opened: Watched) -> None:
    page = opened.page
    opened.go("view=records&task=REL-C2")
    opened.follow(page.locator("#list a").first)
    expect(page.locator("#record h3")).to_be_visible()
    expect(page.locator("#list")).to_be_hidden()
    assert page.locator("#record h3").bounding_box()["y"] < 300
    opened.follow(page.locator(".way-back"))
    expect(page.locator("#list")).to_be_visible()
    assert page.locator("#task").input_value() == "REL-C2"


@pytest.mark.parametrize(
    "opened", [{"color_scheme": "light"}, {"color_scheme": "dark"}, TELEPHONE], indirect=True
)
def test_axe_finds_nothing(opened: Watched) -> None:
    from axe_core_python.sync_playwright import Axe

    for place in (
        "",
        "view=compare",
        "view=failures",
        "view=records&grouped=1",
        "record=model0/REL-C3/isomers/0",
        "prompt=model0/REL-C2/c1/0",
        "view=about",
    ):
        opened.go(place)
        opened.page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        found = Axe().run(opened.page)["violations"]
        assert [(one["id"], [node["html"][:200] for node in one["nodes"][:3]]) for one in found] == []


def test_texts_beside_the_page_are_taken_in(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_blocks, "INSIDE_CHARS", 0)
    monkeypatch.setattr(record_blocks, "RECORDS_A_BLOCK", 20)
    one = report(tmp_path, models=1)
    assert list((one.parent / "records").iterdir())
    with Watched.open(browser, one) as watched:
        watched.go("view=records&text=names+none")
        expect(watched.page.locator("#count")).to_contain_text("0 of")
        assert watched.complaints == []
        pieces = {address for address in watched.asked if not address.endswith("index.html")}
        assert pieces
        assert all(address.startswith((one.parent / "records").as_uri()) for address in pieces)
