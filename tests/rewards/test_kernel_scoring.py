"""Texts that kernels score at hand, and lines of REL-C2 and C3: rows are those of the task, one by one, in
batches, in any thread, of any text, for gold of any form."""

from __future__ import annotations

import json
import math
import random
import sys
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, Final

import numpy as np
import pytest
from both_ways import Scored, Ways
from corpora import rel_records, solutions
from failed_rows import PIECES
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nasty_texts import UNITS, nasty_text
from relfast_kernels.layouts import MAX_STRICT
from relfast_kernels.text import form_table
from reward_cases import HOSTILE_TEXTS
from seeds import SEED, rounds

import relfast
from relfast.chem import common_substructure
from relfast.engine.calls.pending import key_of
from relfast.engine.columns import kernel_scoring
from relfast.engine.columns.blocks import Block
from relfast.engine.columns.kernel_scoring import MAX_MOLECULES, KernelScoring
from relfast.engine.columns.scoring import Scoring
from relfast.engine.files.block_scoring import BlockScoring
from relfast.engine.job import Job
from relfast.json_text import plain
from relfast.records import STATUSES, Extracted, Policy, Score
from relfast.tasks import AllOptions
from relfast.tasks.rel_c import tag_scorers
from relfast.tasks.rel_c.tag_scorers import IsomersScorer

FASTA: Final = ">taxon_1\nACDEFGHIKL\n>taxon_2\nACDEFGHIKL\n>taxon_10\nMCDEFGHIKV\n"


class Named(str):
    """A text of another type."""


GOLD: Final[dict[str, list[Any]]] = {
    "REL-A1": [
        {"target": 3}, {"target": 0}, {"target": True}, {"target": 1}, {"target": 1.0}, {"target": 9},
        {"target": None}, {"target": "3"}, {}, OrderedDict(target=3), None, [3], '{"target": 3}', "{",
    ],
    "REL-B1": [
        {"label": "yes", "taxa": ["1", "2"]}, {"label": "YES", "taxa": [1, 2]}, {"label": "yes", "taxa": [0, 1]},
        {"label": "yes", "taxa": []}, {"label": "yes"}, {"label": "no", "taxa": []}, {"label": "No"},
        {"label": "no", "taxa": None}, {"label": "no", "taxa": ["1"]}, {"label": "yes", "taxa": "12"},
        {"label": "yes", "taxa": [True, 2.0]}, {"label": "yes", "taxa": [0, 1], "taxa_as": "name"},
        {"label": Named("yes"), "taxa": ["1"]}, {"label": " yes", "taxa": ["1"]}, {"label": 1}, {}, None,
        '{"label": "yes", "taxa": ["1", "2"]}',
    ],
    "REL-C1": [
        {"label": "Yes"}, {"label": "no"}, {"label": " YES "}, {"label": Named("No")}, {"label": "maybe"},
        {"label": None}, {"label": True}, {}, OrderedDict(label="Yes"), None, '{"label": "No"}',
    ],
}  # fmt: skip
RESPONSES: Final[list[Any]] = [
    "Answer: 4", "The answer is 2.", "Answer: 9", "yes: taxon_1, taxon_2", "Yes", "No", "<Yes>", "<No>", "Yes, 1 and 2",
    "no: taxon_1", "", " \n", "I cannot say.", "<think>Yes</think>", "<think>No</think>\nYes", "\ud800 Yes", None, 7,
    [{"role": "assistant", "content": "Answer: 4"}], Named("No"),
]  # fmt: skip
LONG: Final = "x" * 70_000 + " Answer: 4"


Asked = tuple[Any, ...]
"""A task, gold, a response, and a question if it has one."""


def columns(asked: Sequence[Asked]) -> dict[str, list[Any]]:
    names = ("tasks", "answers", "responses", "questions")
    return dict(zip(names, map(list, zip(*((*one, None)[:4] for one in asked), strict=True)), strict=True))


