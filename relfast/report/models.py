"""Which inputs are of which model: what the user says, what files have in common, and their names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from relfast.errors import UsageError
from relfast.inference.header import read_header
from relfast.report.base import OnStep, ignore_step
from relfast.report.scored_rows import Asked, Scored, read_apart, read_scored

_NAMED: Final = re.compile(r"([^=/\\]{1,80})=(.+)", re.DOTALL)
_SUFFIXES: Final = re.compile(r"(\.(jsonl|json|gz|zst|parquet|csv|scored))+$")


def read_models(
    inputs: Sequence[str],
    *,
    shards: bool,
    dump: Mapping[str, Sequence[str]] | Sequence[str],
    asked: Asked,
    on_step: OnStep = ignore_step,
) -> list[Scored]:
    """The runs that some inputs hold, each with a name of its own.

    Raises
    ------
    InputError, UsageError
        See `relfast.report.scored.generate_report`.
    """
    named = [_name_and_path(given) for given in inputs]
    if not any(name for name, _ in named):
        if isinstance(dump, Mapping):
            raise UsageError("a dump is named after a model, but no input is: NAME=FILE names one")
        runs = read_apart(inputs, shards=shards, asked=replace(asked, dump=dump), on_step=on_step)
        if len(runs) > 1 and dump:
            raise UsageError("several models: say of which one a dump is, NAME=FILE, as of the inputs")
        _name(runs)
        return runs
    if not all(name for name, _ in named):
        path = next(path for name, path in named if not name)
        raise UsageError(f"{path} has no model's name: name all inputs (NAME=FILE) or none")
    dumps = _by_name(dump)
    unknown = [name for name in dumps if name not in {name for name, _ in named}]
    if unknown:
        raise UsageError(f"a dump is said to be of {unknown[0]}, but no input is")
    runs = []
    for name in dict.fromkeys(name for name, _ in named):
        paths = [path for other, path in named if other == name]
        run = read_scored(
            paths, shards=shards, asked=replace(asked, dump=dumps.get(name, ())), on_step=on_step
        )
        run.name = name
        runs.append(run)
    return runs


def _by_name(dump: Mapping[str, Sequence[str]] | Sequence[str]) -> Mapping[str, Sequence[str]]:
    if isinstance(dump, Mapping):
        return dump
    found: dict[str, list[str]] = {}
    for given in dump:
        name, path = _name_and_path(given)
        if not name:
            raise UsageError(f"{given}: say of which model this dump is, NAME=FILE, as of the inputs")
        found.setdefault(name, []).append(path)
    return found


def _name_and_path(given: str) -> tuple[str, str]:
    """``NAME=FILE``; a file that has such a name itself is a file."""
    found = _NAMED.fullmatch(given)
    if found is None or Path(given).exists():
        return "", given
    return found[1].strip(), found[2]


def _name(runs: Sequence[Scored]) -> None:
    """The models that were asked, where headers say so and differ; else the files' names, with as much of
    their paths as tells them apart."""
    asked = [_model_of(run) for run in runs]
    if all(asked) and len(set(asked)) == len(asked):
        for run, model in zip(runs, asked, strict=True):
            run.name = model
        return
    names = [_SUFFIXES.sub("", Path(run.name).name) or "scores" for run in runs]
    if len(set(names)) < len(names):
        names = [
            f"{Path(run.name).absolute().parent.name}/{name}" for run, name in zip(runs, names, strict=True)
        ]
    for place, run in enumerate(runs):
        run.name = names[place] if names.count(names[place]) == 1 else f"{names[place]} ({place + 1})"


def _model_of(run: Scored) -> str:
    """The model that all files of a run were asked of; empty where headers do not say one."""
    models = {str((read_header(path) or {}).get("model") or "") for path in run.paths}
    return models.pop() if len(models) == 1 else ""
