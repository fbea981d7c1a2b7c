"""What ``--help`` shows beside options: two examples a command, and the groups of its options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import click

EXAMPLES: Final[Mapping[str, tuple[str, str]]] = {
    "score": (
        "relfast score run.jsonl",
        "relfast score run.jsonl --data gold.jsonl --map response=completion -o rows.parquet",
    ),
    "generate": (
        "relfast generate REL-A1 -n 100 --seed 1 -o records.jsonl",
        "relfast generate seqbench -n 10 --seed 1 -o mazes.jsonl",
    ),
    "validate": ("relfast validate records.jsonl", "relfast validate records.jsonl.gz --max-errors 5"),
    "audit": ("relfast audit records.jsonl", "relfast audit records.jsonl --limit 1000 --json"),
    "show": ("relfast show run.jsonl:0", "relfast show run.jsonl:maze-7"),
    "report": (
        "relfast report rows.jsonl -o report",
        "relfast report a.scored.jsonl b.scored.jsonl -o report",
    ),
    "compare": (
        "relfast compare a.scored.jsonl b.scored.jsonl",
        "relfast compare old=a.scored.jsonl new=b.scored.jsonl --flips flips.csv",
    ),
    "bench": (
        "relfast bench --mock",
        "relfast bench NAME@http://127.0.0.1:8000/v1 --set rel --samples 4",
    ),
    "run": (
        "relfast run records.jsonl --api http://127.0.0.1:8000/v1 --model NAME -o run.jsonl",
        "relfast run records.jsonl --api http://127.0.0.1:8000/v1 --model NAME --samples 8 -o run.jsonl --resume",
    ),
    "realign": ("relfast realign --mock --limit 2", "relfast realign --model NAME --api http://127.0.0.1:8000/v1"),
    "embedder": ("relfast embedder list", "relfast embedder add minilm"),
    "serve": ("relfast serve", "relfast serve --port 8080"),
    "path": ("relfast path lm-eval", "relfast path cache"),
    "tasks": ("relfast tasks", "relfast tasks --json"),
    "warmup": ("relfast warmup", "RELFAST_CACHE_DIR=/scratch/cache relfast warmup"),
}  # fmt: skip

_ANSWERS: Final = ("temperature", "max_tokens", "seed", "system", "stop", "extra_body", "truncated")
_SERVER: Final = ("key_env", "concurrency", "requests_per_minute", "timeout", "attempts", "backoff")
_OUTPUT: Final = ("output", "resume", "overwrite", "no_report", "fail_on_error", "workers", "quiet", "help")
_ASKING: Final = {"How it answers": _ANSWERS, "The server": _SERVER, "The run": _OUTPUT}

_GROUPS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "score": {
        "What is read": (
            "data",
            "task",
            "dialect",
            "filter",
            "field_map",
            "limit",
            "shard",
            "max_line_bytes",
        ),
        "What is written": ("output", "resume", "overwrite", "summary_path", "details", "lengths"),
        "How it runs": ("workers", "timeout", "fail_on_error", "engine", "ray_address", "part_bytes"),
        "What is said": ("show", "quiet", "verbose", "help"),
    },
    "bench": {
        "What is asked": ("api", "mock", "sets", "records", "limit", "samples", "prompt", "judge"),
        **_ASKING,
    },
    "run": {"What is asked": ("api", "model", "task", "limit", "samples", "prompt"), **_ASKING},
}
"""Options by group, in the order they are shown; those of no group decide scores, and stand second."""

_REST: Final = "What decides a score"

_RARE: Final[Mapping[str, frozenset[str]]] = {
    "score": frozenset({"filter", "max_line_bytes", "part_bytes", "b1_min_f1", "tautomers", "device"}),
    "bench": frozenset({*_ANSWERS[3:], *_SERVER[2:], "reasoning", "device", "no_report"}),
    "run": frozenset({*_ANSWERS[4:], *_SERVER[2:]}),
}
"""Options that one user in a hundred needs: ``--help-all`` shows them."""


SHOW_ALL: Final = "relfast.help-all"
"""Key of a context's ``meta``: whether its help has the rare options too."""


def _help_all(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        ctx.meta[SHOW_ALL] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


class HelpedCommand(click.Command):
    """A command whose options are shown by group, the rare ones by ``--help-all``."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        more = click.Option(
            ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_help_all
        )
        return [*super().get_params(ctx), more] if self.name in _RARE else super().get_params(ctx)

    def make_parser(self, ctx: click.Context) -> Any:
        """click's own, which takes ``-o`` for a misspelt long option first: to look for what is meant, loads
        difflib."""
        parser: Any = super().make_parser(ctx)
        # its own business: where another version has other names it goes its own way
        known, process = getattr(parser, "_short_opt", {}), getattr(parser, "_process_opts", None)
        match = getattr(parser, "_match_short_opt", None)
        if process is not None and match is not None:
            parser._process_opts = lambda arg, state: (match if arg in known else process)(arg, state)
        return parser

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups = _GROUPS.get(self.name or "", {})
        of = {name: group for group, names in groups.items() for name in names}
        shown: dict[str, list[tuple[str, str]]] = {}
        first = next(iter(groups), _REST)
        for title in dict.fromkeys([first, _REST, *groups]):
            shown[title] = []
        rare = frozenset() if ctx.meta.get(SHOW_ALL) else _RARE.get(self.name or "", frozenset())
        left: list[str] = []
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            name = "help" if "--help" in parameter.opts else parameter.name or ""
            if name in rare:
                left.append(parameter.opts[-1])
            elif record is not None and name != "help_all":
                shown[of.get(name, _REST)].append(record)
        for title, records in shown.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
        if left:
            formatter.write_paragraph()
            formatter.write_text(f"--help-all shows {len(left)} more: {', '.join(left)}")


def with_examples(command: click.Command, name: str) -> click.Command:
    """The command, with its examples below its options."""
    if name in EXAMPLES and not command.epilog:
        command.epilog = "\b\nExamples:\n" + "\n".join(f"  {line}" for line in EXAMPLES[name])
    return command