def scores_of(
    asked: Sequence[Asked], *, kernels: bool = True, workers: int = 0, **options: Any
) -> tuple[relfast.ScoreBatch, list[Score], list[int]]:
    """Scores of a batch, and of two thirds of it one by one, before the batch and after it; what is counted."""
    with pytest.MonkeyPatch.context() as patch:
        if not kernels:
            patch.setattr(KernelScoring, "of", lambda self, name: None)
        with relfast.Scorer(workers=workers, **options) as scorer:
            single = [scorer.score_one(*one) for one in asked[::3]]
            batch = scorer.score_batch(**columns(asked))
            single += [scorer.score_one(*one) for one in asked[1::3]]
            counts = scorer.stats()
            if options.get("policy") == "strict" and kernels and not options.get("details"):
                assert scorer._scoring.kernels._scorers.keys() >= GOLD.keys() & {one[0] for one in asked}
            return batch, single, [counts[status] for status in STATUSES]


def same_scores(asked: Sequence[Asked], **options: Any) -> list[Score]:
    """What kernels and the ordinary way give."""
    batch, single, counts = scores_of(asked, **options)
    expected, expected_single, expected_counts = scores_of(asked, kernels=False, **options)
    # JSON tells 1, 1.0 and true apart
    for found, other in ((batch.scores, expected.scores), (single, expected_single)):
        wrong = [
            (mine, theirs) for mine, theirs in zip(found, other, strict=True) if repr(mine) != repr(theirs)
        ]
        assert not wrong[:3]
    for name in ("status", "correct", "reward"):
        assert repr(getattr(batch, name).tolist()) == repr(getattr(expected, name).tolist())
    assert {name: repr(column.tolist()) for name, column in batch.metrics.items()} == {
        name: repr(column.tolist()) for name, column in expected.metrics.items()
    }
    assert counts == expected_counts
    return batch.scores


def ordinary(*row: Any) -> Score:
    """One of them without kernels, under ``strict``."""
    return scores_of([row], kernels=False, policy="strict")[0][0]


@pytest.fixture(scope="module")
def scorer() -> Iterator[relfast.Scorer]:
    with relfast.Scorer(policy="strict", workers=0) as scorer:
        yield scorer


def _rows(task: str) -> list[Asked]:
    """Every response with every gold; the long one, which plain code reads slowly, with the first."""
    return [
        (task, answer, response, question)
        for at, answer in enumerate(GOLD[task])
        for response in (RESPONSES if at else [*RESPONSES, LONG])
        for question in ((FASTA, None) if task == "REL-B1" else (None,))
    ]


@pytest.mark.parametrize("details", [False, True])
@pytest.mark.parametrize("task", GOLD)
def test_rows_are_those_of_the_task(task: str, details: bool) -> None:
    scores = same_scores(_rows(task), policy="strict", details=details)
    assert len({score.status for score in scores}) == 3
    assert {score.correct for score in scores} == {True, False, None}


def test_what_a_caller_does_to_a_row_is_its_own(scorer: relfast.Scorer) -> None:
    row = ("REL-C1", {"label": "Yes"}, "<Yes>", None)
    for _ in range(3):
        score = scorer.score_one(*row)
        assert (score.correct, score.metrics, score.pred) == (True, {"reason": None}, "Yes")
        score.metrics["reason"] = "mine"
        score.correct = None
    with relfast.Scorer(policy="strict", details=True) as detailed:
        for _ in range(3):
            taxa = detailed.score_one("REL-B1", {"label": "yes", "taxa": ["1"]}, "No", FASTA).metrics[
                "pred_taxa"
            ]
            assert taxa == []
            taxa.append("1")


