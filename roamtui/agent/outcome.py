"""Judges the model's last reply: chooses a reminder to answer properly, or builds the outcome."""

import re
from collections.abc import Mapping

from msgspec import Struct

from roamtui.agent.answer_basis import measure_basis
from roamtui.agent.prompt import CALL_REMINDER, CITE_REMINDER, OWN_WORDS, TITLES
from roamtui.conversation.events import QuestionAnswered, StopReason
from roamtui.conversation.not_found import is_not_found
from roamtui.conversation.state import ConversationState
from roamtui.models.base import FinishReason
from roamtui.outline.coverage import measure_coverage
from roamtui.quotes.read import replace_verdict_marks
from roamtui.quotes.verdicts import QuoteChecker, list_unsourced
from roamtui.text import Bounds, estimate_tokens

_REMINDER_TOKENS = 100
_BLANK_START = re.compile(r"\A(?:[^\S\n]*\n)*(?: {1,3}(?!\s))?")
"""Blank lines and spaces before Markdown. They do not include an indent that makes the first line code."""
_NO_ANSWER = "The model returned no answer{}. Ask again, ask a narrower question, or choose another model."
_BROKEN_CALL = "The model writes tool calls that cannot be read, so it gave no answer. Choose another model."
_EARLY_ENDS: Mapping[FinishReason | None, str] = {
    "length": ", because the reply reached the model's limit",
    "filtered": ", because the provider's filter stopped the reply",
    "repeated": ", because the model repeated itself",
}
"""Why a reply ended early, as the end of a sentence."""
_CUT_NOTE = "(The answer is cut off here{}.)"
_UNCHECKED = "A defect in roamtui ({}) stopped this answer, and its quotes were not looked up."
_TOO_EXPENSIVE = (
    "The next step could exceed the spending limit. Raise max_cost_usd or start a new conversation."
)


class Reply(Struct, kw_only=True):
    """What a model has said to a question."""

    text: str = ""
    """Its last reply, or what has arrived of it."""
    rejected_text: str | None = None
    """The reply after which the model was reminded to answer properly, at most once in a question. This reply
    stays the answer if the next one proves nothing either."""
    rejected_reason: FinishReason | None = None
    reason: FinishReason | None = None
    """Why the last reply ended, from `ReplyFinished`."""
    broken_call: str = ""
    """A call in the reply that cannot be read, as the model wrote it."""
    step_count: int = 0

    def start(self) -> None:
        """Forget the last reply, except for one that was rejected."""
        self.text = ""
        self.reason = None
        self.broken_call = ""


def make_outcome(
    state: ConversationState, reply: Reply, stopped: StopReason, error: str = ""
) -> QuestionAnswered:
    """Build the outcome of the current question. A non-empty `error` says why its steps failed."""
    is_complete = stopped in (StopReason.ANSWERED, StopReason.STEP_LIMIT)
    checker = QuoteChecker(state)
    text = reply.text or reply.rejected_text or ""
    reason = reply.reason
    if is_complete:
        text, reason = _choose_reply(checker, state, reply)
    answer = replace_verdict_marks(text)
    own_length = len(answer)
    citations = checker.list_citations(answer)
    unsourced: tuple[Bounds, ...] = ()
    unnamed: tuple[Bounds, ...] = ()
    if is_complete:
        unsourced = list_unsourced(answer, citations, state.library)
        unnamed = checker.list_unnamed(answer)
    if stopped is StopReason.COST:
        error = _TOO_EXPENSIVE
    elif is_complete and not answer:
        if stopped is not StopReason.STEP_LIMIT:
            stopped = StopReason.ERROR
        error = _BROKEN_CALL if reply.broken_call else _NO_ANSWER.format(_EARLY_ENDS.get(reason, ""))
    elif is_complete:
        if why := _EARLY_ENDS.get(reason):
            answer = f"{answer}\n\n{_CUT_NOTE.format(why)}"
        if is_not_found(answer, has_source=bool(citations)):
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
        step_count=reply.step_count,
        error=error,
        basis=measure_basis(state, citations) if is_complete else None,
    )


def make_unchecked_outcome(reply: Reply, defect: Exception) -> QuestionAnswered:
    """Build the outcome of a question whose reply cannot be judged."""
    return QuestionAnswered(
        answer=replace_verdict_marks(reply.text or reply.rejected_text or ""),
        stopped=StopReason.ERROR,
        step_count=reply.step_count,
        error=_UNCHECKED.format(type(defect).__name__),
    )


def _choose_reply(
    checker: QuoteChecker, state: ConversationState, reply: Reply
) -> tuple[str, FinishReason | None]:
    """Choose the reply to show, and say why it ended. A reply that only repeats the prompt counts as empty.

    If the model was reminded, its second reply is chosen only if it has a verified quote.
    """
    exchange = state.exchanges[-1]
    own = {*OWN_WORDS, exchange.question, f"Question: {exchange.question}"}
    texts: list[str] = []
    for text in (reply.rejected_text or "", reply.text):
        is_ours = text.strip() not in TITLES and all(line.strip() in own for line in text.splitlines())
        has_own_words = not is_ours and state.nonce not in text and any(map(str.isalnum, text))
        texts.append(_BLANK_START.sub("", text).rstrip() if has_own_words else "")
    rejected, last = texts
    is_better = not rejected or any(each.is_verified for each in checker.list_citations(last))
    return (last, reply.reason) if is_better else (rejected, reply.rejected_reason)


def choose_reminder(state: ConversationState, reply: Reply, room_tokens: int) -> str:
    """Return a reminder for the model after a reply without calls, or empty if the reply is acceptable.

    A question has at most one reminder, and only if it fits. A reply that the provider withheld, or that
    repeats itself, gets none.
    """
    text = reply.text
    reply_tokens = estimate_tokens(text) + estimate_tokens(reply.broken_call)
    if reply.rejected_text is not None or reply_tokens + _REMINDER_TOKENS > room_tokens:
        return ""
    if reply.broken_call:
        return CALL_REMINDER
    if reply.reason in ("filtered", "repeated"):
        return ""
    has_source = bool(QuoteChecker(state).list_citations(text))
    is_acceptable = has_source or not state.collect_read() or is_not_found(text, has_source=False)
    return "" if text.strip() and is_acceptable else CITE_REMINDER
