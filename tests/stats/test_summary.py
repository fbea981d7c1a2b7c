"""Summaries against brute force: clustered errors, pass@k, maj@k; lengths and unusable records; parts are the whole."""

from __future__ import annotations

import itertools
import json
import math
import random
import tempfile
from collections import Counter, defaultdict
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from engine_runs import write_dump
from hypothesis import given, settings
from hypothesis import strategies as st

import relfast
from relfast.cli.table import print_summary
from relfast.errors import UsageError
from relfast.formats.facts import facts_of
from relfast.records import ResponseFacts, Score
from relfast.stats import samples as kept
from relfast.stats.intervals import pass_at_k, wilson
from relfast.stats.lengths import Lengths, Spread
from relfast.stats.samples import FURTHER, SAMPLE, SampleStore
from relfast.stats.summary import Summary, Tally, summarize
from relfast.stats.sums import number_of, units_of
from relfast.stats.unusable import MAX_CAUSES, Unusable
from relfast.tasks import TASKS

Prompts = list[list[tuple[str | None, bool]]]
"""Per prompt its samples: the vote and whether it is right."""


def scores_of(prompts: Prompts, task: str = "REL-A1", first: int = 0) -> list[Score]:
    scores = []
    for number, samples in enumerate(prompts, first):
        for sample, (vote, right) in enumerate(samples):
            status = "no_answer" if vote is None else "ok"
            scores.append(
                Score(number, f"p{number}", task, sample, status, right, float(right), {}, None, vote)
            )
    return scores


def summary_of(scores: list[Score]) -> Summary:
    return summarize(Tally.of(scores), "test")


PROMPTS = st.lists(
    st.lists(
        st.sampled_from([("a", True), ("b", False), ("c", False), (None, False)]), min_size=1, max_size=6
    ),
    min_size=1,
    max_size=8,
)


@given(prompts=PROMPTS)
@settings(max_examples=200, deadline=None)
def test_clustered_error(prompts: Prompts) -> None:
    """Miller 2024 (arXiv 2411.00640), eq. 4, written out over pairs of samples of one prompt."""
    values = [[float(right) for _, right in samples] for samples in prompts]
    flat = [value for group in values for value in group]
    mean = sum(flat) / len(flat)
    within = sum((a - mean) * (b - mean) for group in values for a, b in itertools.product(group, repeat=2))
    task = summary_of(scores_of(prompts)).tasks["REL-A1"].to_dict()
    assert task["correct"] == pytest.approx(mean)
    if len(prompts) == 1:
        assert task["correct_se"] is None
    else:
        small_sample = len(prompts) / (len(prompts) - 1)
        # as variances: the sum over pairs cancels to 1e-17 where the error is 0
        assert task["correct_se"] ** 2 == pytest.approx(within * small_sample / len(flat) ** 2, abs=1e-12)


@given(prompts=PROMPTS)
@settings(max_examples=100, deadline=None)
def test_pass_at_k(prompts: Prompts) -> None:
    """The share of draws of k samples that hold a right one, over the draws of prompts with k samples."""
    reported = pass_at_k(dict(Counter((len(group), sum(right for _, right in group)) for group in prompts)))
    for k in (1, 2, 4, 5, 8):
        passed = []
        for group in prompts:
            draws = list(itertools.combinations([right for _, right in group], k))
            if draws:
                passed.append(sum(map(any, draws)) / len(draws))
        if not passed:
            assert k not in reported
            continue
        assert reported[k][:2] == (pytest.approx(sum(passed) / len(passed)), len(passed))


def test_a_prompt_with_few_samples_hides_nothing() -> None:
    """It lost its other samples to a dead server, say: pass@k is that of the other prompts, and says so."""
    four = [("a", True), ("b", False), ("c", False), ("b", False)]
    task = summary_of(scores_of([four, four, [("a", True)]])).tasks["REL-A1"].to_dict()
    assert (task["records"], task["responses"], task["prompts"]) == (9, 9, 3)
    assert task["pass@k"] == pytest.approx({"1": (0.25 + 0.25 + 1) / 3, "2": 0.5, "4": 1.0})
    assert task["pass@k_prompts"] == {"1": 3, "2": 2, "4": 2}
    assert (task["maj@k"], task["maj@k_prompts"]) == ({"4": 0.0}, {"4": 2})


def majority_by_hand(group: list[tuple[str | None, bool]]) -> float:
    votes = Counter(vote for vote, _ in group if vote is not None)
    if not votes:
        return 0.0
    most = max(votes.values())
    tied = [vote for vote, n in votes.items() if n == most]
    right = dict(group)
    return sum(right[vote] for vote in tied) / len(tied)


