"""Judge the model's last text: a reminder to answer properly, or an outcome with its proof."""

from collections import Counter
from collections.abc import Mapping

from msgspec import Struct, field

from roamtui.agent.presentation import replies_with_passages
from roamtui.agent.prompt import CALL_REMINDER, CITE_REMINDER
from roamtui.agent.reading import measure_reading
from roamtui.agent.tools import Tool
from roamtui.conversation.events import Citation, QuestionAnswered, Step, StopReason
from roamtui.conversation.not_found import is_not_found
from roamtui.conversation.state import ConversationState
from roamtui.models.base import FinishReason
from roamtui.outline.coverage import measure_coverage
from roamtui.plain import strip_blank_lines
from roamtui.quotes.read import replace_signs
from roamtui.quotes.verdicts import QuoteChecker
from roamtui.text import estimate_tokens

_REMINDER_TOKENS = 100
NO_STEP = Step(text="", uses=())
_NO_ANSWER = "The model returned no answer. Ask again, ask a narrower question, or choose another model."
_BROKEN_CALL = "The model writes tool calls that cannot be read, so it gave no answer. Choose another model."
_REPEATED_NOTE = "(The answer was stopped here, because the model repeated itself.)"
_CUT_NOTE = (
    "(The answer is cut off here, because it reached the model's limit or the provider withheld the rest.)"
)
"""Part of the answer, so the model reads it with the next question."""
_TOO_EXPENSIVE = (
    "The next step could exceed the spending limit. Raise max_cost_usd or start a new conversation."
)


class QuestionRun(Struct):
    """Progress of one question."""

    tools: Mapping[str, Tool]
    """Tools that the model may call. They differ from those before if the library has grown."""
    hits_text: str = ""
    """What search found for the question."""
    step: Step = NO_STEP
    """The reply that is not recorded yet. Until a call has run, its result is `CALL_NOT_RUN`."""
    citations: tuple[Citation, ...] = ()
    """Those of an answer without a model need no check, because its passages come from the document."""
    reason: FinishReason | None = None
    """Why the reply ended, from `ReplyFinished`."""
    room_tokens: int = 0
    """Tokens that the last request and its answer leave of the context window."""
    stopped: StopReason = StopReason.CANCELLED
    """Why it ended. The person has cancelled it unless the loop says something else."""
    error: str = ""
    steps: int = 0
    broken_call: str = ""
    """A call in this reply that cannot be read, as the model wrote it."""
    call_counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How often each tool was called with the same arguments."""
    may_call: bool = True
    """Whether the model may call more tools. It may not once it repeats its calls."""
    draft: str | None = None
    """The reply after which the model was reminded to answer properly, which happens at most once. It becomes
    the answer if the model writes nothing more."""


def build_outcome(state: ConversationState, run: QuestionRun) -> QuestionAnswered:
    """Build the outcome of the current question."""
    stopped = run.stopped
    error = run.error
    is_complete = stopped in (StopReason.ANSWERED, StopReason.STEP_LIMIT)
    answer = run.step.text if run.step.text.strip() else run.draft or ""
    answer = replace_signs(strip_blank_lines(answer) if is_complete else answer)
    citations = run.citations or QuoteChecker(state).cite(answer)
    if stopped is StopReason.COST:
        error = _TOO_EXPENSIVE
    elif is_complete and not answer:
        if stopped is not StopReason.STEP_LIMIT:
            stopped = StopReason.ERROR
        error = _BROKEN_CALL if run.broken_call else _NO_ANSWER
    elif is_complete:
        if run.reason in ("length", "filtered"):
            answer = f"{answer}\n\n{_CUT_NOTE}"
        elif run.reason == "repeated":
            answer = f"{answer}\n\n{_REPEATED_NOTE}"
        if is_not_found(answer):
            stopped = StopReason.NOT_FOUND
            exchange = state.exchanges[-1]
            if not replies_with_passages(exchange):  # else its first sentence says so
                gaps = measure_coverage(state.library, exchange.within).gaps
                answer = f"{answer}\n\n{gaps}".rstrip()
    return QuestionAnswered(
        answer=answer,
        stopped=stopped,
        citations=citations,
        steps=run.steps,
        error=error,
        reading=measure_reading(state, citations) if is_complete else None,
    )


def choose_reminder(state: ConversationState, run: QuestionRun) -> str:
    """Return a reminder for the model after a reply without calls, or empty if the reply is acceptable.

    A reply before the model has read anything needs none, nor does one that was refused or that repeats
    itself. There is only one for a question, if there is room for it.
    """
    draft_tokens = estimate_tokens(run.step.text) + estimate_tokens(run.broken_call)
    if run.draft is not None or draft_tokens + _REMINDER_TOKENS > run.room_tokens:
        return ""
    if run.broken_call:
        return CALL_REMINDER
    if run.reason in ("filtered", "repeated"):
        return ""
    reply = run.step.text
    is_acceptable = not state.collect_read() or is_not_found(reply) or QuoteChecker(state).cite(reply)
    return "" if reply.strip() and is_acceptable else CITE_REMINDER
