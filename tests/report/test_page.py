"""What can be said of a report's page without a browser; `test_page_in_browser` has the rest."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from report_pages import HOSTILE, report, tags

from relfast.report.record_blocks import MAX_TEXT


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    return report(tmp_path_factory.mktemp("page"), models=1).read_text(encoding="utf-8")


def unpacked(page: str, name: str) -> Any:
    found = re.search(rf'<script type="text/plain" id="{name}">([^<]*)</script>', page)
    assert found is not None
    return json.loads(gzip.decompress(base64.b64decode(found[1])))


def test_the_policy_lets_in_our_own_script_and_style_and_nothing_else(page: str) -> None:
    policy = next(a["content"] for tag, a in tags(page) if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert "http" not in policy
    for tag in ("script", "style"):
        (text,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_nothing_is_fetched_and_nothing_runs_from_attributes(page: str) -> None:
    """And no response is in the page as markup."""
    ids = [attributes["id"] for _, attributes in tags(page) if attributes.get("id")]
    assert len(ids) == len(set(ids))
    assert "window.hacked" not in page
    assert page.isprintable() or not re.search("[\u2028\u202e\x00\ud800]", page)
    for tag, attributes in tags(page):
        assert tag not in ("iframe", "object", "embed", "link", "base")
        assert "style" not in attributes
        assert not [name for name in attributes if name.startswith("on")]
        for name in ("src", "href", "xlink:href", "action"):
            value = attributes.get(name) or ""
            assert not re.match(r"\s*(?:[a-z]+:|//)", value, re.IGNORECASE) or value.startswith("data:image/")


def records(page: str) -> dict[str, dict[str, Any]]:
    """What the page has of each record, by id, its size beside it."""
    index = unpacked(page, "record-index")
    texts = []
    for number in range(len(index["starts"])):
        block = unpacked(page, f"block-{number}")
        shared = block["shared"]
        assert len({json.dumps(each) for each in shared}) == len(shared), "what records share is there once"
        for record in block["records"]:
            record |= {name: shared[record[name]] for name in ("question", "gold")}
            for group in record["groups"]:
                group["drawings"] = [[shared[svg], *more] for svg, *more in group["drawings"]]
            texts.append(record)
    columns = zip(index["id"], index["length_of"], index["tokens"], texts, strict=True)
    return {name: {**text, "size": (length, tokens)} for name, length, tokens, text in columns}


def test_records_are_there_with_their_answers_marked(page: str) -> None:
    by_id = records(page)
    assert (by_id["a7"]["size"], by_id["maze"]["size"]) == ((8, 8), (28, None))
    for name, text in HOSTILE.items():
        response = by_id[name]["response"]
        if name == "megabyte":
            assert sum(len(part) for part, _ in response) < MAX_TEXT * 1.1
            assert [kind for _, kind in response].count("cut") == 2
        else:
            assert "".join(part for part, _ in response) == text
        (marked,) = [part for part, kind in response if kind == "answer"]
        assert marked.endswith("3")
    assert by_id["a0"]["why"] == ""
    assert by_id["a7"]["why"] == "It names choice 3; the right one is choice 8."
    assert ["['start: B1', 'move_to: B2']", "plan"] in by_id["maze"]["response"]
    assert "not adjacent" in by_id["maze"]["why"]
    assert by_id["none"]["metrics"] == [[name, "not defined"] for name in ("precision", "recall", "f1")]
    assert by_id["none"]["listings"] == []
    assert "1 of the missing isomers are found" in by_id["isomers"]["why"]
    titles = [group["title"] for group in by_id["isomers"]["groups"]]
    assert titles == ["Found (1)", "Missed (1)", "False positives (1)", "Given (1)"]


def test_drawings_have_no_styles_no_scripts_and_no_addresses(page: str) -> None:
    groups = [group for record in records(page).values() for group in record["groups"]]
    drawn = [drawing[0] for group in groups for drawing in group["drawings"] if drawing[0]]
    assert len(drawn) > 5
    for svg in drawn:
        for tag, attributes in tags(svg):
            assert tag in {"svg", "g", "path", "rect", "ellipse", "line", "polyline", "text", "title"}
            assert not {"style", "href"} & set(attributes)


def test_the_same_rows_give_the_same_page(page: str, tmp_path: Path) -> None:
    assert report(tmp_path, models=1).read_text(encoding="utf-8") == page
