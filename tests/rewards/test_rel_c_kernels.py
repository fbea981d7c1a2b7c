"""REL-C2 and C3 where kernels judge, lines by the block and texts at hand: rows, scores and what is counted of them are
those of the ordinary way, for any response and any gold."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from both_ways import Scored, Ways
from corpora import rel_records
from relfast_kernels.compiled import native
from seeds import SEED, rounds

import relfast
from relfast.chem import common_substructure
from relfast.engine import block_rows, judged_texts
from relfast.engine.file_run.block_scoring import BlockScoring
from relfast.engine.io.blocks import Block
from relfast.engine.job import Job
from relfast.engine.scoring import Scoring
from relfast.records import Score
from relfast.tasks.options import AllOptions
from relfast.tasks.rel_c import extract, judges
from relfast.tasks.rel_c.judges import IsomersJudge

Json = dict[str, Any]

POLICIES = ("reference", "strict")
RECORDS = {task: rel_records(task)[:6] for task in ("REL-C2", "REL-C3")}


def molecules(record: Json) -> list[str]:
    """Of gold, and some that the question gives."""
    answer = record["answer"]
    return [*answer.get("missing_smiles", [answer.get("smiles")]), *answer["molecules"][:3]]


PIECES = (
    "<smiles>", "<smiles>", "<smiles>", "</smiles>", "</smiles>", "<SMILES>", "</ smiles>", "<smiles", "<",
    "<\u017fmiles>", "<sm\u0131les>", "<s>", "</s>", "<del>", "<strike>", "<!--", "-->", "~~", "/*", "&lt;", "\\u003c",
    "\\<", "\\n", "\uff1c", "<think>", "</think>", "<THINK", "[eos]", "[nH]", "\u25c1think\u25b7", "analysis",
    "<|im_end|>", "\n", "\r\n", "\n\n", " ", "\t", "\x1c", "\x85", "\u2028", "\u00e9", ". ", ", ", "1. ", "- ", "\u2022",
    "*", "`", "and", "or", "tag", "smiles=", "Answer=", "motif", "The answer is:", "Given molecules:\n", "not",
    "This is not the motif: ", "For example ", "CCO", "c1ccccc1", "C(C)C", "CC[Te]C", "[13CH4]", "[NH4+]", "C.C",
    "C:C", "C\\C=C/C", "F[C@H](Cl)Br", "C" * 1_001, "wait, ", "C1CC(", "<answer>", "</answer>", "---", "***", "|", '", "',
    "}", "\\boxed{", "[", "$", ":", "Yes?", "Is it ", "?", "Such as ", "Final answer: ", "&", "Not an isomer:\n",
    "\ud800", "answer", "O=C1C=CC=CN1", "Oc1ccccn1",
)  # fmt: skip


def tags_with_pieces(rng: random.Random, said: Sequence[str], n: int, before: Sequence[str] = ()) -> str:
    """A few tags with some of what is ``said`` in them, ``n`` pieces among them."""
    parts = [*before, *(f"<smiles>{rng.choice(said)}</smiles>\n" for _ in range(rng.randrange(1, 5)))]
    for _ in range(n):
        parts.insert(rng.randrange(len(parts) + 1), rng.choice(PIECES))
    return "".join(parts)


# lines


@pytest.fixture(scope="session", autouse=True)
def units() -> None:
    """See that the kernels are there that judge."""
    for unit in ("text", "tags", "smiles", "mcs"):
        if native.load(unit) is None:
            native.build(unit)


def same(lines: Sequence[Json | bytes], job: Job, **options: Any) -> Scored:
    """What both ways give."""
    return Ways.of_job(job).same(lines, segment_lines=7, **options)


def left(found: Scored) -> int:
    """Lines of which an extractor read the response."""
    return found.n_left + found.n_exact


def job_of(policy: str, *, strip: bool = False, **options: Any) -> Job:
    return Job(options=AllOptions(policy=policy, strip_reasoning=strip), **options)  # type: ignore[arg-type]


HELD = (
    "not sure", "n/a", "I don't know", "C C", "c1:c:c:c:c:c:1", "C:C", "F/C=C/F", "F\\C=C\\F", "C~C", "C*", "*C", "CC.O",
    "C.", " CCO ", "\nCCO\n", "CCO\tO", "your smiles here", "YOUR_SMILES_HERE", "Motif: CC", "motif 1: CC", "isomer", "?",
    "...", "1. CC", "- CC", "(1) CC", "[1] CC", "#1 CC", "'CC'", "_CC_", "\\(CC\\)", "C\\(C\\)", "C\\nC", "C\\n", "C\\r\\nC",
    "~~CC~~", "C/*C", "*/", "**CC**", "the SMILES", "Molecule 3", "none", "[C:1]", "C:", ":", "$CC$", "smiles = CC", "C#C:",
    "c1ccc", "C" * 1_001 + ":", "CC!", "CC, CO", "C\u00a0C", "13", "1.", "wait, no", "never mind", "not the answer?",
)  # fmt: skip
"""What tags hold that is not plain."""

REASONING = (
    "<think>a</think>", "a <smiles>CC</smiles>\n</think>\n\n", "<think>\nFor example:\n</think>", "<think>", "\n<think>b</think>",
    "<THINK>not\n</Think>This is it: ", "<thin\u212a>c</think>", "<th\u0130nk>", "x<think>y</think>", "<think></think></think>",
    "<think>a</think>Not the answer: ", "<thinking>a</thinking>", "[THINK]a[/THINK]", "[reasoned]</think>", "\u2192 <think>\u97aa</think>",
)  # fmt: skip
"""What may stand before the tags."""


def texts_of_pieces(rng: random.Random, some: list[str], n: int) -> Iterator[str]:
    """Texts of whatever means something to an extractor, and of plain tags with a piece or two among them."""
    for number in range(n):
        if number % 2:
            yield "".join(rng.choices((*PIECES, *some), k=rng.randrange(1, 14)))
        else:
            said = rng.choices((*some, "CCO", "C1CC("), k=rng.randrange(1, 3))
            if rng.random() < 0.5:
                said.append(rng.choice(HELD))
            before = [rng.choice(REASONING)] if rng.random() < 0.4 else []
            yield tags_with_pieces(rng, said, rng.randrange(3), before)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("task", RECORDS)
def test_any_text_gives_the_same_rows(task: str, policy: str) -> None:
    rng = random.Random(f"{SEED} {task} {policy}")
    for _ in range(rounds(4)):
        lines = []
        for record in RECORDS[task]:
            for number, text in enumerate(texts_of_pieces(rng, molecules(record), 40)):
                lines.append({**record, "id": f"{record['id']} {number}", "response": text})
        rng.shuffle(lines)
        found = same(lines, job_of(policy, strip=rng.random() < 0.5, details=rng.random() < 0.5))
        # else the ordinary way would be compared with itself
        assert left(found) < 0.95 * len(lines)


IDS = ("a", 'quote" and \\', "\u00e9\u2028", "", None, 0, 17, -3, 10**25, 1.5, True, ["x"], "x" * 300)


@pytest.mark.parametrize("policy", POLICIES)
def test_shapes_of_lines(policy: str) -> None:
    """Ids of all kinds, samples in a list, lines of other tasks between, blank ones and gold that is none."""
    two, three = RECORDS["REL-C2"][0], RECORDS["REL-C3"][0]
    right = "".join(f"<smiles>{one}</smiles>\n" for one in three["answer"]["missing_smiles"])
    motif = f"So \u00e9:\n<smiles>{two['answer']['smiles']}</smiles>"
    lines: list[Json] = []
    for id in IDS:
        lines += [{**two, "id": id, "response": motif}, {**three, "id": id, "response": right}]
        lines.append({**three, "id": id, "response": [right, "none", right[9:], right, "<smiles>C</smiles>"]})
        lines.append({"id": id, "task": "REL-A1", "answer": {"target": 3}, "response": "Answer 3"})
    wrong: list[Any] = [None, [], "C", ["C", 7], ["C\n"], ["CC[Te]C", "C"], ["\u00e9"], ["["], ["C"] * 9]
    for gold in wrong:
        lines.append({"id": 1, "task": "REL-C3", "answer": {"missing_smiles": gold}, "response": right})
        lines.append({"id": 1, "task": "REL-C2", "answer": {"smiles": gold}, "response": motif})
        text = gold[0] if isinstance(gold, list) and gold else gold
        lines.append(
            {"id": 1, "task": "REL-C2", "answer": {"smiles": text}, "response": "<smiles>C</smiles>"}
        )
    lines.append({**two, "response": 5})
    found = same(lines, job_of(policy))
    assert sum(row["correct"] is True for row in found.rows) >= 4 * len(IDS)
    for reward in ("correct", "f1"):
        same(lines, job_of(policy, rewards={"REL-C3": reward, "REL-C2": "overlap_metric"}))


def plain_lines(n: int) -> list[Json]:
    return [
        {**record, "id": f"{record['id']} {number}", "response": f"<smiles>{molecules(record)[number % 3]}</smiles>"}
        for number in range(n)
        for records in RECORDS.values()
        for record in records
    ]  # fmt: skip


@pytest.mark.parametrize("policy", POLICIES)
def test_plain_tags_are_read_by_kernels(policy: str) -> None:
    """Molecules with aromatic bonds written out and stereo in published records apart."""
    lines = plain_lines(9)
    assert left(same(lines, job_of(policy))) == 0
    assert left(same(lines, job_of(policy, details=True))) == 0


@pytest.mark.parametrize("policy", POLICIES)
def test_little_room(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Golds are forgotten between blocks, one has more than there is room for, and texts need more."""
    from relfast.chem import common_substructure

    monkeypatch.setattr(block_rows, "MAX_AT_ONCE", 5)
    monkeypatch.setattr(judges, "GOLDS", 4)
    monkeypatch.setattr(extract, "ROOM", 64)
    monkeypatch.setattr(common_substructure, "MOLECULES", 300)
    lines = plain_lines(5)
    random.Random(SEED).shuffle(lines)
    many = [
        {"id": n, "task": "REL-C2", "answer": {"smiles": "C" * (1 + n % 59)}, "response": f"<smiles>{'C' * (n % 50)}O</smiles>"}
        for n in range(90)
    ]  # fmt: skip
    assert left(same(lines, job_of(policy), size=3)) == 0
    same(many, job_of(policy), size=50)
    assert 0 < left(same(lines, job_of(policy))) < len(lines)


