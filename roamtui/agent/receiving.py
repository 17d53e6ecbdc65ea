"""Receive one reply of a model: publish what arrives, save it piece by piece, and collect its calls."""

import asyncio
from contextlib import aclosing
from typing import assert_never

from msgspec.structs import replace

from roamtui.agent.outcome import QuestionRun
from roamtui.agent.prompt import CALL_NOT_RUN
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import (
    AnswerStreamed,
    DraftRecorded,
    RetryScheduled,
    ThinkingStreamed,
    ThoughtsRecorded,
    ToolUse,
)
from roamtui.models.base import (
    ARGUMENTS_LENGTH_MAX,
    CallUnreadable,
    Model,
    ModelRequest,
    ReplyFinished,
    RetryPending,
    TextDelta,
    ThinkingDelta,
    ToolCallReceived,
    UsageReported,
)
from roamtui.models.repetition import cut_repetition
from roamtui.models.reply import make_unique_id, read_reply
from roamtui.models.usage import UsageMeter
from roamtui.text import estimate_tokens

_BROKEN_CALL_LENGTH_MAX = 2_000
"""Maximum number of characters of a call that could not be read, which is sent back."""
_THOUGHTS_LENGTH = 2_000
"""Maximum number of characters of thoughts to keep, the last ones."""
_SAVE_SECONDS = 1.0
"""Text that has been shown for this long is on disk, even if the program is killed."""


async def _save_drafts(conversation: Conversation, run: QuestionRun) -> None:
    """Save what arrives once a second."""
    while True:
        await asyncio.sleep(_SAVE_SECONDS)
        start = len(conversation.state.exchanges[-1].answer)
        if len(run.step.text) > start:
            await conversation.apply((DraftRecorded(start=start, text=run.step.text[start:]),))


async def receive_reply(  # noqa: PLR0912 - one case an event
    conversation: Conversation, model: Model, request: ModelRequest, run: QuestionRun, meter: UsageMeter
) -> None:
    """Send a request, fill `run.step` from the stream, and publish what arrives.

    Raises:
        ModelError: The model could not answer.
    """
    thoughts = ""
    run.broken_call = ""
    call_ids = {call.id for message in request.messages for call in message.tool_calls}
    saving = asyncio.create_task(_save_drafts(conversation, run))
    try:
        async with aclosing(read_reply(model, request, meter)) as events:
            async for event in events:
                match event:
                    case TextDelta(text):
                        run.step = replace(run.step, text=run.step.text + text)
                        conversation.publish(AnswerStreamed(text=text))
                    case ThinkingDelta(text, replaces_text):
                        thoughts += text
                        if replaces_text:
                            run.step = replace(run.step, text="")
                            await conversation.apply((DraftRecorded(start=0, text=""),))
                        conversation.publish(ThinkingStreamed(text=text, replaces_answer=replaces_text))
                    case CallUnreadable(text):
                        run.broken_call = text[:_BROKEN_CALL_LENGTH_MAX]
                    case ToolCallReceived(call):
                        call_id = make_unique_id(call.id, call_ids)
                        call_ids.add(call_id)
                        # some servers leave a prefix or suffix, as in functions.expand_sections
                        name = next((name for name in run.tools if name in call.name), call.name)
                        arguments = call.arguments[:ARGUMENTS_LENGTH_MAX]
                        call = replace(call, id=call_id, name=name, arguments=arguments)
                        use = ToolUse(call=call, result=CALL_NOT_RUN)
                        run.step = replace(run.step, uses=(*run.step.uses, use))
                    case UsageReported():
                        pass  # `meter` counts it
                    case RetryPending(reason, wait_seconds):
                        conversation.apply_unsaved(RetryScheduled(reason=reason, wait_seconds=wait_seconds))
                    case ReplyFinished(reason):
                        run.reason = reason
                    case _:
                        assert_never(event)
    finally:
        saving.cancel()
        await asyncio.wait((saving,))
    if run.reason == "repeated":
        run.step = replace(run.step, text=cut_repetition(run.step.text))
    if thoughts.strip():
        kept = thoughts.strip()[-_THOUGHTS_LENGTH:]
        conversation.fold((ThoughtsRecorded(text=kept, tokens=estimate_tokens(thoughts)),))
