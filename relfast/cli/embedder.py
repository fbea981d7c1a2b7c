"""``relfast embedder``: the embedding models of this machine."""

from __future__ import annotations

from pathlib import Path

import click

from relfast.errors import OutputExistsError


@click.group(name="embedder")
def command() -> None:
    """Embedding models of ReAlign: what is on this machine, adding one, and what one is."""


@command.command(name="list")
def list_models() -> None:
    """The known models, and those on this machine."""
    from relfast.embed import models

    here = {model.name: model for model in models.known_models()}
    for name, known in models.KNOWN.items():
        if name in here:
            state = models.describe_model(here[name], "cpu")
        elif models.package_directory(name) is not None:
            state = "in an installed package; converted at its first use"
        else:
            state = f"not here: relfast embedder add {name}"
        click.echo(f"{name:12} {state}\n{'':12} {known.repository}: {known.summary}")
    for name, model in here.items():
        if name not in models.KNOWN:
            click.echo(f"{name:12} {models.describe_model(model, 'cpu')}\n{'':12} {model.origin}")


@command.command(name="add")
@click.argument("source", metavar="NAME|DIR")
@click.option("--name", metavar="NAME", help="What it is called here.  [default: the known or the directory's name]")  # fmt: skip
@click.option("--from", "take", type=click.Choice(["auto", "safetensors", "onnx"]), default="auto", show_default=True, help="Weights to take: our export of safetensors, or the source's own ONNX file.")  # fmt: skip
@click.option("--precision", type=click.Choice(["fp32", "fp16", "int8"]), default="fp32", show_default=True, help="fp16 is for GPUs; int8 is fast, but a vector depends on its batch.")  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Replace a model of that name.")
def add(source: str, name: str | None, take: str, precision: str, overwrite: bool) -> None:
    """Make a model known: a known NAME (from an installed package or the hub), or a checkpoint's DIR."""
    from relfast.embed import adding, models

    try:
        model = adding.add(source, name, take=take, precision=precision, overwrite=overwrite)  # type: ignore[arg-type]
    except OutputExistsError as error:
        # asked for by its name and in no other form than it has: there is nothing left to do
        known = models.canonical_name(source) in models.KNOWN and not Path(source).is_dir()
        if not known or (name, take, precision) != (None, "auto", "fp32"):
            raise
        click.echo(f"{source} is here already (--overwrite makes it anew)", err=True)
        _describe(error.path)
        return
    _describe(model.path)


@command.command(name="info")
@click.argument("name", metavar="NAME|DIR", default="auto")
def info(name: str) -> None:
    """What a model is: its origin, sizes and hash. The default is the one that `auto` takes."""
    from relfast.embed.adding import resolve

    _describe(resolve(name).path)


def _describe(path: str) -> None:
    from relfast.embed import models

    model = models.read_model(Path(path))
    facts = {
        "name": model.name,
        "signature": models.describe_model(model, "cpu"),
        "directory": model.path,
        "origin": model.origin,
        "dimensions": str(model.dimensions),
        "longest input": f"{model.max_tokens} tokens",
        "pooling": "in the graph" if model.pooling == "graph" else model.pooling,
        "same bits in every batch": "yes, on a CPU" if model.batch_stable else "no",
        "hash": model.hash,
    }
    for key, value in facts.items():
        click.echo(f"{key:26} {value}")