@given(prompts=PROMPTS)
@settings(max_examples=200, deadline=None)
def test_prompts_of_as_many_samples(prompts: Prompts) -> None:
    """maj@k and avg@k are of the prompts that have exactly k samples."""
    task = summary_of(scores_of(prompts)).tasks["REL-A1"].to_dict()
    by_size: dict[int, list[list[tuple[str | None, bool]]]] = defaultdict(list)
    for group in prompts:
        if len(group) > 1:
            by_size[len(group)].append(group)
    shares = {"maj@k": majority_by_hand, "avg@k": lambda group: sum(right for _, right in group) / len(group)}
    for name, of in shares.items():
        means = {str(k): sum(map(of, groups)) / len(groups) for k, groups in by_size.items()}
        assert task.get(name, {}) == pytest.approx(means)
        assert task.get(f"{name}_prompts", {}) == {str(k): len(groups) for k, groups in by_size.items()}


F1 = st.floats(-1, 1) | st.sampled_from([0.1, 1 / 3, 2 / 3])
METRICS = st.builds(dict, f1=F1, tp=st.integers(0, 9), alignment_score=st.floats(0, 1e-3))
OF_TASKS = st.tuples(st.sampled_from(["REL-C3", "REL-B1", "ReAlign"]), METRICS, PROMPTS)


@given(prompts=st.lists(OF_TASKS, max_size=8), data=st.data())
@settings(max_examples=100, deadline=None)
def test_parts_together_are_the_whole(
    prompts: list[tuple[str, dict[str, float], Prompts]], data: st.DataObject
) -> None:
    """Exactly, however a run was cut between prompts: blocks in any order, shards through JSON, as reports read them."""
    parts: list[list[Score]] = []
    for at, (task, metrics, several) in enumerate(prompts):
        scores = [replace(score, metrics=metrics) for score in scores_of(several, task, 100 * at)]
        parts += [[*group] for _, group in itertools.groupby(scores, lambda score: score.id)]
    whole = summary_of([*itertools.chain(*parts)]).to_dict()["tasks"]
    mixed = data.draw(st.permutations(parts))
    cut = data.draw(st.integers(0, len(mixed)))
    first, second = ([*itertools.chain(*some)] for some in (mixed[:cut], mixed[cut:]))
    tally = Tally.of(second)
    tally.merge(Tally.of(first))
    assert summarize(tally, "").to_dict()["tasks"] == whole
    merged = summary_of(first)
    merged.merge(Summary.from_dict(json.loads(json.dumps(summary_of(second).to_dict()))))
    assert merged.to_dict()["tasks"] == whole
    assert not merged.notes


def test_exact_sums() -> None:
    values = 0.1, 0.2, 0.3, 5, True, 1e18, -1e18, -6.5
    assert number_of(sum(units_of(value) or 0 for value in values)) == 0.1
    assert units_of(math.inf) is None
    assert units_of(math.nan) is None


def test_different_signatures_are_noted() -> None:
    ours, theirs = summary_of([]), summarize(Tally(), "another")
    ours.merge(theirs)
    assert ours.notes == ["merged with a summary signed another"]


RECORDS: list[dict[str, Any]] = [
    {"id": "a", "task": "REL-A1", "answer": {"target": 3}, "response": ["Answer 4", "Answer 4", "Answer 1"]},
    {"id": "b", "task": "REL-A1", "answer": {"target": 0}, "response": ["Answer 2", "", "Answer 1"]},
    {"id": "c", "task": "REL-A1", "answer": {"target": "x"}, "response": ["1", "2", "3"]},
    {"id": "a", "task": "REL-B1", "answer": {"label": "no", "taxa": []}, "response": "no"},
    {"id": "b", "task": "REL-B1", "answer": {"label": "yes", "taxa": [3, 4]}, "response": "yes: 3"},
    {"id": "d", "task": "REL-C3", "answer": {"missing_smiles": ["C", "N"]}, "response": "<smiles>C</smiles>"},
    {"id": "e", "task": "Unheard-of", "answer": {"x": 1}, "response": "1"},
]


def summary_of_file(tmp_path: Path, **options: Any) -> dict[str, Any]:
    dump = write_dump(tmp_path / "dump.jsonl", RECORDS)
    return relfast.score_file(dump, tmp_path / "rows.jsonl", workers=0, overwrite=True, **options).to_dict()


_TASKS = ",".join(f"{name}:{TASKS[name].revision}" for name in ("REL-A1", "REL-B1", "REL-C3"))


