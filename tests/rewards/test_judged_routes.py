"""REL-C2 and C3 where kernels judge texts at hand: the scores are those of the ordinary way, for any text."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator
from typing import Any

import pytest
from rel_c_texts import POLICIES, RECORDS, build_units, molecules, tags_with_pieces
from seeds import SEED, rounds

import relfast
from relfast.chem import common_substructure
from relfast.engine import judged_texts
from relfast.engine.online.routes import Routes
from relfast.records import Score
from relfast.tasks.rel_c import judges

Asked = tuple[str, Any, Any]


@pytest.fixture(scope="session", autouse=True)
def units() -> None:
    build_units()


def score(
    asked: list[Asked], *, short: bool = True, workers: int = 0, **options: Any
) -> tuple[Scorings, dict[str, int]]:
    """Scores of a batch and of some of it one by one, and what is counted."""
    with pytest.MonkeyPatch.context() as patch:
        if not short:
            patch.setattr(judged_texts.Judges, "of", lambda self, name: None)
        with relfast.Scorer(workers=workers, **options) as scorer:
            batch = scorer.score_batch(*columns(asked))
            single = [scorer.score_one(*one) for one in asked[::3]]
            return (batch, single), scorer.stats()


Scorings = tuple[relfast.ScoreBatch, list[Score]]


def columns(asked: list[Asked]) -> tuple[list[str], list[Any], list[Any]]:
    tasks, answers, responses = map(list, zip(*asked, strict=True))
    return tasks, answers, responses


def same(asked: list[Asked], **options: Any) -> Scorings:
    """What both ways give."""
    (found, single), stats = score(asked, **options)
    (expected, expected_single), expected_stats = score(asked, short=False, **options)
    assert found.scores == expected.scores
    assert single == expected_single
    assert found.status.tolist() == expected.status.tolist()
    assert repr(found.correct.tolist()) == repr(expected.correct.tolist())
    assert repr(found.reward.tolist()) == repr(expected.reward.tolist())
    assert {name: repr(column.tolist()) for name, column in found.metrics.items()} == {
        name: repr(column.tolist()) for name, column in expected.metrics.items()
    }
    names = ("ok", "no_answer", "invalid_record", "timeout", "crashed")
    assert [stats[name] for name in names] == [expected_stats[name] for name in names]
    return found, single


def texts_of(rng: random.Random, some: list[str], n: int) -> Iterator[str]:
    """Plain tags, with a piece or two among them."""
    for _ in range(n):
        said = rng.choices((*some, "CCO", "C1CC(", "[13CH4]", "CC[Te]C"), k=rng.randrange(1, 3))
        yield tags_with_pieces(rng, said, rng.choice((0, 0, 1, 2, 5)))


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("task", RECORDS)
def test_any_text_gives_the_same_scores(task: str, policy: str) -> None:
    rng = random.Random(f"{SEED} {task} {policy} texts")
    for _ in range(rounds(2)):
        asked: list[Asked] = []
        for record in RECORDS[task]:
            some = [text for other in RECORDS[task] for text in molecules(other)]
            asked += [(task, record["answer"], text) for text in texts_of(rng, some, 60)]
        rng.shuffle(asked)
        same(asked, policy=policy)


WRONG_GOLDS: list[Any] = [
    None, [], {}, "C", 7, {"smiles": None}, {"smiles": ["C"]}, {"smiles": "C.C"}, {"smiles": "["}, {"smiles": ""},
    {"smiles": "CC[Te]C"}, {"missing_smiles": []}, {"missing_smiles": "C"}, {"missing_smiles": ["C", 7]},
    {"missing_smiles": [["C"]]}, {"missing_smiles": ["C\n"]}, {"missing_smiles": ["CC[Te]C", "C"]},
    {"missing_smiles": ["["]}, {"missing_smiles": ["\u00e9"]}, {"missing_smiles": ["C"], "molecules": ["CC", 1]},
    {"missing_smiles": ["C"], "molecules": "CC"}, '{"smiles": "CCO"}', '{"missing_smiles": ["CCO", "COC"]}', "{",
]  # fmt: skip


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("task", ["REL-C2", "REL-C3", "rel-c2", None])
def test_golds_and_responses_of_all_kinds(task: Any, policy: str) -> None:
    texts: list[Any] = ["<smiles>C</smiles>", "no", "", None, 5, "<smiles>COC</smiles>\n<smiles>OCC</smiles>"]
    texts += ["<smiles>\ud800</smiles>", "x" * 20_001 + "<smiles>OCC</smiles>", ["<smiles>C</smiles>"]]
    asked = [(task, gold, text) for gold in WRONG_GOLDS for text in texts]
    # more molecules than are held at once
    texts = "\n".join(f"<smiles>C{'C' * (at % 50)}O</smiles>" for at in range(700))
    asked += [
        ("REL-C3", {"missing_smiles": ["CCO"] * n, "molecules": ["CCC"]}, texts) for n in (1, 298, 299, 300)
    ]
    same(asked, policy=policy)
    # among others, that take other ways
    asked += [("REL-C1", {"label": "Yes"}, "<Yes>"), ("REL-A1", {"target": 3}, "Answer: 3"), ("x", {}, "y")]
    random.Random(SEED).shuffle(asked)
    same(asked, policy=policy)


def nested(depth: int) -> list[Any]:
    held: list[Any] = []
    for _ in range(depth):
        held = [held]
    return held


class Held(dict[str, Any]):
    """No dict to JSON's writers that look twice."""


