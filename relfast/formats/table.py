"""The dialects, as a table: how a row of each is known, and where it has what a record needs.

`relfast.formats.reading` interprets it, `relfast.engine.text_table` writes it down for the kernel that
projects lines, ``docs/formats.md`` prints it. Paths are those of `relfast.formats.paths`; of several, parted
by blanks, the first that leads to something counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

OBJECT, LIST, NULL, ABSENT, FINE = "object", "list", "null", "absent", "fine"
"""What a condition can ask of the value at its path, after a colon; the last: that it is no error."""

TEXT, TEXTS, MESSAGE, VALUE = "text", "texts", "message", "value"
"""How a sample's words are read: a text; texts that make one; a chat message; whatever stands there."""


class Said(NamedTuple):
    """Where the samples of a row are, and the words of each.

    Attributes
    ----------
    items
        Paths to the samples: the first that leads to any counts.
    says
        How a sample says something, and the path from it: the first that is there counts.
    last
        Of several samples the last is meant.
    instead
        Path from the row to the text itself, where it stands once more than in a message.
    error, reason
        Paths from a sample, or else from the row, to why it failed, and to why it ended.
    filtered, aborted
        Reasons for which an empty text is none: the content filter left it, or what the row tells.
    ended
        The row tells for what reason a message without content ended.
    nothing
        Words where none of ``says`` is there, other than that the message has no content: ``{}`` is the
        reason.
    no_object
        Words for a sample that is no object.
    """

    items: str
    says: tuple[tuple[str, str], ...]
    last: bool = False
    instead: str = ""
    error: str = ""
    reason: str = ""
    filtered: str = ""
    aborted: str = ""
    ended: bool = False
    nothing: str = ""
    no_object: str = ""


class Form(NamedTuple):
    """A form in which rows of a dialect are written.

    Attributes
    ----------
    tells
        What a row of the form is known by: one of several sets of conditions. A condition is a path to
        something that is there, with a colon and what it has to be.
    when
        Conditions that it must meet besides, also where ``--input-format`` names the dialect.
    needs
        Conditions without which it cannot be read.
    id, number
        Paths to an id of ours, and to the tool's own number, by which gold of ``--data`` is looked up only
        after the question. A path to a prompt after ``#`` stands for a digest of prompt and gold, where both
        are there. Without ``number``, gold is not looked up by the question.
    task, answer, question
        Paths to these; an ``=`` before a task's name stands for that task.
    members
        The gold is an object of those of these members that the row has.
    response
        Path to the responses as native records have them; or else ``said``.
    none
        What a row says that has no response: a path to an error, or a path to something and words with ``{}``
        for it, with the kind of the error where it has one.
    plain
        Id, task, answer and question are what stands there: it is not checked whether it can be that.
    source
        Path to what names the task if it is one's name.
    suffix
        Path to what makes another prompt of an instance: it is put behind the id.
    row
        Path to what tasks read further fields of.
    errors, status
        Paths to errors of the request, and to its HTTP status, besides the row's own.
    filter
        Member that names the filter that the row is about.
    attached
        Path to texts that stand there instead of where they belong.
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
    """A way runs are written down, in one form or several, most particular first."""

    summary: str
    forms: tuple[Form, ...]

    @property
    def needs(self) -> tuple[str, ...]:
        """The fields that a row cannot do without."""
        return tuple(need.partition(".")[0].partition(":")[0] for need in self.forms[-1].needs.split())


def _dialect(summary: str, *forms: Form) -> Dialect:
    return Dialect(summary, forms)


_NATIVE: Final = Form(
    ("response",), id="id", task="task", answer="answer", question="question", response="response", plain=True
)
_SEQBENCH: Final = ("completion", "structural_details", "instance_metadata", "complexity_parameters")
_REALIGN: Final = ("benchmark_solution", "benchmark_steps")
_BESIDE: Final = ("promptFeedback", "usageMetadata", "modelVersion")
"""What Gemini's response has beside its candidates, or without any: a prompt that was blocked."""

# a choice, or the last message of an output; an empty text is a response unless the content filter left it
_CHOICE: Final = Said(
    "response.body?.choices.*",
    ((MESSAGE, "message"), (VALUE, "text")),
    reason="finish_reason",
    filtered="content_filter",
    ended=True,
    no_object="the choice is no object",
)
_OUTPUT: Final = Said(
    "response.body?.output.*.type=message response.body?.output.[]",
    ((MESSAGE, ""),),
    last=True,
    reason="response.body?.incomplete_details.reason",
    filtered="content_filter",
    ended=True,
)
# what verifiers' own rewards see by `trace.last_reply`: the root agent's reply, or what was sampled last
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
    number="task.key task.hash task.data.idx",  # the last counts the tasks of a run
    task="task.data.task task.data.record.task task.data.info.task task.data.name",
    answer="task.data.answer task.data.record.answer task.data.info.answer task.data.info",
    question="task.data.prompt",
    said=(_REPLY,),
    row="task.data",
)
# of an episode of several agents the traces with rewards count, if there are any
_EPISODE: Final = _TRACE._replace(
    when="traces:list",
    said=(_REPLY._replace(items="traces.*.rewards! traces.*.{}"),),
    none=(("ok=false.errors.-1", ""), ("", "the episode holds no trace")),
)

DIALECTS: Final[Mapping[str, Dialect]] = {
    # https://platform.openai.com/docs/guides/batch; bodies of chat completions, completions and responses
    "openai-batch": _dialect(
        "OpenAI/vLLM batch output",
        Form(
            # a text as response is a record's, which was asked for by a custom_id
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
            # rows of one document, once per filter: `relfast.engine.io.filters` chooses
            filter="filter",
            plain=True,
        ),
    ),
    "verl": _dialect(
        "verl rollout dump",
        Form(
            ("output gts",),
            id="#input id uid",  # the latter are those of a single rollout, if there are any
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
        "ReAlign result rows",
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
            said=(
                Said(
                    "response.candidates.*",
                    ((TEXTS, "content.parts.*.!thought.text"),),
                    reason="finishReason",
                    nothing="the candidate has no text (finishReason {})",
                    no_object="the candidate is no object",
                ),
            ),
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
                    filtered="content_filter",
                ),
            ),
            none=(
                ("output.error", ""),
                ("limit.type", "output.choices is empty (limit {})"),
                ("", "output.choices is empty"),
            ),
            errors="error",
            attached="attachments",
        ),
    ),
    # a line is a trace by itself, an episode with its traces, or a rollout as verifiers wrote them before v1
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
    # `LLM.generate` writes no file: its `RequestOutput` as JSON, one of `outputs` a completion
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
    # `log_completions=True`: neither gold nor ids; with `log_extra` a column of gold
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
    # completions and training trials of an instance are samples, perturbed instances prompts of their own
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
            said=(Said("result.!success=false.completions.*.{}", ((VALUE, "text"),)),),
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
    # https://docs.anthropic.com/en/docs/build-with-claude/batch-processing
    "anthropic-batch": _dialect(
        "Anthropic batch results",
        Form(
            ("custom_id result:object",),
            needs="result:object",
            id="custom_id",
            said=(Said("result.type=succeeded.message.{}", ((MESSAGE, ""),)),),
            none=(
                ("result.error", ""),
                ("result.type", "the request has {}"),
                ("", "the request has None"),
            ),
            plain=True,
        ),
    ),
}
"""Most particular first: the first of which a form fits reads the row. A row with a ``response`` is none of
those after ``native``."""
