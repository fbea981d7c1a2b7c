"""Options are declared once, by the task that owns them; what everybody else says of them follows."""

from __future__ import annotations

import inspect
import pickle
import sys
from dataclasses import FrozenInstanceError, fields
from typing import Any, Unpack, get_type_hints

import pytest
from click.testing import CliRunner

import relfast
from relfast.cli.main import cli
from relfast.engine.job import (
    AdapterKeywords,
    Job,
    JobKeywords,
    OptionKeywords,
    ScorerKeywords,
    TaskKeywords,
    make_job,
    make_options,
)
from relfast.parameters import Choice, Number, Pair, Sizes, Text, Whole, parameters_of
from relfast.rewards import nemo_rl, openrlhf, reasoning_gym, slime, trl, verifiers, verl
from relfast.rewards.trl import RewardKeywords
from relfast.rewards.verl import ComputeScoreKeywords
from relfast.tasks import AllOptions

DECLARED = {parameter.name: parameter for parameter in parameters_of(AllOptions)}

JOB = {
    "task": "rel-c1",
    "rewards": {"REL-C3": "correct"},
    "reward": {"REL-C3": "correct"},
    "details": True,
    "timeout": 2,
    "dialect": "native",
    "input_format": "native",
    "field_map": {"response": "text"},
    "map": {"response": "text"},
    "data": (),
    "filter": "strict-match",
    "max_line_bytes": 10_000,
}
OPTIONS = {
    "policy": "strict",
    "strip_reasoning": True,
    "reasoning": (("<cot>", "</cot>"),),
    "b1_min_f1": 0.75,
    "tautomers": "joined",
    "mcs_timeout": 3,
    "embedder": "minilm",
    "device": "cuda",
    "grader": "math-verify",
}
SCORER = {"workers": 0, "on_error": 0.5}


def accepted(make: Any, name: str, value: object) -> bool:
    try:
        make(**{name: value})
    except relfast.UsageError as error:
        return "unknown option" not in str(error)
    return True


def test_every_option_is_declared() -> None:
    assert [field.name for field in fields(AllOptions)] == list(OPTIONS)
    assert DECLARED.keys() == {field.name for field in fields(AllOptions)}
    for parameter in DECLARED.values():
        assert parameter.kind.check(parameter.name, parameter.default) == parameter.default
        assert parameter.help


def test_the_keywords_are_the_options() -> None:
    """What editors complete is what is accepted, type for type."""
    assert get_type_hints(OptionKeywords) == get_type_hints(AllOptions)
    assert TaskKeywords.__annotations__.keys() | {"policy"} == OptionKeywords.__annotations__.keys()
    for keywords, make, values in (
        (OptionKeywords, make_options, OPTIONS),
        (JobKeywords, make_job, OPTIONS | JOB),
        (ScorerKeywords, relfast.Scorer, OPTIONS | JOB | SCORER),
    ):
        assert keywords.__annotations__.keys() == values.keys()
        taken = {name for name, value in (OPTIONS | JOB | SCORER).items() if accepted(make, name, value)}
        assert taken == values.keys()
    aliases = {"reward", "input_format", "map"}
    assert JobKeywords.__annotations__.keys() - OPTIONS.keys() - aliases == {
        field.name for field in fields(Job)
    } - {"options", "repeats"}


@pytest.mark.parametrize(
    ("function", "keywords"),
    [
        (relfast.evaluate_response, TaskKeywords),
        (relfast.score, ScorerKeywords),
        (relfast.score_batch, ScorerKeywords),
        (relfast.score_file, JobKeywords),
        (relfast.Scorer.__init__, JobKeywords),
        (trl.make_reward, RewardKeywords),
        (openrlhf.make_reward, AdapterKeywords),
        (reasoning_gym.make_reward, AdapterKeywords),
        (slime.make_reward, AdapterKeywords),
        (verifiers.make_reward, ScorerKeywords),
        (verl.make_compute_score, ComputeScoreKeywords),
        (nemo_rl.make_environment, ScorerKeywords),
    ],
    ids=lambda value: getattr(value, "__qualname__", None),
)
def test_signatures_name_what_they_pass_on(function: Any, keywords: type) -> None:
    """With its own parameters a function takes all that a scorer takes, each once."""
    function = function.__init__ if isinstance(function, type) else function
    annotation = eval(function.__annotations__["options"], vars(sys.modules[function.__module__]))
    assert annotation == Unpack[keywords]
    own = {name for name in inspect.signature(function).parameters if name not in ("self", "options")}
    assert not own & keywords.__annotations__.keys()


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_reaches_all_who_derive_from_it(name: str) -> None:
    value = OPTIONS[name]
    assert value != DECLARED[name].default
    options = make_options(**{name: value})
    assert getattr(options, name) == value
    assert getattr(AllOptions(), name) == DECLARED[name].default
    assert pickle.loads(pickle.dumps(options)) == options
    with pytest.raises(FrozenInstanceError):
        setattr(options, name, value)
    before, after = make_job().decides(), make_job(**{name: value}).decides()
    assert {key for key in before if before[key] != after[key]} == {name}


def test_the_command_line_has_every_option_with_its_text() -> None:
    shown = " ".join(CliRunner().invoke(cli, ["score", "--help-all"], terminal_width=500).output.split())
    for parameter in DECLARED.values():
        if parameter.flag is None:
            assert parameter.name == "mcs_timeout"
            assert "mcs" not in shown
            continue
        assert f"{parameter.flag} " in shown
        assert parameter.help in shown
        if isinstance(parameter.kind, Choice):
            assert f"{parameter.flag} [{'|'.join(parameter.kind.names)}]" in shown


@pytest.mark.parametrize(("timeout", "seconds"), [(0, 5), (5, 4), (2, 1), (0.5, 1), (60, 5)])
def test_rdkit_s_search_ends_before_the_record_does(timeout: float, seconds: int) -> None:
    assert AllOptions().within(timeout) == AllOptions(mcs_timeout=seconds)


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (Whole(), 1.5, "x must be a whole number, not 1.5"),
        (Whole(2, 3000), 1, "x must be a whole number from 2 to 3,000, not 1"),
        (Number(), "1", "x must be a number, not '1'"),
        (Number(0, 1), 2, "x must be a number from 0 to 1, not 2"),
        (Text(), 1, "x must be a text, not 1"),
        (Pair(), (1,), r"x must be two numbers, not \(1,\)"),
        (Pair(), "12", "x must be two numbers, not '12'"),
        (Sizes(), "5", "x must be whole numbers, not '5'"),
        (Sizes(), (5, True), "x must be a whole number, not True"),
    ],
)
def test_a_kind_says_what_it_takes(kind: Any, value: object, message: str) -> None:
    with pytest.raises(relfast.UsageError, match=f"^{message}$"):
        kind.check("x", value)


@pytest.mark.parametrize(
    ("text", "sizes"), [("5", (5,)), ("5,10,20", (5, 10, 20)), ("5:50:5", tuple(range(5, 51, 5)))]
)
def test_sizes_are_written_as_they_are_read(text: str, sizes: tuple[int, ...]) -> None:
    assert Sizes().parse(text) == sizes
    assert Sizes().write(sizes) == text
    assert Sizes().check("sizes", list(sizes)) == sizes
