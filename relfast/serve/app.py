"""The application: ``/score``, ``/get_reward``, ``/health``, ``/metrics``, NeMo-Gym's routes and the
OpenAPI pages.

Scoring runs in threads and worker processes; the event loop only reads, waits and writes.
"""
# no `from __future__ import annotations`: FastAPI reads the annotations of functions made in a function

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, Final, Literal

import orjson
from fastapi import Body, FastAPI, HTTPException, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from pydantic import BaseModel, Field

from relfast import __version__
from relfast.embed.adding import resolve
from relfast.engine.calls.pending import Begun
from relfast.engine.calls.scorer import Scorer
from relfast.engine.calls.unscored import Needs
from relfast.engine.job import OnError
from relfast.errors import TooManyError, UsageError
from relfast.json_text import encode_row
from relfast.records import STATUSES, Score
from relfast.rewards.openrlhf import correct_of
from relfast.rewards.queries import samples_of, with_unreadable
from relfast.rewards.shared import Row as Sample
from relfast.rewards.shared import columns_of_rows, read_sample, shares
from relfast.serve.access import OPEN_PATHS, Access
from relfast.serve.docs import HEADERS, docs_page
from relfast.serve.limits import BodyRoute, Gate
from relfast.serve.metrics import Metrics
from relfast.serve.nemo_gym import SeedRequest, VerifyAnswer, VerifyRequest, described_by, record_of

MAX_BODY_BYTES: Final = 64 * 2**20
"""Largest body of a request: holds 1,000 responses of 20 kB with their questions."""

MAX_RECORDS: Final = 10_000
"""Most records of a request: at 10 ms each they take a minute on two workers."""

BODY_SECONDS: Final = 30.0
"""Longest time for a body to arrive: the largest one at 2 MB/s."""

STOP_SECONDS: Final = 10.0
"""Longest time to answer what is in flight when the server is told to stop."""

JSON: Final = "application/json"
LABEL: Final = 'Gold, or {"task": …, "answer": gold}; may be JSON text.'


@dataclass(frozen=True)
class Settings:
    """How the server scores, and which requests it accepts.

    ``options`` are those of `relfast.Scorer`; ``policy`` is for requests that name none. ``hosts`` are names
    that the server answers to besides those of the loopback, ``token`` is required with requests (None: none
    is), and ``log`` is called with a line of text for each request.
    """

    policy: Literal["reference", "strict"] = "strict"
    on_error: OnError = None
    max_body_bytes: int = MAX_BODY_BYTES
    max_records: int = MAX_RECORDS
    body_seconds: float = BODY_SECONDS
    stop_seconds: float = STOP_SECONDS
    options: Mapping[str, Any] = field(default_factory=dict)
    hosts: Sequence[str] = ()
    token: str | None = field(default=None, repr=False)
    log: Callable[[str], None] | None = None


class ScoreRequest(BaseModel):
    """Records to score."""

    model_config = described_by(
        examples={
            "records": [{"id": "1", "task": "REL-C1", "answer": {"label": "Yes"}, "response": "<Yes>"}],
        }
    )

    records: list[Any] = Field(description="Records as `relfast score` reads them, in any of its dialects.")
    policy: Literal["reference", "strict"] | None = Field(
        None, description="Default: the policy the server was started with."
    )


class ErrorShown(BaseModel):
    """Why a row has no score."""

    type: str
    message: str


class Row(BaseModel):
    """One row of output, as `relfast score` writes it."""

    index: int
    id: Any
    task: str | None
    sample: int
    status: Literal["ok", "no_answer", "invalid_record", "timeout", "crashed"]
    correct: bool | None
    reward: float | None
    metrics: dict[str, Any]
    error: ErrorShown | None


class ScoreAnswer(BaseModel):
    """One row per record and sample, in order."""

    rows: list[Row]


class OpenRLHFRequest(BaseModel):
    """OpenRLHF's protocol (``--reward.remote_url http://HOST:PORT/get_reward``).

    A token is the URL's password: ``http://relfast:TOKEN@HOST:PORT/get_reward``.
    """

    model_config = described_by(
        examples={
            "query": ["Isomers? <Yes>"],
            "prompts": ["Isomers?"],
            "labels": [{"task": "REL-C1", "answer": {"label": "Yes"}}],
        }
    )

    query: list[str] = Field(description="Prompt and response in one.")
    prompts: list[str] | None = Field(
        None, description="What each query begins with; needed unless the labels hold the questions."
    )
    labels: list[Any] | None = Field(
        None, description='Gold, or {"task": …, "answer": gold, "question": …}; may be JSON text.'
    )


class OpenRLHFAnswer(BaseModel):
    """Lists of the request's length; null for a response without a reward (``--on-error``)."""

    rewards: list[float | None]
    scores: list[float | None]
    extra_logs: dict[str, float]