def test_summary_of_a_run(tmp_path: Path) -> None:
    summary = summary_of_file(tmp_path)
    a1 = summary["tasks"]["REL-A1"]
    assert (a1["records"], a1["prompts"], a1["samples_per_prompt"]) == (9, 2, {"min": 3, "max": 3})
    assert a1["statuses"] == {"ok": 5, "no_answer": 1, "invalid_record": 3, "timeout": 0, "crashed": 0}
    # the silent sample of b is "right": the published scorer takes choice 1 for it
    assert a1["correct"] == pytest.approx(4 / 6)
    assert a1["parsed"] == pytest.approx(5 / 6)
    assert a1["reward"] == a1["correct"]
    assert a1["pass@k"] == pytest.approx({"1": 4 / 6, "2": 1.0})
    assert a1["maj@k"] == pytest.approx({"3": (1 + 0.5) / 2})
    b1 = summary["tasks"]["REL-B1"]
    # -1 says "undefined" and is left out of the means
    assert b1["metrics"] == pytest.approx({"precision": 1.0, "recall": 0.5, "f1": 2 / 3})
    assert b1["samples_per_prompt"] == {"min": 1, "max": 1}
    c3 = summary["tasks"]["REL-C3"]
    assert c3["metrics"] == pytest.approx(
        {"tp": 1, "fp": 0, "fn": 1, "precision": 1, "recall": 0.5, "f1": 2 / 3}
    )
    assert c3["correct"] == 0.0
    assert c3["reward"] == pytest.approx(2 / 3)
    assert summary["tasks"]["(unknown)"]["statuses"]["invalid_record"] == 1
    assert list(summary["tasks"])[:3] == ["REL-A1", "REL-B1", "REL-C3"]


def test_reasons_are_counted(tmp_path: Path) -> None:
    summary = summary_of_file(tmp_path, policy="strict")
    assert summary["tasks"]["REL-A1"]["labels"] == {"reason": {"empty": 1}}
    assert summary["tasks"]["REL-A1"]["correct"] == pytest.approx(3 / 6)


STRICT = {"policy": "strict"}
SIGNED: list[tuple[dict[str, Any], list[str]]] = [
    ({}, ["policy reference", "rdkit ", "timeout 6s", _TASKS]),
    (STRICT, ["policy strict", "b1-min-f1 0.5", "tautomers apart"]),
    ({**STRICT, "b1_min_f1": 0.7, "tautomers": "joined"}, ["b1-min-f1 0.7", "tautomers joined"]),
    ({"strip_reasoning": True}, ["reasoning stripped"]),
    ({"rewards": {"rel-c3": "recall"}}, ["reward REL-C3=recall"]),
    ({"timeout": 1.5}, ["timeout 1.5s"]),
    ({"limit": 2, "max_line_bytes": 5000}, ["| timeout 6s | max-line-bytes 5000 | limit 2"]),
]


@pytest.mark.parametrize(("options", "words"), SIGNED)
def test_signature(options: dict[str, Any], words: list[str], tmp_path: Path) -> None:
    signature = summary_of_file(tmp_path, **options)["signature"]
    assert signature.startswith(f"relfast {relfast.__version__} | ")
    assert "\n" not in signature
    for word in words:
        assert word in signature


def test_many_prompts_against_brute_force() -> None:
    """Enough prompts that two ids would share a hash if it were a poor one."""
    rng = random.Random(9)
    prompts: Prompts = [[("a", rng.random() < 0.4) for _ in range(2)] for _ in range(5_000)]
    task = summary_of(scores_of(prompts)).tasks["REL-A1"]
    assert task.prompts == 5_000
    assert task.histogram == dict(Counter((2, sum(right for _, right in group)) for group in prompts))


# samples that are put down while a run goes on come to the same numbers as those that are held


NAMES = [*kept.TASK_NUMBERS, "(unknown)"]


def sample(task: int, further: bool, prompt: int, vote: int, correct: bool) -> bytes:
    return SAMPLE.pack(task + further * FURTHER, prompt * 0x9E37_79B9_7F4A_7C15 % 2**64, vote, correct)


VOTES = st.sampled_from([0, 1, 2, 3, 2**32 - 1])
SAMPLES = st.builds(sample, st.integers(0, 12), st.booleans(), st.integers(0, 60), VOTES, st.booleans())


def stored(samples: list[bytes], chunk: int, patch: pytest.MonkeyPatch) -> SampleStore:
    patch.setattr(kept, "CHUNK_BYTES", chunk * SAMPLE.size)
    store = SampleStore()
    for each in samples:
        store += each
    return store


