"""The table of input dialects: how a row of each is recognised, and where it has the fields of a record.

`relfast.formats.steps` compiles the table into the steps that Python and the kernel follow, and
``docs/formats.md`` prints it. Its paths are those of `relfast.formats.paths`. A text may hold several paths,
separated by blanks: the first that leads to a value counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from relfast_kernels.text.steps import MESSAGE, TEXT, TEXTS, VALUE

ERROR, STATUS, EVENT_ID = "error", "status_code", "event_id"
"""Members by which a row of any form says that its request failed, or that it is no response."""

REASONS_OF_MESSAGES: Final = ("finish_reason", "stop_reason")
REASONS: Final = (
    *REASONS_OF_MESSAGES,
    "generation.finish_reason",
    "finishReason",
    "stopReason",
    "done_reason",
    "incomplete_details.reason",
)
"""Paths to why the text of a row ended, in rows of any dialect; the first ones are those of messages too."""


EVENT: Final = frozenset({EVENT_ID, "run_id", "sample_id", "type", "data"})
"""Members of an event in a log of openai/evals; only those of type ``sampling`` are responses, others
repeat them."""


class Said(NamedTuple):
    """Where a row has its samples, and how the text of each is read.

    Attributes
    ----------
    items
        Paths to the samples; the first that leads to any counts.
    says
        Ways to read the text of a sample, each a kind (`TEXT`, `MESSAGE`, …) and a path from the sample; the
        first that finds something counts.
    last
        Only the last of several samples is the response.
    instead
        Path from the row to a copy of the text, which is preferred to that in the message.
    error, reason
        Paths to the sample's error and to its finish reason, from the sample or else from the row.
    aborted
        Finish reasons with which an empty text is no response but a failure, besides those that
        `relfast.records.ending` knows.
    ended
        If a message has no content, the failure's message names the finish reason.
    nothing
        Message of the failure if none of ``says`` finds anything, in place of "the message has no content";
        ``{}`` stands for the finish reason.
    no_object
        Message of the failure if a sample is no object.
    """

    items: str
    says: tuple[tuple[int, str], ...]
    last: bool = False
    instead: str = ""
    error: str = ""
    reason: str = ""
    aborted: str = ""
    ended: bool = False
    nothing: str = ""
    no_object: str = ""


class Form(NamedTuple):
    """One form in which rows of a dialect are written.

    Attributes
    ----------
    tells
        Alternative sets of conditions; a row that meets one of them is recognised as this form. A condition
        is a path that must lead to a value, with a colon and one of `relfast.formats.steps.REQUIREMENTS` if
        need be; every item of a list that a ``.*.`` in it goes through must have what comes after.
    when
        Further conditions of the form, which apply also if ``--input-format`` names the dialect.
    needs
        Of the last form: what ``--input-format`` asks of a row that is none of the others.
    id, number
        Paths to an id of the record, and to a number that only the tool gave: with the latter, gold of
        ``--data`` is looked up by the question first. ``#`` and a path to the prompt stands for a digest of
        prompt and gold, if both are there. Without ``number``, gold is not looked up by the question.
    task, answer, question
        Paths to these; ``=NAME`` as task stands for the task of that name.
    members
        Names of the members of the row that together make up the gold answer.
    response
        Path to the response or responses, as in native records; alternatively ``said``.
    none
        Why a row may have no response. Each item is a path to an error; or a path to some value and a
        message, in which ``{}`` stands for the value, with the kind of the failure if it has one.
    plain
        Id, task, answer and question are taken as they are; it is not checked that they are usable.
    source
        Path to a name that is the task's, if it is the name of any.
    suffix
        Path to the name of a variant of the prompt, which is appended to the id.
    row
        Path to the object from which tasks read further fields.
    errors, status
        Paths to errors of the request and to its HTTP status, besides the row's own.
    filter
        Member that names the filter by which the row was made.
    attached
        Path to texts that the row stores apart and refers to where they belong.
    """

    tells: tuple[str, ...]
    when: str = ""
    needs: str = ""
    id: str = ""
    number: str | None = None
    task: str = ""
    answer: str = ""
    question: str = ""
    members: tuple[str, ...] = ()
    response: str = ""
    said: tuple[Said, ...] = ()
    none: tuple[tuple[str, ...], ...] = ()
    plain: bool = False
    source: str = ""
    suffix: str = ""
    row: str = ""
    errors: str = ""
    status: str = ""
    filter: str = ""
    attached: str = ""


class Dialect(NamedTuple):
    """A tool's format for its rows, in one or several forms, most specific first."""

    summary: str
    forms: tuple[Form, ...]

    @property
    def needs(self) -> tuple[str, ...]:
        """The fields without which a row cannot be read, even if ``--input-format`` names the dialect."""
        return tuple(need.partition(".")[0].partition(":")[0] for need in self.forms[-1].needs.split())