def test_64_threads_get_their_own_rows(scorer: relfast.Scorer) -> None:
    rows = [row for task in GOLD for row in _rows(task)]
    expected = [scorer.score_one(*row) for row in rows]
    wrong: list[Any] = []
    before = scorer.stats()

    def call(seed: int) -> None:
        rng = random.Random(seed)
        some = [rng.randrange(len(rows)) for _ in range(40)]
        for at in some:
            if scorer.score_one(*rows[at]) != expected[at]:
                wrong.append(rows[at])
        batch = scorer.score_batch(**columns([rows[at] for at in some])).scores
        for place, (at, score) in enumerate(zip(some, batch, strict=True)):
            score.index = 0
            if score != expected[at]:
                wrong.append((place, rows[at]))

    between = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # or threads hardly meet
    try:
        with ThreadPoolExecutor(64) as pool:
            list(pool.map(call, range(64)))
    finally:
        sys.setswitchinterval(between)
    assert not wrong
    after = scorer.stats()
    names = ("ok", "no_answer", "invalid_record")
    assert sum(after[name] - before[name] for name in names) == 64 * 80


def test_gold_that_is_changed_in_place_is_read_anew(scorer: relfast.Scorer) -> None:
    gold: dict[str, Any] = {"label": "yes", "taxa": [1, 2]}
    right = "Yes: taxon_1, taxon_2"
    question = ">1\nAC\n>2\nAC\n>3\nAC\n"
    for _ in range(2):
        assert scorer.reward("REL-B1", gold, right, question) == 1.0
    gold["taxa"][0] = True  # equal to 1, and no name
    assert scorer.score_one("REL-B1", gold, right, question) == ordinary("REL-B1", gold, right, question)
    gold["taxa"][0] = 3
    assert scorer.reward("REL-B1", gold, right, question) == 0.0
    assert scorer.reward("REL-B1", gold, "Yes: 2 and 3", question) == 1.0
    gold["taxa"] = [1, 2]
    gold["label"] = "no"
    assert scorer.reward("REL-B1", gold, right, question) == 0.0
    gold["label"] = "yes"
    # places in the sorted names of another question
    assert scorer.reward("REL-B1", gold, right, question.replace(">3", ">0").replace(">1", ">7")) == 0.0


def test_the_same_question_in_another_object() -> None:
    gold = {"label": "yes", "taxa": [0, 1]}
    shown = "".join(f">taxon_{n}\n{sequence}\n" for n, sequence in ((5, "ACGTACGTAA"), (7, "ACGTACGTCC")))
    asked = [
        ("REL-B1", gold, "Yes: taxon_5, taxon_7", question)
        for question in (shown, f"{shown} ", None, shown[:-1] + "\n")
    ]
    assert [score.reward for score in same_scores(asked, policy="strict")] == [1.0, 1.0, 0.0, 1.0]


def test_a_kernel_that_fails_is_told_of_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(kernel_scoring, "_told_of", set())
    gold = {"label": "yes", "taxa": ["1", "2"]}
    responses = [response for response in RESPONSES if type(response) is str] * 2
    with relfast.Scorer(policy="strict", workers=0) as scorer:
        scorer.score_one("REL-B1", gold, "No")
        for name in ("_score_short", "_score_long"):
            monkeypatch.setattr(scorer._scoring.kernels.of("REL-B1"), name, lambda *given: 1)
        rows = [*scorer.score_batch("REL-B1", [gold] * len(responses), responses)]
        asked = [("REL-B1", gold, text) for text in responses]
        assert rows == list(scores_of(asked, kernels=False, policy="strict")[0])
        assert [scorer.reward("REL-B1", gold, text) for text in responses] == [row.reward for row in rows]
        assert {row.status for row in rows} == {"ok", "no_answer"}
    (told,) = caplog.messages
    assert "the kernel that reads REL-B1 failed (RuntimeError" in told