def test_a_judge_that_fails_leaves_its_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(IsomersJudge, "judge", fail)
    lines = plain_lines(2)
    assert left(same(lines, job_of("reference"))) == sum(line["task"] == "REL-C3" for line in lines)
    scoring = Scoring(job_of("reference"))
    blocks = BlockScoring(scoring, large=True)
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    (segment,) = blocks.segments(Block(0, 0, 0, len(lines), 0, len(data), data=data))
    assert dict(segment.detours) == {"a batch before the judge of REL-C3": (1, "MemoryError()")}


def test_records_with_a_verdict_are_not_judged() -> None:
    lines = plain_lines(2)
    found = same(lines, job_of("reference"), verdicts={(2, 0): ("timeout", "Timeout", "too slow")})
    assert [row["status"] for row in found.rows].count("timeout") == 1
    assert found.rows[2]["status"] == "timeout"


def test_labels_are_counted_in_the_order_of_lines() -> None:
    """Of one task, by the text kernel, decoded, and by the text kernel, beside a line that a judge takes."""
    panel: Json = {"task": "REL-A2", "answer": {"target": 2}}
    motif: Json = {"task": "REL-C2", "answer": {"smiles": "CCO"}, "response": "<smiles>CCO</smiles>"}
    lines = [{**panel, "response": response} for response in ("nothing", 5, "Answer: 3", "3 or 4", None)]
    for at in range(len(lines) + 1):
        same([*lines[:at], motif, *lines[at:]], job_of("strict"))