def _dialect(summary: str, *forms: Form) -> Dialect:
    return Dialect(summary, forms)


_NATIVE: Final = Form(
    ("response",), id="id", task="task", answer="answer", question="question", response="response", plain=True
)
_SEQBENCH: Final = ("completion", "structural_details", "instance_metadata", "complexity_parameters")
_REALIGN: Final = ("benchmark_solution", "benchmark_steps")
_BESIDE: Final = ("promptFeedback", "usageMetadata", "modelVersion")
"""Members of Gemini's responses besides the candidates; a blocked prompt has only these."""

# a choice, or the last message of an output
_CHOICE: Final = Said(
    "response.body?.choices.*",
    ((MESSAGE, "message"), (VALUE, "text")),
    reason="finish_reason",
    ended=True,
    no_object="the choice is no object",
)
_OUTPUT: Final = Said(
    "response.body?.output.*.type=message response.body?.output.[]",
    ((MESSAGE, ""),),
    last=True,
    reason="response.body?.incomplete_details.reason",
    ended=True,
)
_CANDIDATE: Final = Said(
    "response.candidates.*",
    ((TEXTS, "content.parts.*.!thought.text"),),
    reason="finishReason",
    nothing="the candidate has no text (finishReason {})",
    no_object="the candidate is no object",
)
# the text that verifiers' own rewards see (`trace.last_reply`): the root agent's reply, or the last sampled
_REPLY: Final = Said(
    "",
    ((TEXT, "root_reply"), (MESSAGE, "nodes.*.sampled!.message.role=assistant")),
    error="ok=false.errors.-1",
    nothing="no message of the trace was sampled",
)
_TRACE: Final = Form(
    ("task:object", "example_id completion"),
    when="nodes:list",
    id="task.data.id",
    number="task.key task.hash task.data.idx",  # idx counts the tasks of a run
    task="task.data.task task.data.record.task task.data.info.task task.data.name",
    answer="task.data.answer task.data.record.answer task.data.info.answer task.data.info",
    question="task.data.prompt",
    said=(_REPLY,),
    row="task.data",
)
# in an episode of several agents, the traces with rewards are the samples, and those that failed before they
# had any; without such traces, all
_EPISODE: Final = _TRACE._replace(
    when="traces:list",
    said=(_REPLY._replace(items="traces.*.rewards!|ok=false traces.*.{}"),),
    none=(("ok=false.errors.-1", ""), ("", "the episode holds no trace")),
)