def test_keys_of_equal_gold_only() -> None:
    golds: list[Any] = [
        {"smiles": "C"}, {"smiles": None}, {"smiles": float("nan")}, {"smiles": 1}, {"smiles": 1.0}, {"smiles": True},
        {"smiles": "1"}, {"smiles": "null"}, {"smiles": 2**70}, {"smiles": "C" * 5_000}, {"smiles": "C" * 5_000 + "N"},
        {"smiles": [None]}, {"smiles": [float("nan")]}, None, [], {}, "\ud800",
    ]  # fmt: skip
    said: Sequence[Extracted[Any]] = [
        Extracted("C"), Extracted(None, found=False), Extracted(None, found=False, reason="empty"), Extracted("C" * 300),
        Extracted(["C"]), Extracted([]), Extracted(["C", "C"]), Extracted("C", found=False), Extracted(None, error="C"),
    ]  # fmt: skip

    def key(task: str, gold: Any, extracted: Extracted[Any], question: str | None) -> Any:
        return key_of(task, *plain(gold), extracted, question)

    every = [
        (task, gold, extracted, question)
        for task in ("REL-C2", "REL-C3")
        for gold in golds
        for extracted in said
        for question in (None, "q", "Q")
    ]
    assert len({key(*one) for one in every}) == len(every)
    copied = json.loads(json.dumps(golds))
    for (task, _, extracted, question), gold in zip(every[:: len(said) * 3], copied * 2, strict=True):
        assert key(task, gold, extracted, question) in {key(*one) for one in every}


# any text and every form, by the kernels themselves


VALUES: Final[dict[str, tuple[str, ...]]] = {
    "REL-A1": ("4", "option 7", "(1)", "4 or 6", "9"),
    "REL-B1": ("Yes: 15, 49", "no", "Yes or no", "Yes\n- taxon_1\n- taxon_2"),
    "REL-C1": ("Yes", "no", "<No>", "<Yes> or <No>", "maybe"),
}


@cache
def _forms(task: str) -> list[str]:
    return [
        text.format(X=value)
        for form in (*form_table.FORMS, form_table.STATED)
        for text in form.examples
        for value in VALUES[task]
    ]


@cache
def _texts(task: str) -> list[str]:
    """Every documented form, behind real solutions too, and texts that take long."""
    rng = random.Random(f"{task} reader")
    forms = _forms(task)
    prose = [row["llm_solution"].rstrip() for row in rng.sample(solutions(), 60)]
    blends = [f"{text}\n\n{rng.choice(forms)}" for text in prose for _ in range(2)]
    return [*forms, *blends, *(nasty_text(name, 300) for name in UNITS), "", " \n", "<think>", "\ud800 Yes"]


def _asked(task: str, texts: Sequence[str]) -> list[Asked]:
    return [(task, GOLD[task][0], text) for text in texts]


@pytest.mark.parametrize("task", VALUES)
def test_every_form(task: str) -> None:
    same_scores(_asked(task, _texts(task)), policy="strict")