# texts at hand


Asked = tuple[str, Any, Any]


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


def same_scores(asked: list[Asked], **options: Any) -> Scorings:
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
        same_scores(asked, policy=policy)


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
    same_scores(asked, policy=policy)
    # among others, that take other ways
    asked += [("REL-C1", {"label": "Yes"}, "<Yes>"), ("REL-A1", {"target": 3}, "Answer: 3"), ("x", {}, "y")]
    random.Random(SEED).shuffle(asked)
    same_scores(asked, policy=policy)


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
        None, 1.5, math.nan, math.inf, 10**30, "\ud800", (1, 2), {1: 2}, {None: 1}, Held(a=1), nested(300), RECORDS,
    ):  # fmt: skip
        yield held, True
    for held in ({1, 2}, b"x", object(), 1j, {"a": [{b"k": 1}]}, {(1, 2): 3}, nested(5_000), lambda: None):
        yield held, False
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
    (expected, _) = same_scores(asked, policy=policy)
    assert [status != "invalid_record" for status in expected.status] == sound
    for score in expected.scores:
        if score.error is not None:
            assert score.error["type"] == "InvalidGold"
            assert score.error["message"].startswith("answer has something in it that JSON has not (")
    (found, _) = same_scores(asked, policy=policy, workers=1)
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
    found, _ = same_scores(asked, policy=policy)
    assert {"ok", "invalid_record"} <= set(found.status)
    (with_workers, _) = same_scores(asked, policy=policy, workers=1)
    assert with_workers.scores == found.scores


def plain(n: int) -> list[Asked]:
    return [
        (task, record["answer"], f"{number} <smiles>{molecules(record)[number % 3]}</smiles>")
        for number in range(n)
        for task, records in RECORDS.items()
        for record in records
    ]


@pytest.mark.parametrize("policy", POLICIES)
def test_little_room_for_golds(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
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
    same_scores(asked, policy=policy)
    same_scores(many, policy=policy)


@pytest.mark.parametrize("policy", POLICIES)
def test_plain_tags_need_nothing_else(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the ordinary way would be held against itself above."""
    monkeypatch.setattr(relfast.Scorer, "_begin", None)
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