@settings(max_examples=100, deadline=None)
@given(st.lists(SAMPLES, max_size=120), st.integers(1, 40))
def test_put_down_or_held(samples: list[bytes], chunk: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        store = stored(samples, chunk, patch)
        assert len(store._near) < chunk * SAMPLE.size
        # to the last bit, and in the same order: JSON shows it
        assert repr(store.collapse(NAMES)) == repr(kept.collapse(b"".join(samples), NAMES))
    if samples:
        assert kept.count_few(b"".join(samples)) == kept.count_many(b"".join(samples))


def test_what_cannot_be_put_down_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = [sample(number % 3, False, number % 50, number % 4, number % 5 == 0) for number in range(400)]
    expected = kept.collapse(b"".join(samples), NAMES)

    def full(*_: Any, **__: Any) -> Any:
        raise OSError(28, "No space left on device")

    half = stored(samples[:200], 60, monkeypatch)
    monkeypatch.setattr(kept.os, "pwrite", full)
    for each in samples[200:]:
        half += each
    assert len(half._near) == (400 - 180) * SAMPLE.size
    assert half.collapse(NAMES) == expected
    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    assert stored(samples, 60, monkeypatch).collapse(NAMES) == expected


# lengths of responses, tokens and truncation, read off a dump


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


@given(st.lists(st.integers(0, 10**7), min_size=1, max_size=60), st.sampled_from([0.01, 0.5, 0.95, 1.0]))
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


def test_of_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {
            "id": at, "task": "REL-A1", "answer": {"target": 3}, "response": ["Answer 4", "x" * at],
            "finish_reason": ["stop", "length" if at % 2 else "stop"], "usage": [{"completion_tokens": 3}, {"completion_tokens": at}],
        }
        for at in range(60)
    ]  # fmt: skip
    path = write_dump(tmp_path / "d.jsonl", [*rows, b"\n{broken\n"])
    whole = relfast.score_file(path, tmp_path / "rows.jsonl", workers=0, lengths=True)
    lengths = whole.tasks["REL-A1"].lengths
    assert lengths is not None
    assert (lengths.characters.n, lengths.characters.total) == (120, 60 * 8 + sum(range(60)))
    assert lengths.tokens.total == 60 * 3 + sum(range(60))
    assert lengths.truncated == (30, 120)
    print_summary(whole)
    said = capsys.readouterr().err
    assert "REL-A1: characters 8 (95 %: " in said
    assert "cut off 25.0 % of 120" in said
    # a summary of rows alone has none, and its JSON does not speak of it
    plain = relfast.score_file(path, tmp_path / "plain.jsonl", workers=0)
    assert "lengths" not in plain.to_dict()["tasks"]["REL-A1"]
    assert (tmp_path / "plain.jsonl").read_bytes() == (tmp_path / "rows.jsonl").read_bytes()
    of_run = partial(relfast.score_file, path, workers=0, lengths=True)
    merged, *others = (of_run(tmp_path / f"{n}.jsonl", shard=(n, 3)) for n in range(3))
    for part in others:
        merged.merge(Summary.from_dict(json.loads(json.dumps(part.to_dict()))))
    assert merged.to_dict()["tasks"] == whole.to_dict()["tasks"]
    few = of_run(tmp_path / "few.jsonl", limit=5).tasks["REL-A1"].lengths
    assert few is not None
    assert few.characters.n == 10
    assert whole.tasks["REL-A1"].flat()["truncated"] == 0.25
    with pytest.raises(UsageError, match="cannot be read twice"):
        relfast.score_file("-", tmp_path / "stdin.jsonl", lengths=True)
    assert not (tmp_path / "stdin.jsonl").exists()


# unusable records counted in parts are those counted one by one


@pytest.mark.parametrize("n_causes", [3, MAX_CAUSES, 4 * MAX_CAUSES])
def test_unusable_parts_are_the_whole(n_causes: int) -> None:
    rng = random.Random(n_causes)
    names = [f"cause {chr(0x4E00 + number)}" for number in range(n_causes)]

    def error() -> dict[str, str]:
        if not rng.randrange(9):  # one cause, whatever is named
            return {"type": "MissingGold", "message": f"no gold record with id {rng.randrange(3)}"}
        return {"type": rng.choice("AB"), "message": f"{rng.choice(names)} {rng.random()}"}

    rows = [(error(), line) for line in range(1, 5_000) for _ in range(rng.choice([1, 1, 1, 2]))]
    whole, parts = Unusable(), [Unusable(10 * n_causes)]
    for each, line in rows:
        whole.add(each, f"a:{line}")
        if rng.random() < 0.01:
            parts.append(Unusable(10 * n_causes))
        parts[-1].add(each, str(line))
    merged = Unusable()
    for part in parts:
        merged.merge(part, "a:{}".format)
    assert len(parts) > 10
    assert list(merged.causes.items()) == list(whole.causes.items())
    assert merged.n == whole.n == len(rows)
