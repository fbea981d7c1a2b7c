"""What README and docs show is what happens: commands run, their output is as printed, Python says what it says.

A page is followed from top to bottom in a folder of its own, and all pages one after another in one. ``sh`` blocks are run; a ``text`` block after one holds
lines of its output (``…`` stands for what is left out); a block with ``title="FILE"`` is written, or compared if a
command has made that file; ``python`` blocks share their names, and ``# value`` beside an expression is compared. A
comment before a block says otherwise: ``<!-- not run: why -->`` (its options are still held against the command's),
``<!-- slow: why -->`` (run where all pages are followed),
``<!-- exit 2 -->``. ``<!-- before: COMMANDS -->`` makes what a block needs and no reader wants to see.
"""

from __future__ import annotations

import ast
import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import click
import pytest
from corpora import ROOT

import relfast
from relfast.cli.main import cli, main
from relfast.tasks import TASKS

README = (ROOT / "README.md").read_text("utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = [str(path.relative_to(ROOT)) for path in PAGES]

_BLOCK = re.compile(
    r"(?:^<!-- (?P<say>(?:not run|slow): [^\n]+|exit \d+) -->\n\s*)?"
    r"^(?P<indent> *)```(?P<language>\w*)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<body>.*?)^(?P=indent)```$"
    r"|^<!-- before:\n?(?P<before>.*?)-->$",
    re.MULTILINE | re.DOTALL,
)
_SHELL = frozenset("|<>&;$*`")
_VALUE = re.compile(r"[-\d{\[('\"]|(?:True|False|None|array\(.*)$")


class Block(NamedTuple):
    """A fenced block, or the commands of a ``before``."""

    language: str
    title: str | None
    body: str
    say: str

    def runs(self, *, slowly: bool) -> bool:
        return not self.say.startswith("not run" if slowly else ("not run", "slow"))

    def lines(self) -> list[str]:
        """Commands: a line each, continued ones joined, comments left out."""
        joined = re.sub(r"\\\n\s*", "", self.body)
        return [line for line in joined.splitlines() if line.strip() and not line.startswith("#")]


def blocks(text: str) -> list[Block]:
    found = []
    for match in _BLOCK.finditer(text):
        if match["before"] is not None:
            found.append(Block("sh", None, match["before"], ""))
            continue
        body = re.sub(f"^{match['indent']}", "", match["body"], flags=re.MULTILINE)
        found.append(Block(match["language"], match["title"], body, match["say"] or ""))
    return found


def commands_of(line: str) -> list[list[str]]:
    """The words of each ``relfast …`` in a line of shell."""
    return [shlex.split(words, comments=True) for words in re.findall(r"\brelfast ([^|;&<>)]*)", line)]


def options_of(command: click.Command) -> set[str]:
    """The options of a command and of all commands below it."""
    below = command.list_commands(click.Context(command)) if isinstance(command, click.Group) else []
    found = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    for name in below:
        inner = command.get_command(click.Context(command), name)  # type: ignore[attr-defined]
        found |= options_of(inner)
    return found | {"--help", "-h", "--version"}


def unknown_options(words: list[str]) -> set[str]:
    """Options of a command line that its command does not have."""
    command: click.Command = cli
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        below = command.get_command(click.Context(command), words[0])
        assert below is not None, words
        command, words = below, words[1:]
    known = options_of(command)
    if command.name == "realign":  # it hands on what it does not know
        known |= options_of(cli.get_command(click.Context(cli), "bench"))  # type: ignore[arg-type]
    return {word.partition("=")[0] for word in words if re.match(r"--?[a-zA-Z]", word)} - known


class Follower:
    """Follows a page in a folder; ``slowly``: runs what takes more than a second, too."""

    def __init__(self, folder: Path, captured: pytest.CaptureFixture[str]) -> None:
        self.folder, self.captured, self.slowly = folder, captured, False
        self.names: dict[str, Any] = {}
        self.said = ""
        shim = folder / ".bin" / "relfast"
        shim.parent.mkdir()
        shim.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m relfast "$@"\n')
        shim.chmod(0o755)

    def shell(self, line: str) -> int:
        """Run a line, here where it is a plain command of ours, which takes a tenth of the time."""
        if line.startswith("relfast ") and not _SHELL & set(line):
            with pytest.raises(SystemExit) as left:
                main(shlex.split(line, comments=True)[1:])
            said = self.captured.readouterr()
            self.said += said.out + said.err
            return int(left.value.code or 0)
        search = os.pathsep.join([str(self.folder / ".bin"), os.environ["PATH"]])
        sources = os.pathsep.join([str(ROOT), str(ROOT / "kernels")])
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", line],
            env={**os.environ, "PATH": search, "PYTHONPATH": sources},
            capture_output=True,
            text=True,
            check=False,
        )
        self.said += done.stdout + done.stderr
        return done.returncode

    def commands(self, block: Block) -> None:
        self.said = ""
        status = int(block.say.removeprefix("exit ")) if block.say.startswith("exit ") else 0
        for line in block.lines():
            assert self.shell(line) == status, f"{line}\n{self.said}"

    def output(self, block: Block) -> None:
        said = " ".join(self.said.split())
        for line in filter(None, map(str.strip, block.body.splitlines())):
            for piece in line.split("…"):
                assert " ".join(piece.split()) in said, f"{line}\nis not in\n{self.said}"

    def page(self, name: str) -> None:
        follows_commands = False
        for block in blocks((ROOT / name).read_text("utf-8")):
            runs = block.runs(slowly=self.slowly)
            try:
                if runs and block.title is not None:
                    self.file(block)
                elif runs and block.language == "sh":
                    self.commands(block)
                elif runs and block.language == "text" and follows_commands:
                    self.output(block)
                elif runs and block.language == "python":
                    self.python(block)
            except Exception as error:
                error.add_note(f"on {name}")
                raise
            follows_commands = runs and block.language == "sh"

    def file(self, block: Block) -> None:
        path = self.folder / str(block.title)
        if path.exists():
            assert path.read_text("utf-8") == block.body, path.name
        else:
            path.write_text(block.body, "utf-8")

    def python(self, block: Block) -> None:
        lines = block.body.splitlines()
        for node in ast.parse(block.body).body:
            source = compile(ast.Module([node], []), "page", "exec")
            if not isinstance(node, ast.Expr):
                exec(source, self.names)
                continue
            value = eval(compile(ast.Expression(node.value), "page", "eval"), self.names)
            beside = lines[(node.end_lineno or 1) - 1][node.end_col_offset or 0 :].strip()
            below = lines[node.end_lineno or 0] if len(lines) > (node.end_lineno or 0) else ""
            shown = next((text[2:] for text in (beside, below) if text.startswith("# ")), "")
            if _VALUE.match(shown):
                assert repr(value) == shown