class SlimeRequest(BaseModel):
    """slime's protocol (``--rm-type remote_rm --rm-url http://HOST:PORT/get_reward``).

    A token is the URL's password, as OpenRLHF's.
    """

    model_config = described_by(
        examples={
            "prompt": "Isomers?",
            "response": "<Yes>",
            "label": {"task": "REL-C1", "answer": {"label": "Yes"}},
        }
    )

    prompt: Any = Field(None, description="The question, as text or chat messages; strict looks at it.")
    response: Any
    label: Any = Field(None, description=LABEL)


class Index(BaseModel):
    """Where things are."""

    version: str
    paths: dict[str, str] = Field(description="What each path is for.")


class Health(BaseModel):
    """Whether the server takes requests."""

    status: Literal["ok", "stopping"]
    version: str
    workers: int


class Refusal(BaseModel):
    """Why a request was turned down."""

    detail: str


_DENIALS: Final[dict[int | str, dict[str, Any]]] = {
    401: {"model": Refusal, "description": "The server was started with a token, and this is not it."},
    408: {"model": Refusal, "description": "The body did not come in time."},
    421: {"model": Refusal, "description": "The server does not answer to this Host."},
    503: {"model": Refusal, "description": "The server was told to stop, and its time for that is up."},
}
_REFUSALS: Final[dict[int | str, dict[str, Any]]] = {
    400: {"model": Refusal, "description": "The body cannot be read."},
    413: {"model": Refusal, "description": "Too many bytes or records."},
    415: {"model": Refusal, "description": "The body does not say that it is JSON."},
    422: {"model": Refusal, "description": "The body does not have the required form."},
}


class Desk:
    """The scorers behind the application, one for each policy."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        embedder = settings.options.get("embedder", "auto")
        if embedder != "auto":
            resolve(embedder)
        self._scorers = {
            policy: Scorer(policy=policy, on_error=settings.on_error, **settings.options)
            for policy in ("reference", "strict")
        }
        self._needs = Needs(settings.policy, "in the request, as 'prompt' or in the label")

    def scorer(self, policy: str | None = None) -> Scorer:
        return self._scorers[policy or self.settings.policy]

    async def score_rows(self, rows: Iterable[Sample]) -> list[Score]:
        """The scores of responses; warns of questions that strict needs and that are missing."""
        samples = [*rows]
        if not samples:
            return []
        scores = await self.ended(self.scorer().begin_columns, columns_of_rows(samples))
        for score, (_, gold, _, question) in zip(scores, samples, strict=True):
            self._needs.look(score.task, gold, question)
        return scores

    async def ended(self, begin: Callable[[Any], Begun], records: Any) -> list[Score]:
        """The scores of ``begin(records)``, which runs in a thread. The thread does not wait for workers, as
        other requests would wait for the thread; the event loop does."""
        begun = await run_in_threadpool(begin, records)
        await begun.ended()
        return begun.scores()

    def stats(self) -> dict[str, int]:
        """Counters of `relfast.Scorer.stats`, summed over the policies."""
        every = [scorer.stats() for scorer in self._scorers.values()]
        return {name: sum(stats[name] for stats in every) for name in every[0]}

    def close(self) -> None:
        for scorer in self._scorers.values():
            scorer.close()


def make_app(settings: Settings) -> tuple[FastAPI, Gate]:
    """The application, and the gate around it, which is what an ASGI server has to run.

    Raises
    ------
    UsageError, UnknownTaskError
        An option cannot be used.
    """
    desk = Desk(settings)
    metrics = Metrics()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        desk.scorer().start()
        yield
        await asyncio.to_thread(desk.close)  # not in FastAPI's thread pool, which may be busy

    app = FastAPI(
        title="relfast",
        version=__version__,
        summary="Rewards for REL, ReAlign and SeqBench responses.",
        lifespan=lifespan,
        responses=_DENIALS,
        # FastAPI's own pages load their scripts from a CDN
        docs_url=None,
        redoc_url=None,
    )
    app.router.route_class = BodyRoute
    app.add_exception_handler(RequestValidationError, _refuse)
    _add_scoring(app, desk)
    _add_pages(app, desk, metrics, lambda: gate.draining)
    _describe_token(app, settings.token is not None)
    gate = Gate(
        app,
        {path for route in app.routes if (path := getattr(route, "path", None)) is not None},
        metrics,
        Access(settings.hosts, settings.token),
        settings.max_body_bytes,
        settings.body_seconds,
        settings.log,
    )
    return app, gate


def _add_scoring(app: FastAPI, desk: Desk) -> None:
    """Add the routes that score: batches of records, and the protocols of trainers."""
    most = desk.settings.max_records

    @app.post("/score", response_model=ScoreAnswer, responses=_REFUSALS)
    async def score(request: ScoreRequest) -> Response:
        """Score a batch: one row per record and sample, in order, whatever is in them."""
        _check_length(len(request.records), most)
        begin = partial(desk.scorer(request.policy).begin, most=most)
        try:
            scores = await desk.ended(begin, request.records)
        except TooManyError:
            _check_length(most + 1, most)
        rows = b",".join(encode_row(score.to_row()).rstrip(b"\n") for score in scores)
        return Response(b'{"rows":[' + rows + b"]}", media_type=JSON)

    @app.post("/get_reward", response_model=OpenRLHFAnswer | float | None, responses=_REFUSALS)
    async def get_reward(
        request: Annotated[OpenRLHFRequest | SlimeRequest, Body()],
    ) -> Response:
        """Rewards as OpenRLHF asks for them (lists), or slime (one response, one number)."""
        if isinstance(request, SlimeRequest):
            task, gold, question = read_sample(request.label, request.prompt)
            sample = task, gold, request.response, question
            answer: Any = desk.scorer().value_of(*await desk.score_rows([sample]))
        else:
            answer = await _openrlhf(desk, request)
        return Response(orjson.dumps(answer), media_type=JSON)

    @app.post("/seed_session", responses=_REFUSALS)
    async def seed_session(request: SeedRequest) -> dict[str, Any]:
        """A session begins; one turn needs no state."""
        return {}

    @app.post("/verify", response_model=VerifyAnswer, responses=_REFUSALS)
    async def verify(request: VerifyRequest) -> Response:
        """The reward of a response."""
        row = request.model_dump()
        (score,) = await desk.score_rows([record_of(row)])
        reward = desk.scorer().value_of(score)
        row |= {
            "reward": 0.0 if reward is None else reward,
            "mask_sample": reward is None,
            "status": score.status,
            "correct": score.correct,
            "extracted_answer": score.pred,
        }
        try:
            body = orjson.dumps(row)
        except TypeError:  # the request's fields go back: long integers and lone surrogates, too
            body = json.dumps(row).encode("ascii")
        return Response(body, media_type=JSON)


async def _openrlhf(desk: Desk, request: OpenRLHFRequest) -> dict[str, Any]:
    """The answer to OpenRLHF's request. Raises `HTTPException`."""
    n = len(request.query)
    _check_length(n, desk.settings.max_records)
    for name in ("prompts", "labels"):
        given = getattr(request, name)
        if given is not None and len(given) != n:
            raise HTTPException(422, f"{name} has {len(given)} items, query has {n}")
    try:
        samples = samples_of(request.query, request.prompts, request.labels)
    except UsageError as error:
        raise HTTPException(422, str(error)) from None
    scores = with_unreadable(samples, await desk.score_rows(filter(None, samples)))
    rewards = [*map(desk.scorer().value_of, scores)]
    corrects = [*map(correct_of, scores, rewards)]
    return {"rewards": rewards, "scores": corrects, "extra_logs": shares(scores) if scores else {}}


