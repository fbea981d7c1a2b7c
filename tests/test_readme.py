"""The README: short, its links lead somewhere, its table is the demo's. `tests/test_docs.py` follows its commands."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from corpora import ROOT

import relfast
from relfast.cli.main import cli
from relfast.tasks import TASKS

README = (ROOT / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def block_with(text: str) -> str:
    (found,) = [body for _, body in BLOCKS if text in body]
    return found


def help_of_all(command: click.Command, path: tuple[str, ...] = ()) -> str:
    """The help texts of a command and of all commands below it."""
    text = CliRunner().invoke(cli, [*path, "--help"]).output
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            text += help_of_all(below, (*path, name))
    return text


def test_options_exist() -> None:
    known = help_of_all(cli)
    options = set(re.findall(r"(?<![\w-])(--[a-z][a-z0-9-]*)", README))
    assert {option for option in options if option not in known} == set()


def test_links_lead_somewhere() -> None:
    headings = {
        re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
        for title in re.findall(r"^#+ (.*)$", README, re.MULTILINE)
    }
    for target in re.findall(r"\]\(([^)]+)\)", README):
        if target.startswith("#"):
            assert target[1:] in headings, target
        elif not target.startswith("http"):
            assert (ROOT / target).exists(), target


def test_every_task_is_listed() -> None:
    for name, task in TASKS.items():
        if not name.startswith("REL-A"):
            assert re.search(rf"^\| \[{name}\].*`{task.reward_metric}`", README, re.MULTILINE), name


def test_it_is_read_in_a_minute() -> None:
    assert len(README.splitlines()) <= 150


def test_every_page_is_linked() -> None:
    """But those that only the site has."""
    pages = {str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md")}
    made = {
        "docs/index.md",
        "docs/concepts.md",
        "docs/tasks/index.md",
        "docs/reference/commands.md",
        "docs/reference/python.md",
    }
    assert pages - made <= set(re.findall(r"\]\(([^)]+)\)", README))


def test_the_demo_table_is_the_demo(tmp_path: Path) -> None:
    """Counts are exact; means may move with RDKit, which writes and matches the molecules."""
    summary = relfast.score_file(
        ROOT / "relfast" / "data" / "rel_demo.jsonl.gz", tmp_path / "rows.jsonl", workers=0
    )
    header, *lines = block_with("REL-A4       20").splitlines()
    assert header.split()[:4] == ["task", "prompts", "responses", "correct"]
    for line in lines:
        name, prompts, responses, correct, *_, unscored = line.split()
        task = summary.tasks[name].to_dict()
        assert (task["prompts"], task["responses"]) == (int(prompts), int(responses))
        assert task["responses"] - task["statuses"]["ok"] - task["statuses"]["no_answer"] == int(unscored)
        assert task["correct"] == pytest.approx(float(correct), abs=0.02)
    assert [line.split()[0] for line in lines] == list(summary.tasks)
    assert f"{summary.rows} made-up responses" in README