@pytest.mark.parametrize("task", VALUES)
def test_what_is_long(task: str, scorer: relfast.Scorer) -> None:
    """Work spaces end where they should: the longest texts that are read are read as short ones of the same end."""
    for end in ("\n\nAnswer: 4", "\n\nYes: taxon_1, taxon_2", "\n\n<No>"):
        texts = ["word " * (MAX_STRICT // 5 - 10) + end, "é" * (MAX_STRICT // 2 - len(end)) + end]
        kernels = scorer._scoring.kernels
        expected = [ordinary(task, GOLD[task][0], text) for text in ("word " + end, "é" + end)]
        assert kernels.kept_all(task, [GOLD[task][0]] * 2, texts, None) == expected
        assert kernels.kept(task, GOLD[task][0], "é" * MAX_STRICT + end, None) is None
        assert kernels.kept_all(task, [GOLD[task][0]] * 3, [None, 4, b"Yes"], None) == [None] * 3


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(sorted(VALUES)),
    st.lists(
        st.lists(
            st.one_of(*map(st.sampled_from, (PIECES, *map(_forms, VALUES))), st.text(max_size=8)), max_size=8
        ).map(" ".join),
        min_size=1,
        max_size=9,
    ),
)
def test_anything(task: str, texts: list[str]) -> None:
    same_scores(_asked(task, texts), policy="strict")


@pytest.mark.parametrize("task", VALUES)
@pytest.mark.parametrize("options", [{"policy": "strict"}, {"policy": "reference", "strip_reasoning": True}])
def test_marks_of_reasoning_of_ones_own(task: str, options: dict[str, Any]) -> None:
    texts = ["<cot>No. Answer: 3</cot>\nYes. Answer: 4", "Yes<cot>No</cot>", "<cot>Yes"]
    same_scores(_asked(task, texts * 5), reasoning=(("<cot>", "</cot>"),), **options)


@pytest.mark.parametrize("policy", ["reference", "strict"])
@pytest.mark.parametrize("bad", [{"taxa": [1.5]}, {"taxa": ["taxon_é"]}, {}, {"label": "maybe", "taxa": []}])
def test_gold_that_no_kernel_reads_leaves_the_others_their_answers(
    policy: Policy, bad: dict[str, Any]
) -> None:
    """What the first one said was written over by what the third one says."""
    good = {"label": "yes", "taxa": ["taxon_1", "taxon_2"]}
    texts = ["Yes. taxon_1, taxon_2", "Yes. taxon_9", "Yes. taxon_7, taxon_8"]
    with relfast.Scorer(policy=policy, workers=0) as scorer:
        scores = scorer.score_batch("REL-B1", [good, {"label": "yes", **bad}, good], texts).scores
    assert [scores[0].pred, scores[2].pred] == ["yes: 1, 2", "yes: 7, 8"]


@pytest.mark.parametrize("task", ["REL-C2", "REL-C3"])
def test_what_names_many_molecules(task: str, scorer: relfast.Scorer) -> None:
    """However long a response is, it is what it names that decides whether it is scored in the host."""
    kernels = scorer._scoring.kernels
    answer = {"smiles": "CCO"} if task == "REL-C2" else {"missing_smiles": ["CCO"]}
    short, long = "<smiles>CCO</smiles>", f"<smiles>{'C' * MAX_MOLECULES}</smiles>"
    texts = ["Let me see. " * 5_000 + short, long, short]
    rows = kernels.kept_all(task, [answer] * 3, texts, None)
    assert rows == [kernels.kept(task, answer, text, None) for text in texts]
    assert rows[1] is None is not rows[0] == rows[2]


# REL-C2 and C3, lines by the block and texts at hand: rows, scores and what is counted of them are those of the ordinary way


Json = dict[str, Any]

POLICIES = ("reference", "strict")
RECORDS = {task: rel_records(task)[:6] for task in ("REL-C2", "REL-C3")}


def molecules(record: Json) -> list[str]:
    """Of gold, and some that the question gives."""
    answer = record["answer"]
    return [*answer.get("missing_smiles", [answer.get("smiles")]), *answer["molecules"][:3]]


TAGS = (
    "<smiles>", "<smiles>", "<smiles>", "</smiles>", "</smiles>", "<SMILES>", "</ smiles>", "<smiles", "<\u017fmiles>",
    "<sm\u0131les>", "<s>", "<del>", "~~", "<!--", "&lt;", "\\u003c", "\uff1c", "<answer>", "</answer>", "\\boxed{", "}", "---", "|",
    "The answer is:", "Final answer: ", "Given molecules:\n", "This is not the motif: ", "For example ", "wait, ", "Yes?", ". ", "\n\n",
)  # fmt: skip
HELD = (
    "CCO", "c1ccccc1", "C(C)C", "CC[Te]C", "[13CH4]", "[NH4+]", "C.C", "C:C", "F/C=C/F", "C~C", "C*", "C1CC(", "C" * 1_001, "O=C1C=CC=CN1",
    "Oc1ccccn1", "C C", " CCO ", "\nCCO\n", "CCO\tO", "CC\rO", "your smiles here", "1. CC", "**CC**", "CC, CO", "C\\nC", "C\u00a0C", "?", "none",
)  # fmt: skip
"""What tags are, what stands between them, and what they hold."""


# lines


def same(lines: Sequence[Json | bytes], job: Job, **options: Any) -> Scored:
    """What both ways give."""
    return Ways.of_job(job).same(lines, most=7, **options)


def job_of(policy: str, *, strip: bool = False, **options: Any) -> Job:
    return Job(options=AllOptions(policy=policy, strip_reasoning=strip), **options)  # type: ignore[arg-type]


def texts_of_pieces(rng: random.Random, some: list[str], n: int) -> Iterator[str]:
    """Texts of whatever means something to an extractor, and of plain tags with a piece or two among them."""
    held = (*HELD, *some)
    pieces = (*PIECES, *TAGS, *TAGS, *held)
    for number in range(n):
        parts = rng.choices(pieces, k=rng.randrange(1, 14))
        if number % 2:
            parts = [f"<smiles>{rng.choice(held)}</smiles>\n" for _ in range(rng.randrange(1, 5))]
            for _ in range(rng.randrange(3)):
                parts.insert(rng.randrange(len(parts) + 1), rng.choice(pieces))
        yield "".join(parts)


def plain_lines(n: int) -> list[Json]:
    return [
        {**record, "id": f"{record['id']} {number}", "response": f"<smiles>{molecules(record)[number % 3]}</smiles>"}
        for number in range(n)
        for records in RECORDS.values()
        for record in records
    ]  # fmt: skip


def test_kernels_that_fail_leave_their_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(IsomersScorer, "outcomes", fail)
    lines = plain_lines(2)
    assert same(lines, job_of("reference")).n_left > 0
    blocks = BlockScoring(Scoring(job_of("reference")))
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    (segment,) = blocks.segments(Block(0, 0, 0, len(lines), 0, len(data), data=data))
    assert dict(segment.detours) == {"the kernel that reads REL-C3": (1, "MemoryError()")}
    monkeypatch.setattr(IsomersScorer, "number", fail)
    assert same(lines, job_of("reference")).n_left > 0


def test_records_with_a_verdict_are_not_scored() -> None:
    lines = plain_lines(2)
    found = same(lines, job_of("reference"), verdicts={(2, 0): ("timeout", "Timeout", "too slow")})
    assert [row["status"] for row in found.rows].count("timeout") == 1
    assert found.rows[2]["status"] == "timeout"


def test_labels_are_counted_in_the_order_of_lines() -> None:
    """Of one task, by the text kernel, decoded, and by the text kernel, beside a line of molecules."""
    panel: Json = {"task": "REL-A2", "answer": {"target": 2}}
    motif: Json = {"task": "REL-C2", "answer": {"smiles": "CCO"}, "response": "<smiles>CCO</smiles>"}
    lines = [{**panel, "response": response} for response in ("nothing", 5, "Answer: 3", "3 or 4", None)]
    for at in range(len(lines) + 1):
        same([*lines[:at], motif, *lines[at:]], job_of("strict"))


# texts at hand


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("task", RECORDS)
def test_any_text_gives_the_same_scores(task: str, policy: str) -> None:
    rng = random.Random(f"{SEED} {task} {policy} texts")
    for _ in range(rounds(2)):
        asked: list[Asked] = []
        for record in RECORDS[task]:
            some = [text for other in RECORDS[task] for text in molecules(other)]
            asked += [(task, record["answer"], text) for text in texts_of_pieces(rng, some, 60)]
        rng.shuffle(asked)
        same_scores(asked, policy=policy)


WRONG_GOLDS: list[Any] = [
    None, [], {}, "C", 7, {"smiles": None}, {"smiles": ["C"]}, {"smiles": "C.C"}, {"smiles": "["}, {"smiles": ""},
    {"smiles": "CC[Te]C"}, {"missing_smiles": []}, {"missing_smiles": "C"}, {"missing_smiles": ["C", 7]},
    {"missing_smiles": [["C"]]}, {"missing_smiles": ["C\n"]}, {"missing_smiles": ["CC[Te]C", "C"]},
    {"missing_smiles": ["["]}, {"missing_smiles": ["\u00e9"]}, {"missing_smiles": ["C"], "molecules": ["CC", 1]},
    {"missing_smiles": ["C"], "molecules": "CC"}, '{"smiles": "CCO"}', '{"missing_smiles": ["CCO", "COC"]}', "{",
    *('{"smiles": "CCO"}' + rubbish for rubbish in (" x", ",", "}", " {}", "\n", "//", "\0", "\ud800")),
    object(), set(), 1.5, {1: 2}, np.array(["C"]), {"label": ["x"]}, {"missing_smiles": ("CO",)},
    *({"smiles": odd} for odd in (object(), 2**70, "\ud800", np.str_("CO"))),
]  # fmt: skip


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("task", ["REL-C2", "REL-C3", "rel-c2", None])
def test_golds_and_responses_of_all_kinds(task: Any, policy: str) -> None:
    texts: list[Any] = ["<smiles>C</smiles>", "no", "", None, 5, "<smiles>COC</smiles>\n<smiles>OCC</smiles>"]
    texts += ["<smiles>\ud800</smiles>", "x" * 20_001 + "<smiles>OCC</smiles>", ["<smiles>C</smiles>"]]
    texts += [b"bytes", object(), {"role": "assistant"}, math.nan, "\x00"]
    asked = [(task, gold, text) for gold in WRONG_GOLDS for text in texts]
    if policy == "strict":  # the other policy has RDKit parse whatever it is, which workers are for
        asked += [(task, {"smiles": "CO", "missing_smiles": ["CO"]}, text) for text in HOSTILE_TEXTS]
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
    for workers in (0, 1):
        scores = same_scores(asked, policy=policy, workers=workers)
        assert [score.status != "invalid_record" for score in scores] == sound
        for score in scores:
            if score.error is not None:
                assert score.error["type"] == "InvalidGold"
                assert score.error["message"].startswith("answer has something in it that JSON has not (")


def plain_texts(n: int) -> list[Asked]:
    return [
        (task, record["answer"], f"{number} <smiles>{molecules(record)[number % 3]}</smiles>")
        for number in range(n)
        for task, records in RECORDS.items()
        for record in records
    ]


@pytest.mark.parametrize("policy", POLICIES)
def test_little_room_for_golds(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Golds are forgotten in the middle of a batch."""
    monkeypatch.setattr(kernel_scoring, "MAX_TEXTS", 5)
    monkeypatch.setattr(tag_scorers, "MAX_TEXTS", 5)
    monkeypatch.setattr(tag_scorers, "GOLDS", 6)
    monkeypatch.setattr(common_substructure, "MOLECULES", 7)
    asked = plain_texts(5)
    random.Random(SEED).shuffle(asked)
    many = [
        ("REL-C2", {"smiles": "C" * (1 + n % 59)}, f"<smiles>{'C' * (n % 50)}O</smiles>") for n in range(90)
    ]
    same_scores(asked, policy=policy)
    same_scores(many, policy=policy)


@pytest.mark.parametrize("policy", POLICIES)
def test_plain_tags_and_forms_need_nothing_else(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the ordinary way would be held against itself above."""

    def left(self: relfast.Scorer, entries: Any) -> None:
        pytest.fail(f"left to the ordinary way: {entries}")

    monkeypatch.setattr(relfast.Scorer, "_begin", left)
    asked: list[Asked] = plain_texts(3)
    tags = {(task, str(answer), text[2:]) for task, answer, text in asked}
    scorer = relfast.Scorer(policy=policy, workers=0)  # type: ignore[arg-type]
    batch = scorer.score_batch(**columns(asked))
    assert set(batch.status) == {"ok"}
    assert [scorer.reward(*one) for one in asked] == batch.reward.tolist()
    assert scorer.rewards(**columns(asked)) == batch.reward.tolist()
    # each answer once, by whichever door
    assert scorer.stats()["scored_before"] == 3 * len(asked) - len(tags)
    if policy == "strict":
        for task in VALUES:
            asked = _asked(task, [text for text in _texts(task) if "\ud800" not in text])
            rewards = [scorer.reward(*one) for one in asked]
            assert relfast.Scorer(policy=policy, workers=0).rewards(**columns(asked)) == rewards