def _add_pages(app: FastAPI, desk: Desk, metrics: Metrics, stopping: Callable[[], bool]) -> None:
    """Add the routes that tell of the server: its state, its counters, what it can be asked."""

    @app.get(
        "/health", response_model=Health, responses={503: {"model": Health}}, openapi_extra={"security": []}
    )
    async def health() -> Response:
        """Whether the server takes requests; 503 while it stops."""
        status, code = ("stopping", 503) if stopping() else ("ok", 200)
        shown = {"status": status, "version": __version__, "workers": desk.stats()["workers"]}
        return Response(orjson.dumps(shown), code, media_type=JSON)

    @app.get("/metrics", response_class=PlainTextResponse)
    async def metrics_page() -> Response:
        """Counters in Prometheus' text format."""
        text = metrics.text(desk.stats(), STATUSES)
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4; charset=utf-8")

    @app.get("/", response_model=Index)
    async def index(request: Request) -> Response:
        """Where things are; a browser gets `/docs`."""
        if "text/html" in request.headers.get("accept", ""):
            return RedirectResponse("docs")
        paths = {
            path: operation["description"].partition("\n")[0]
            for path, methods in app.openapi()["paths"].items()
            for operation in methods.values()
        }
        more = {"/docs": "All of this on a page, to be tried.", "/openapi.json": "The same for programs."}
        return Response(orjson.dumps({"version": __version__, "paths": paths | more}), media_type=JSON)

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return HTMLResponse(docs_page(app.openapi()), headers=HEADERS)


def _describe_token(app: FastAPI, is_wanted: bool) -> None:
    """Put into the OpenAPI description which paths require the token."""
    described = app.openapi()
    if is_wanted:
        schemes = {scheme: {"type": "http", "scheme": scheme} for scheme in ("bearer", "basic")}
        described["components"]["securitySchemes"] = schemes
        described["security"] = [{scheme: []} for scheme in schemes]
    for path, methods in described["paths"].items():
        for operation in methods.values():
            if not is_wanted or path in OPEN_PATHS:
                del operation["responses"]["401"]


async def _refuse(_: Request, error: Exception) -> Response:
    """The 422 response to an invalid body. It does not quote the body, which may hold what JSON cannot."""
    assert isinstance(error, RequestValidationError)
    problems = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()[:5]]
    text = "; ".join(problems)[:1000].encode("ascii", "backslashreplace").decode()
    return Response(orjson.dumps({"detail": text}), 422, media_type=JSON)


def _check_length(n: int, limit: int) -> None:
    if n > limit:
        raise HTTPException(413, f"{n} records or samples, or more; a request may hold {limit}")