def beside() -> Iterator[tuple[Any, bool]]:
    """What may stand beside gold's own field, and whether it has a form in JSON."""
    for held in (
        None,
        1.5,
        math.nan,
        math.inf,
        10**30,
        "\ud800",
        (1, 2),
        {1: 2},
        {None: 1},
        Held(a=1),
        nested(300),
    ):
        yield held, True
    for held in (
        {1, 2},
        b"x",
        object(),
        1j,
        {"a": [{b"k": 1}]},
        {(1, 2): 3},
        nested(5_000),
        RECORDS,
        lambda: None,
    ):
        yield held, held is RECORDS
    loop: list[Any] = []
    loop.append(loop)
    yield loop, False


@pytest.mark.parametrize("policy", POLICIES)
def test_what_is_no_json_beside_gold(policy: str) -> None:
    """A broken record is one in a batch or alone, with workers or without."""
    rng = random.Random(f"{SEED} {policy} beside")
    asked: list[Asked] = []
    sound: list[bool] = []
    for task, records in RECORDS.items():
        for held, is_sound in beside():
            for record in rng.sample(records, 2):
                answer = {**record["answer"], rng.choice(("note", "a", 7)): held}
                texts = [f"<smiles>{text}</smiles>" for text in (molecules(record)[0], "CCO")]
                if rng.random() < 0.5:
                    answer = dict(reversed(answer.items()))
                # its neighbours are as good as ever
                asked += [(task, answer, text) for text in texts] + [(task, record["answer"], texts[0])]
                sound += [is_sound, is_sound, True]
    (expected, _) = same(asked, policy=policy)
    assert [status != "invalid_record" for status in expected.status] == sound
    for score in expected.scores:
        if score.error is not None:
            assert score.error["type"] == "InvalidGold"
            assert score.error["message"].startswith("answer has something in it that JSON has not (")
    (found, _) = same(asked, policy=policy, workers=1)
    assert found.scores == expected.scores


@pytest.mark.parametrize("policy", POLICIES)
def test_mutated_gold(policy: str) -> None:
    """Gold as JSON text with a byte more, less or changed, and gold with a value changed into any other."""
    rng = random.Random(f"{SEED} {policy} mutated")
    others = [held for held, _ in beside()]
    asked: list[Asked] = []
    for task, records in RECORDS.items():
        for record in records:
            response = f"<smiles>{molecules(record)[0]}</smiles>"
            text = json.dumps(record["answer"])
            for _ in range(8):
                first = rng.randrange(len(text))
                piece = rng.choice(
                    ('"', ",", "}", "]", "x", "0", " ", "\\", ":", "null", "NaN", "", "", "}}", "\ud800")
                )
                asked.append((task, text[:first] + piece + text[first + rng.randrange(3) :], response))
            asked += [
                (task, text + rubbish, response) for rubbish in (" x", ",", "}", " {}", "\n", "//", "\0")
            ]
            for _ in range(6):
                answer = dict(record["answer"])
                field = rng.choice([*answer])
                answer[field] = rng.choice(others)
                if isinstance(record["answer"][field], list) and rng.random() < 0.5:
                    answer[field] = [*record["answer"][field], rng.choice(others)]
                asked.append((task, answer, response))
    rng.shuffle(asked)
    found, _ = same(asked, policy=policy)
    assert {"ok", "invalid_record"} <= set(found.status)
    (with_workers, _) = same(asked, policy=policy, workers=1)
    assert with_workers.scores == found.scores


def plain(n: int) -> list[Asked]:
    return [
        (task, record["answer"], f"{number} <smiles>{molecules(record)[number % 3]}</smiles>")
        for number in range(n)
        for task, records in RECORDS.items()
        for record in records
    ]


@pytest.mark.parametrize("policy", POLICIES)
def test_little_room(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Golds are forgotten in the middle of a batch."""
    monkeypatch.setattr(judged_texts, "MAX_TEXTS", 5)
    monkeypatch.setattr(judges, "MAX_TEXTS", 5)
    monkeypatch.setattr(judges, "GOLDS", 6)
    monkeypatch.setattr(common_substructure, "MOLECULES", 7)
    asked = plain(5)
    random.Random(SEED).shuffle(asked)
    many = [
        ("REL-C2", {"smiles": "C" * (1 + n % 59)}, f"<smiles>{'C' * (n % 50)}O</smiles>") for n in range(90)
    ]
    same(asked, policy=policy)
    same(many, policy=policy)


@pytest.mark.parametrize("policy", POLICIES)
def test_plain_tags_need_nothing_else(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the ordinary way would be held against itself above."""
    monkeypatch.setattr(Routes, "_begun", None)
    monkeypatch.setattr(Routes, "begin", None)
    asked = plain(3)
    scorer = relfast.Scorer(policy=policy, workers=0)  # type: ignore[arg-type]
    batch = scorer.score_batch(*columns(asked))
    assert set(batch.status) == {"ok"}
    assert [scorer.reward(*one) for one in asked] == batch.reward.tolist()
    assert scorer.rewards(*columns(asked)) == batch.reward.tolist()
    # each answer once, by whichever door
    assert scorer.stats()["scored_before"] == 2 * len(asked) + len(asked) - len(
        {(task, str(answer), text[2:]) for task, answer, text in asked}
    )
