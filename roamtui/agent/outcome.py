"""Judge the model's last text: a reminder to answer properly, or an outcome with its proof."""

from collections import Counter
from collections.abc import Mapping

from msgspec import Struct, field

from roamtui.agent.first_request import QuestionContext
from roamtui.agent.prompt import CALL_REMINDER, CITE_REMINDER, OWN_WORDS, TITLES
from roamtui.agent.reading import measure_reading
from roamtui.agent.specs import list_specs
from roamtui.agent.tools import Tool
from roamtui.conversation.events import QuestionAnswered, Step, StopReason
from roamtui.conversation.not_found import is_not_found
from roamtui.conversation.state import ConversationState
from roamtui.models.base import FinishReason, TextDelta
from roamtui.models.reply_reader import ReplyReader
from roamtui.outline.coverage import measure_coverage
from roamtui.plain import strip_blank_lines
from roamtui.quotes.read import replace_signs
from roamtui.quotes.verdicts import QuoteChecker, list_unsourced
from roamtui.text import Bounds, estimate_tokens

_REMINDER_TOKENS = 100
_SAME_CALLS_MAX = 3
"""Number of the same calls in one question after which the model may call no more tools."""
NO_STEP = Step(text="", uses=())
_NO_ANSWER = "The model returned no answer. Ask again, ask a narrower question, or choose another model."
_BROKEN_CALL = "The model writes tool calls that cannot be read, so it gave no answer. Choose another model."
_REPEATED_NOTE = "(The answer was stopped here, because the model repeated itself.)"
_CUT_NOTE = (
    "(The answer is cut off here, because it reached the model's limit or the provider withheld the rest.)"
)
_UNCHECKED = "A defect in roamtui ({}) stopped this answer, and its quotes were not looked up."
_TOO_EXPENSIVE = (
    "The next step could exceed the spending limit. Raise max_cost_usd or start a new conversation."
)


class QuestionRun(Struct):
    """Progress of one question."""

    tools: Mapping[str, Tool]
    """Tools that the model may call. They differ from those before if the library has grown."""
    step: Step = NO_STEP
    """The reply that is not recorded yet. Until a call has run, its result is `CALL_NOT_RUN`."""
    reason: FinishReason | None = None
    """Why the reply ended, from `ReplyFinished`."""
    room_tokens: int = 0
    """Tokens that the last request and its answer leave of the context window."""
    step_count: int = 0
    broken_call: str = ""
    """A call in this reply that cannot be read, as the model wrote it."""
    call_counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How often each tool was called with the same arguments, since a call last changed what is open."""
    draft: str | None = None
    """The reply after which the model was reminded to answer properly, which happens at most once. It stays
    the answer if the next one proves nothing either."""
    brief: QuestionContext | None = None
    """The text of the one short request, if the model is small."""

    @property
    def may_call(self) -> bool:
        """Whether the model may call more tools. It may not once it repeats its calls."""
        return max(self.call_counts.values(), default=0) < _SAME_CALLS_MAX


def build_outcome(
    state: ConversationState, run: QuestionRun, stopped: StopReason, error: str = ""
) -> QuestionAnswered:
    """Build the outcome of the current question."""
    is_complete = stopped in (StopReason.ANSWERED, StopReason.STEP_LIMIT)
    answer = replace_signs(_choose_reply(state, run) if is_complete else run.step.text or run.draft or "")
    own_length = len(answer)
    checker = QuoteChecker(state)
    citations = checker.cite(answer)
    unsourced: tuple[Bounds, ...] = ()
    unnamed: tuple[Bounds, ...] = ()
    if is_complete and run.brief is None:  # a small model is not asked for ids
        unsourced = list_unsourced(answer, citations, state.library)
        unnamed = checker.list_unnamed(answer)
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
            gaps = measure_coverage(state.library, state.exchanges[-1].within).gaps
            answer = f"{answer}\n\n{gaps}".rstrip()
    return QuestionAnswered(
        answer=answer,
        own_length=None if len(answer) == own_length else own_length,
        unsourced=unsourced,
        unnamed=unnamed,
        stopped=stopped,
        citations=citations,
        steps=run.step_count,
        error=error,
        reading=measure_reading(state, citations) if is_complete else None,
    )


def build_unchecked_outcome(run: QuestionRun, defect: Exception) -> QuestionAnswered:
    """Build the outcome of a question whose reply cannot be judged."""
    return QuestionAnswered(
        answer=replace_signs(run.step.text or run.draft or ""),
        stopped=StopReason.ERROR,
        steps=run.step_count,
        error=_UNCHECKED.format(type(defect).__name__),
    )


def _choose_reply(state: ConversationState, run: QuestionRun) -> str:
    """Return the reply of the model that is the answer.

    It is the first one if the model was asked for quotes, and the second has none that is found.
    """
    draft, last = _read_replies(state, run)
    is_better = any(citation.is_verified for citation in QuoteChecker(state).cite(last)) if draft else True
    return last if is_better else draft


def _read_replies(state: ConversationState, run: QuestionRun) -> list[str]:
    """Return the reply before a reminder and the last one; empty for one that only repeats our words."""
    exchange = state.exchanges[-1]
    own = {*OWN_WORDS, exchange.question, f"Question: {exchange.question}"}
    texts: list[str] = []
    last = run.step.text if run.brief is None else _remove_calls(run.step.text)
    for reply in (run.draft or "", last):
        is_ours = reply.strip() not in TITLES and all(line.strip() in own for line in reply.splitlines())
        is_repeated = is_ours or state.nonce in reply
        texts.append("" if is_repeated or not any(map(str.isalnum, reply)) else strip_blank_lines(reply))
    return texts


def _remove_calls(reply: str) -> str:
    """Return a reply without the calls that a small model writes although it was offered no tools."""
    reader = ReplyReader([spec.name for spec in list_specs(has_search=True, has_room=False)])
    events = [*reader.feed(reply), *reader.finish(is_cut=False)]
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def has_no_source(outcome: QuestionAnswered) -> bool:
    """Return whether a small model found nothing, or its answer has no source in the text."""
    is_over = outcome.stopped in (StopReason.ANSWERED, StopReason.NOT_FOUND, StopReason.ERROR)
    return is_over and not any(citation.span for citation in outcome.citations)


def choose_reminder(state: ConversationState, run: QuestionRun) -> str:
    """Return a reminder for the model after a reply without calls, or empty if the reply is acceptable.

    There is only one for a question, if there is room for it. A reply that was refused or repeats itself
    needs none.
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