DIALECTS: Final[Mapping[str, Dialect]] = {
    # https://platform.openai.com/docs/guides/batch; bodies of chat completions, completions and responses
    "openai-batch": _dialect(
        "OpenAI/vLLM batch output",
        Form(
            # if ``response`` is a text, the row is a native record that only has a ``custom_id`` too
            ("custom_id response:object", "custom_id response:null", "custom_id response:absent error"),
            id="custom_id",
            said=(_CHOICE, _OUTPUT),
            none=(("", "response.body.choices is missing"),),
            errors="error response.body?.error",
            status="response.status_code",
            plain=True,
        ),
    ),
    "lm-eval": _dialect(
        "lm-evaluation-harness samples",
        Form(
            ("doc resps", "doc filtered_resps"),
            id="doc.id doc_id",
            task="doc.task",
            answer="doc.answer",
            question="doc.question",
            # requests, and repeats of each, are samples
            said=(Said("resps!.resps.*?.*? filtered_resps!.filtered_resps.*?.*?", ((VALUE, ""),)),),
            none=(("", "resps holds no response"),),
            row="doc",
            # a document has one row per filter: `relfast.engine.files.inputs` chooses the filter
            filter="filter",
            plain=True,
        ),
    ),
    "verl": _dialect(
        "verl rollout dump",
        Form(
            ("output gts",),
            id="#input id uid",  # id and uid, if there are any, are those of a single rollout
            task="task",
            source="data_source",
            answer="gts",
            question="input",
            response="output",
            plain=True,
        ),
    ),
    "seqbench": _dialect(
        "SeqBench rows with responses",
        Form(
            tuple(f"instance_id {member}" for member in _SEQBENCH),
            id="instance_id",
            task="=SeqBench",
            members=_SEQBENCH,
            question="context",
            response="response",
            plain=True,
        ),
    ),
    "realign": _dialect(
        "ReAlign's result rows, and MATH's own rows with responses",
        Form(
            ("problem solution",),
            when="problem solution answer:absent task:absent",
            id="id unique_id",
            task="=ReAlign",
            members=("solution",),
            question="problem",
            response="response",
            plain=True,
        ),
        Form(
            tuple(f"llm_solution {member}" for member in _REALIGN),
            id="id",
            task="=ReAlign",
            members=_REALIGN,
            question="question",
            response="llm_solution",
            plain=True,
        ),
    ),
    # https://ai.google.dev/gemini-api/docs/batch-api
    "gemini-batch": _dialect(
        "Gemini batch output",
        Form(
            ("key",),
            when="response.candidates:list",
            id="key",
            said=(_CANDIDATE,),
            none=(("", "response.candidates is empty"),),
            plain=True,
        ),
        Form(
            tuple(f"key response.{beside} response.error:fine" for beside in _BESIDE),
            needs="response:object",
            id="key",
            none=(
                (
                    "response.promptFeedback.blockReason",
                    "the prompt was blocked (blockReason {})",
                    "ContentFilter",
                ),
                ("response.error", ""),
                ("", "response.candidates is missing"),
            ),
            plain=True,
        ),
    ),
    # https://docs.cloud.google.com/vertex-ai/generative-ai/docs/multimodal/batch-prediction-gemini
    "vertex-batch": _dialect(
        "Vertex AI batch output of Gemini",
        Form(
            ("request.contents response.candidates:list", "request.contents status"),
            needs="request.contents",
            id="id key",
            number="",
            task="task",
            answer="answer",
            question="question request.contents.-1.parts.*.text",
            said=(_CANDIDATE,),
            none=(
                (
                    "response.promptFeedback.blockReason",
                    "the prompt was blocked (blockReason {})",
                    "ContentFilter",
                ),
            ),
            errors="status response.error",
        ),
    ),
    # the fields of the input row, and the output of the Responses API
    "nemo-gym": _dialect(
        "NeMo-Gym's rollouts",
        Form(
            ("responses_create_params:object response:object",),
            needs="responses_create_params:object response:object",
            id="id",
            number="_ng_task_index",
            task="task",
            answer="answer verifier_metadata.answer expected_answer",
            question="question responses_create_params.input",
            said=(_OUTPUT,),
            none=(("", "response.output is missing"),),
            errors="response.error",
        ),
    ),
    "native": _dialect("relfast records", _NATIVE),
    # https://inspect.aisi.org.uk/eval-logs.html; epochs of a sample are samples of one prompt
    "inspect": _dialect(
        "Inspect logs, .eval and .json",
        Form(
            ("epoch target output:object",),
            number="id",
            task="metadata.task",
            answer="metadata.answer target",
            question="input",
            said=(
                Said(
                    "output.choices.0.{}",
                    ((MESSAGE, "message"),),
                    instead="output.completion",  # what Inspect's own scorers see
                    error="output.error",
                    reason="stop_reason",
                ),
            ),
            none=(
                ("output.error", ""),
                ("limit.type", "output.choices is empty (limit {})"),
                ("", "output.choices is empty"),
            ),
            errors="error invalidation",
            attached="attachments",
        ),
    ),
    # a line is one trace, one episode with its traces, or one rollout as verifiers before v1 wrote it
    "verifiers": _dialect(
        "traces of verifiers and prime-rl",
        _TRACE,
        _EPISODE,
        Form(
            ("example_id completion",),
            number="example_id",
            task="info.@.task task",
            answer="answer info.@.answer info",
            question="prompt",
            response="completion",
        ),
    ),
    # `LLM.generate` writes no file; this is its `RequestOutput` as JSON: one of `outputs` per completion
    "vllm": _dialect(
        "vLLM's RequestOutput as JSON",
        Form(
            ("outputs.*.text prompt", "outputs.*.text request_id"),
            needs="outputs.*.text",
            id="id",
            number="request_id",
            task="task",
            answer="answer",
            question="question messages prompt",
            said=(Said("outputs.*", ((VALUE, "text"),), reason="finish_reason", aborted="abort error"),),
            none=(("", "outputs is empty"),),
        ),
    ),
    # written with `log_completions=True`: neither gold nor ids; `log_extra` may add a column of gold
    "trl": _dialect(
        "TRL's completions logs",
        Form(
            ("completion prompt step", "completion prompt advantage"),
            needs="prompt completion",
            id="id #prompt",
            number="",
            task="task",
            answer="answer",
            question="prompt",
            response="completion",
        ),
    ),
    "lighteval": _dialect(
        "lighteval's details",
        Form(
            ("doc:object model_response:object",),
            needs="doc:object model_response:object",
            id="doc.specific.id",
            number="doc.id",
            task="doc.specific.task doc.task_name",
            answer="doc.specific.answer.~ doc.choices[gold_index]",
            question="doc.query",
            response="model_response.text",
            none=(("", "model_response.text is empty"),),
            row="doc",
        ),
    ),
    # completions and training trials of an instance are samples; perturbed instances are separate prompts
    "helm": _dialect(
        "HELM's scenario_state.json",
        Form(
            ("instance_id predicted_text",),
            when="instance_id predicted_text",
            id="instance_id",
            suffix="perturbation.name",
            response="predicted_text",
        ),
        Form(
            ("instance:object request:object",),
            needs="instance:object",
            number="instance.id",
            suffix="instance.perturbation.name",
            answer="instance.references.*.tags=correct.output.text",
            question="instance.input.text",
            said=(
                Said("result.!success=false.completions.*.{}", ((VALUE, "text"),), reason="finish_reason"),
            ),
            none=(
                ("result.success=false.error", "{}"),
                ("result.success=false", "the request failed"),
                ("", "result.completions is empty"),
            ),
            row="instance",
        ),
    ),
    "opencompass": _dialect(
        "OpenCompass' predictions",
        Form(
            ("prediction origin_prompt",),
            needs="origin_prompt prediction",
            number="id idx",
            answer="gold",
            question="origin_prompt",
            response="prediction",
        ),
    ),
    # written by `EvaluationTracker`: without the document, and without ``resps`` where no filter changed them
    "lmms-eval": _dialect(
        "lmms-eval's samples",
        Form(
            ("doc_id doc_hash input filtered_resps",),
            needs="doc_id filtered_resps",
            number="doc_id",
            task="task",
            answer="answer target",
            question="input",
            said=(Said("resps!.resps.*?.*? filtered_resps.*?.*?", ((VALUE, ""),)),),
            none=(("", "filtered_resps holds no response"),),
            filter="filter",
        ),
    ),
    # predictions; ``index`` counts the repeats of a sample, too
    "evalscope": _dialect(
        "EvalScope's predictions",
        Form(
            ("index model_output:object messages",),
            needs="model_output:object",
            id="metadata.id id",
            number="",
            task="metadata.task task",
            answer="metadata.answer answer",
            question="messages",
            said=(
                Said(
                    "model_output.choices.*",
                    ((MESSAGE, "message"),),
                    error="model_output.error",
                    reason="stop_reason",
                ),
            ),
            none=(("model_output.error", ""), ("", "model_output.choices is empty")),
        ),
    ),
    # a file for each problem: several chats
    "matharena": _dialect(
        "MathArena's outputs",
        Form(
            ("gold_answer problem messages:list",),
            needs="problem messages:list",
            id="id",
            number="idx",
            task="task",
            answer="answer gold_answer",
            question="problem",
            said=(Said("messages.*", ((MESSAGE, ""),)),),
            none=(("", "messages is empty"),),
        ),
    ),
    # the fields of the input row, and what was generated; https://nvidia-nemo.github.io/Skills/pipelines/generation
    "nemo-skills": _dialect(
        "NeMo-Skills' outputs",
        Form(
            ("generation num_generated_tokens", "generation expected_answer"),
            needs="generation",
            id="id",
            number="",
            task="task",
            answer="answer expected_answer",
            question="question problem",
            response="generation",
        ),
    ),
    # evaluations (`dump_eval_results`); ``env_extras`` are the other columns of the data set's row
    "skyrl": _dialect(
        "SkyRL's evaluation dumps",
        Form(
            ("input_prompt output_response env_extras:object",),
            needs="output_response",
            id="env_extras.id #input_prompt",
            number="",
            task="env_extras.task",
            source="data_source",
            answer="env_extras.answer env_extras.reward_spec.ground_truth",
            question="env_extras.question input_prompt",
            response="output_response",
        ),
    ),
    # https://docs.anthropic.com/en/docs/build-with-claude/batch-processing
    "anthropic-batch": _dialect(
        "Anthropic batch results",
        Form(
            ("custom_id result:object",),
            needs="result:object",
            id="custom_id",
            said=(Said("result.type=succeeded.message.{}", ((MESSAGE, ""),), reason="stop_reason"),),
            none=(
                ("result.error", ""),
                ("result.type", "the request has {}"),
                ("", "the request has None"),
            ),
            plain=True,
        ),
    ),
}
"""The dialects, most specific first: the first that has a form for a row reads it. Since ``native`` takes
every row with a ``response``, such rows are of no later dialect."""
