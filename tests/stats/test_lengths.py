"""Lengths of responses, tokens and truncation: what is read off a dump, and that parts add up to the whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import relfast
from relfast.cli.table import print_summary
from relfast.errors import UsageError
from relfast.formats.facts import facts_of
from relfast.records import ResponseFacts
from relfast.stats.intervals import wilson
from relfast.stats.lengths import Lengths, Spread
from relfast.stats.summary import Summary

NUMBERS = st.none() | st.integers(0, 200_000)
FACTS = st.builds(
    ResponseFacts, NUMBERS, NUMBERS, NUMBERS, NUMBERS, st.sampled_from([None, "stop", "length"])
)


def lengths_of(facts: list[ResponseFacts]) -> Lengths:
    lengths = Lengths()
    for item in facts:
        lengths.add(item)
    return lengths


@given(facts=st.lists(FACTS, max_size=40), cut=st.integers(0, 40))
@settings(max_examples=150, deadline=None)
def test_merge_is_the_whole(facts: list[ResponseFacts], cut: int) -> None:
    """Exactly, through JSON, and whichever comes first."""
    whole = lengths_of(facts)
    merged = lengths_of(facts[cut:])
    merged.merge(Lengths.from_dict(json.loads(json.dumps(lengths_of(facts[:cut]).to_dict()))))
    assert merged.to_dict() == whole.to_dict()
    known = [item for item in facts if item.finish_reason is not None]
    truncated = sum(item.finish_reason == "length" for item in known)
    assert whole.truncated == (truncated, len(known))
    interval = list(wilson(truncated, len(known))) if known else None
    assert whole.to_dict().get("truncated_interval") == interval


@given(
    values=st.lists(st.integers(0, 10**7), min_size=1, max_size=60),
    share=st.sampled_from([0.01, 0.5, 0.95, 1.0]),
)
@settings(max_examples=200, deadline=None)
def test_quantiles_are_within_their_bin(values: list[int], share: float) -> None:
    spread = Spread()
    for value in values:
        spread.add(value)
    true = sorted(values)[max(0, -(-round(share * 100) * len(values) // 100) - 1)]
    found = spread.quantile(share)
    assert found == pytest.approx(true, rel=0.0625)
    if true < 16:
        assert found == true
    assert spread.mean == pytest.approx(sum(values) / len(values))
    assert Spread().quantile(0.5) is None


@pytest.mark.parametrize(
    ("row", "sample", "samples", "expected"),
    [
        ({}, 0, 1, ResponseFacts(4, 0)),
        ({"finish_reason": "length", "usage": {"completion_tokens": 7}}, 0, 1, ResponseFacts(4, 0, 7, None, "length")),
        ({"reasoning": "because"}, 0, 1, ResponseFacts(4, 7)),
        ({"reasoning": ["a", "bc"], "finish_reason": ["stop", "length"]}, 1, 2, ResponseFacts(4, 2, None, None, "length")),
        (
            {"generation": {"usage": [{"completion_tokens": 3, "reasoning_tokens": 2}, None], "finish_reason": "stop"}},
            0, 2, ResponseFacts(4, 0, 3, 2, "stop"),
        ),
        (
            {"response": {"body": {
                "choices": [{"finish_reason": "length", "message": {"content": "text", "reasoning_content": "hm"}}],
                "usage": {"completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 4}},
            }}},
            0, 1, ResponseFacts(4, 2, 9, 4, "length"),
        ),
        # two choices share a usage: it is no one's
        (
            {"response": {"body": {"choices": [{"finish_reason": "stop"}, {}], "usage": {"completion_tokens": 9}}}},
            0, 2, ResponseFacts(4, 0, None, None, "stop"),
        ),
        (
            {"response": {"body": {"incomplete_details": {"reason": "max_output_tokens"}, "usage": {"output_tokens": 5}}}},
            0, 1, ResponseFacts(4, 0, 5, None, "max_output_tokens"),
        ),
        ({"usage": 5, "finish_reason": {"a": 1}, "reasoning": [1], "generation": []}, 0, 1, ResponseFacts(4, 0)),
        ({"usage": {"completion_tokens": -1, "reasoning_tokens": True}}, 0, 1, ResponseFacts(4, 0)),
    ],
)  # fmt: skip
def test_facts(row: dict[str, Any], sample: int, samples: int, expected: ResponseFacts) -> None:
    assert facts_of(row, "text", sample, samples) == expected


def test_reasoning_in_the_text() -> None:
    facts = facts_of({}, "<think>long thought</think>Answer 3")
    assert (facts.characters, facts.reasoning_characters) == (35, 27)
    assert facts.truncated is None
    assert facts_of({"finish_reason": "max_tokens"}, "x").truncated is True
    assert facts_of({}, None) == ResponseFacts()
    assert facts_of({}, ["no text"]) == ResponseFacts()


def dump(path: Path, n: int = 60) -> Path:
    rows = [
        {
            "id": at, "task": "REL-A1", "answer": {"target": 3}, "response": ["Answer 4", "x" * at],
            "finish_reason": ["stop", "length" if at % 2 else "stop"], "usage": [{"completion_tokens": 3}, {"completion_tokens": at}],
        }
        for at in range(n)
    ]  # fmt: skip
    text = "".join(json.dumps(row) + "\n" for row in rows) + "\n{broken\n"
    path.write_text(text, "utf-8")
    return path


def test_of_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = dump(tmp_path / "d.jsonl")
    whole = relfast.score_file(path, tmp_path / "rows.jsonl", workers=0, lengths=True)
    lengths = whole.tasks["REL-A1"].lengths
    assert lengths is not None
    assert (lengths.characters.n, lengths.characters.total) == (120, 60 * 8 + sum(range(60)))
    assert lengths.tokens.total == 60 * 3 + sum(range(60))
    assert lengths.truncated == (30, 120)
    print_summary(whole)
    said = capsys.readouterr().err
    assert "REL-A1: characters 8 (95%: " in said
    assert "cut off 25.0% of 120" in said
    # a summary of rows alone has none, and its JSON does not speak of it
    plain = relfast.score_file(path, tmp_path / "plain.jsonl", workers=0)
    assert "lengths" not in plain.to_dict()["tasks"]["REL-A1"]
    assert (tmp_path / "plain.jsonl").read_bytes() == (tmp_path / "rows.jsonl").read_bytes()
    merged, *others = (
        relfast.score_file(path, tmp_path / f"{n}.jsonl", workers=0, lengths=True, shard=(n, 3))
        for n in range(3)
    )
    for part in others:
        merged.merge(Summary.from_dict(json.loads(json.dumps(part.to_dict()))))
    assert merged.to_dict()["tasks"] == whole.to_dict()["tasks"]
    few = relfast.score_file(path, tmp_path / "few.jsonl", workers=0, lengths=True, limit=5)
    assert few.tasks["REL-A1"].lengths is not None
    assert few.tasks["REL-A1"].lengths.characters.n == 10
    assert whole.to_pandas().loc[0, "truncated"] == 0.25
    with pytest.raises(UsageError, match="cannot be read twice"):
        relfast.score_file("-", tmp_path / "stdin.jsonl", lengths=True)
    assert not (tmp_path / "stdin.jsonl").exists()
