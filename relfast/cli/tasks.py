"""``relfast tasks``."""

from __future__ import annotations

import click

from relfast.tasks import TASKS


@click.command(name="tasks")
@click.option("--json", "as_json", is_flag=True, help="As JSON, for programs.")
def command(as_json: bool) -> None:
    """List the tasks, their metrics and their reward metric."""
    rows = [
        {
            "task": task.name,
            "summary": task.summary,
            "metrics": ["correct", *task.metrics],
            "reward": task.default_reward("reference"),
            "reward_strict": task.default_reward("strict"),
            "revision": task.revision,
            "generate": task.generator is not None,
        }
        for task in TASKS.values()
    ]
    if as_json:
        import orjson

        click.echo(orjson.dumps(rows, option=orjson.OPT_INDENT_2).decode())
        return
    for row in rows:
        reward = row["reward"]
        if row["reward_strict"] != reward:
            reward = f"{reward} (strict: {row['reward_strict']})"
        click.echo(f"{row['task']}  {row['summary']}")
        click.echo(f"        reward {reward}; metrics {', '.join(map(str, row['metrics']))}")  # type: ignore[call-overload]
