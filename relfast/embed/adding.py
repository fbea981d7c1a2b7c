"""Making a model directory: from a checkpoint, from a hub's own ONNX file, or from an installed package."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Literal, cast

import numpy as np

from relfast.embed import models
from relfast.embed.models import Model, Pooling, Precision
from relfast.embed.session import Session
from relfast.errors import InputError, MissingExtraError, OutputError, OutputExistsError, UsageError

Source = Literal["auto", "safetensors", "onnx"]

_LENGTHS_TRIED: Final = (3, 8, 21, 40)
_TEXTS_TRIED: Final = 8

_TEXT_FILES: Final = (
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "sentence_bert_config.json",
    "modules.json",
    "1_Pooling/config.json",
)
_HUB_PATTERNS: Final = {
    "safetensors": [*_TEXT_FILES, "model.safetensors"],
    "onnx": [*_TEXT_FILES, "model.onnx", "onnx/model.onnx", "onnx/model.onnx_data"],
}


def add(
    source: str,
    name: str | None = None,
    *,
    take: Source = "auto",
    precision: Precision = "fp32",
    overwrite: bool = False,
) -> Model:
    """Make a model known on this machine.

    Parameters
    ----------
    source
        A known name or its hub repository, or a directory with a checkpoint or an ONNX file.
    name
        What it is called here; the known or the directory's name if left out, with the precision behind
        it where that is not fp32.
    take
        Which weights: ``safetensors`` (our own export, extra `convert`), ``onnx`` (the directory's own
        graph), or whichever is there, safetensors first.
    precision
        ``fp16`` is for GPUs; ``int8`` quantises dynamically: twice as fast on a CPU, but a vector then
        depends on its batch.

    Raises
    ------
    UsageError, InputError, OutputError, MissingExtraError
        An `OutputExistsError` if there is a model of that name, and not ``overwrite``.
    """
    canonical = models.canonical_name(source)
    if canonical in models.KNOWN and not Path(source).is_dir():
        checkpoint, origin = _locate(canonical, take)
        default = canonical
    elif Path(source).is_dir():
        checkpoint = Path(source)
        origin = str(checkpoint.resolve())
        default = checkpoint.resolve().name
    else:
        raise UsageError(
            f"{source!r} is no directory and none of the known names ({', '.join(models.KNOWN)})"
        )
    if precision != "fp32":
        default = f"{default}-{precision}"
    chosen = name or default
    if "/" in chosen or "\\" in chosen or chosen.startswith(".") or chosen == "auto":
        raise UsageError(f"{chosen!r} cannot be the name of a model; choose another with --name")
    target = models.models_directory() / chosen
    if (target / models.MANIFEST).is_file() and not overwrite:
        raise OutputExistsError(target)
    return _build(checkpoint, origin, chosen, target, take, precision)


def _locate(name: str, take: Source) -> tuple[Path, str]:
    """Where the weights of a known model are: in an installed package, else fetched from the hub."""
    package = models.package_directory(name)
    if package is not None and take != "onnx":
        return package, f"package {models.KNOWN[name].package}"
    repository = models.KNOWN[name].repository
    hint = f"; {models.offline_hint(name).strip(' ()')}" if models.KNOWN[name].package else ""
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        missing = MissingExtraError(f"fetching {repository}", "hub")
        missing.args = (f"{missing}{hint}",)
        raise missing from error
    patterns = _HUB_PATTERNS["onnx" if take == "onnx" else "safetensors"]
    try:
        path = snapshot_download(repository, allow_patterns=patterns)
    except Exception as error:  # the hub's client raises its own, requests' and httpx's errors
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"cannot be fetched from the hub: {reason}{hint}", file=repository) from error
    return Path(path), f"hub {repository} {Path(path).name}"


def _build(
    checkpoint: Path, origin: str, name: str, target: Path, take: Source, precision: Precision
) -> Model:
    """Make the directory beside its place and move it there, so that nobody ever reads half a model."""
    for file in ("config.json", "tokenizer.json"):
        if not (checkpoint / file).is_file():
            raise InputError(f"has no {file}", file=str(checkpoint))
    try:
        models.models_cache().check(make=True)
        workplace = Path(tempfile.mkdtemp(prefix=f".adding-{name}-", dir=target.parent))
    except OSError as error:
        raise OutputError(target.parent, error.strerror or str(error)) from error
    try:
        pooling = _write_graph(checkpoint, workplace, take, precision)
        for file in ("config.json", "tokenizer.json"):
            shutil.copyfile(checkpoint / file, workplace / file)
        max_tokens = models.max_tokens_of(checkpoint)
        model = Model(
            name=name,
            path=str(target),
            origin=origin,
            hash=models.hash_model(workplace, "model.onnx", pooling, max_tokens),
            dimensions=int(models.read_json(checkpoint / "config.json").get("hidden_size", 0)),
            max_tokens=max_tokens,
            pooling=pooling,
            precision=precision,
        )
        # the session reads the graph where it still lies
        stable = _is_batch_stable(replace(model, path=str(workplace)))
        models.write_manifest(workplace, replace(model, batch_stable=stable))
        workplace.chmod(0o755)  # mkdtemp's directories are private
        for made in workplace.iterdir():
            made.chmod(0o644)  # a umask that lets others write would have them decide scores
        _move(workplace, target)
    except OSError as error:
        raise OutputError(target, error.strerror or str(error)) from error
    finally:
        shutil.rmtree(workplace, ignore_errors=True)
    return models.read_model(target)


def _move(workplace: Path, target: Path) -> None:
    try:
        workplace.rename(target)
    except OSError:
        # somebody was there first: an older model that is to be replaced, or another process of this run
        aside = Path(tempfile.mkdtemp(prefix=".old-", dir=target.parent))
        target.rename(aside / "model")
        workplace.rename(target)
        shutil.rmtree(aside, ignore_errors=True)


def _write_graph(checkpoint: Path, workplace: Path, take: Source, precision: Precision) -> Pooling:
    own = next((g for g in ("model.onnx", "onnx/model.onnx") if (checkpoint / g).is_file()), None)
    graph = workplace / "model.onnx"
    pooling = models.pooling_of(checkpoint)
    from_safetensors = take == "safetensors" or (
        take == "auto" and (own is None or (checkpoint / "model.safetensors").is_file())
    )
    if from_safetensors:
        from relfast.embed.export import export_bert

        config = models.read_json(checkpoint / "config.json")
        export_bert(checkpoint, config, pooling, graph, half=precision == "fp16")
    elif own is None:
        raise InputError("has no ONNX file (model.onnx or onnx/model.onnx)", file=str(checkpoint))
    else:
        if precision == "fp16":
            raise UsageError("half precision is made from safetensors, not from an ONNX file")
        shutil.copyfile(checkpoint / own, graph)
        data = checkpoint / f"{own}_data"
        if data.is_file():
            shutil.copyfile(data, workplace / data.name)
    if precision == "int8":
        _quantise(graph)
    return "graph" if from_safetensors else pooling


def _is_batch_stable(model: Model) -> bool:
    """Whether a text's vector has the same bits alone and in company, tried on a CPU.

    True of our graphs. int8 takes its scales from the whole batch (off by up to 3.6e-2), and a foreign
    graph may do anything: it is measured, not believed.
    """
    session = Session(model, threads=1)
    rng = np.random.default_rng(0)
    for tokens in _LENGTHS_TRIED:
        length = min(tokens, model.max_tokens)
        # ids that every vocabulary has
        ids = rng.integers(5, 50, (_TEXTS_TRIED, length))
        together = session.run(ids, np.full(_TEXTS_TRIED, length))
        for some in (1, 3):
            apart = [
                session.run(ids[at : at + some], np.full(len(ids[at : at + some]), length))
                for at in range(0, _TEXTS_TRIED, some)
            ]
            if not np.array_equal(np.concatenate(apart), together):
                return False
    return True


def _quantise(graph: Path) -> None:
    try:
        from onnxruntime.quantization import QuantType, quantize_dynamic
    except ImportError as error:
        raise MissingExtraError("quantising an embedding model", "convert") from error
    whole = graph.with_name("whole.onnx")
    graph.rename(whole)
    kinds = cast(Any, QuantType)
    quantize_dynamic(whole, graph, weight_type=kinds.QInt8)
    whole.unlink()