def follower_in(
    folder: Path, monkeypatch: pytest.MonkeyPatch, captured: pytest.CaptureFixture[str]
) -> Follower:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("RELFAST_WORKERS", "0")
    for link in ("examples", "tests"):
        (folder / link).symlink_to(ROOT / link)
    return Follower(folder, captured)


@pytest.mark.parametrize("name", NAMES)
def test_the_page_is_what_happens(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    follower_in(tmp_path, monkeypatch, capfd).page(name)


@pytest.mark.slow
def test_all_pages_are_followed_in_one_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The README, then the site in its order: each begins with the files that the pages before it left."""
    monkeypatch.setattr("relfast.report.canvas.FORMATS", (".svg",))
    follower = follower_in(tmp_path, monkeypatch, capfd)
    follower.slowly = True
    contents = (ROOT / "mkdocs.yml").read_text("utf-8")
    for name in ("README.md", *(f"docs/{page}" for page in re.findall(r": (\S+\.md)$", contents, re.M))):
        follower.names = {}
        follower.page(name)


@pytest.mark.parametrize("name", NAMES)
def test_every_block_says_what_it_is_and_has_options_that_exist(name: str) -> None:
    """A block without a language is run by nothing, and hides."""
    for block in blocks((ROOT / name).read_text("utf-8")):
        assert block.language
        for line in block.lines() if block.language == "sh" else ():
            for words in commands_of(line):
                assert unknown_options(words) == set(), line


def test_every_task_has_its_row() -> None:
    text = "".join(path.read_text("utf-8") for path in sorted((ROOT / "docs" / "tasks").glob("*.md")))
    for name, task in TASKS.items():
        assert re.search(rf"^\| {name} \|.*`{task.reward_metric}`", text, re.MULTILINE), name


def test_every_page_is_in_the_table_of_contents() -> None:
    contents = (ROOT / "mkdocs.yml").read_text("utf-8")
    assert {name.removeprefix("docs/") for name in NAMES[1:]} == set(
        re.findall(r": (\S+\.md)$", contents, re.M)
    )


def test_the_site_fetches_nothing() -> None:
    """What a page would load from elsewhere; links are the reader's to follow."""
    text = "".join(path.read_text("utf-8") for path in PAGES)
    assert re.findall(r"!\[[^\]]*\]\(https?:|<(?:script|img|link|iframe)\b", text) == []


forms = SimpleNamespace(**runpy.run_path(str(ROOT / "docs" / "forms.py")))


@pytest.mark.parametrize("name", forms.PARTS)
def test_parts_of_the_page_on_strict_are_made_from_the_code(name: str) -> None:
    on_page = forms.part(forms.PAGE.read_text("utf-8"), name)
    assert on_page == "\n".join(forms.PARTS[name]()), "python docs/forms.py writes it anew"


# the README: short, what it names is there, its table is the demo's


def test_options_in_the_readme_exist() -> None:
    assert set(re.findall(r"(?<![\w-])(--[a-z][a-z0-9-]*)", README)) <= options_of(cli)


def test_links_of_the_readme_lead_somewhere() -> None:
    titles = re.findall(r"^#+ (.*)$", README, re.MULTILINE)
    headings = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
    targets = set(re.findall(r"\]\(([^)]+)\)", README))
    for target in targets:
        if target.startswith("#"):
            assert target[1:] in headings, target
        elif not target.startswith("http"):
            assert (ROOT / target).exists(), target
    # but those that only the site has
    made = {
        f"docs/{name}.md"
        for name in ("index", "concepts", "tasks/index", "reference/commands", "reference/python")
    }
    assert {*NAMES[1:]} - made <= targets


def test_every_task_is_in_the_readme() -> None:
    assert len(README.splitlines()) <= 150
    for name, task in TASKS.items():
        if not name.startswith("REL-A"):
            assert re.search(rf"^\| \[{name}\].*`{task.reward_metric}`", README, re.MULTILINE), name


def test_the_demo_table_is_the_demo(tmp_path: Path) -> None:
    """Counts are exact; means may move with RDKit, which writes and matches the molecules."""
    demo = ROOT / "relfast" / "data" / "rel_demo.jsonl.gz"
    summary = relfast.score_file(demo, tmp_path / "rows.jsonl", workers=0)
    (shown,) = [block.body for block in blocks(README) if "REL-A4       20" in block.body]
    header, *lines = shown.splitlines()
    assert header.split()[:4] == ["task", "prompts", "responses", "correct"]
    for line in lines:
        name, prompts, responses, correct, *_, unscored = line.split()
        task = summary.tasks[name].to_dict()
        assert (task["prompts"], task["responses"]) == (int(prompts), int(responses))
        assert task["responses"] - task["statuses"]["ok"] - task["statuses"]["no_answer"] == int(unscored)
        assert task["correct"] == pytest.approx(float(correct), abs=0.02)
    assert [line.split()[0] for line in lines] == list(summary.tasks)
    assert f"{summary.rows} made-up responses" in README
