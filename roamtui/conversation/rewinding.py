"""Goes back to before a question: to ask it again, to ask another, or to go on from there in a new conversation."""

from __future__ import annotations

from dataclasses import replace

from roamtui.conversation.state import ConversationState

_ELSEWHERE = "(continued elsewhere)"


def rewind(state: ConversationState, number: int) -> ConversationState:
    """Return the state as it was before question `number` (1 for the first), with today's document and folding.

    While nothing was rebuilt since, the transcript before that question is still what was sent, to the letter.
    """
    exchange = state.transcript.exchanges[number - 1]
    transcript = replace(state.transcript, exchanges=state.transcript.exchanges[: number - 1])
    was_rebuilt = transcript.rebuilt_at >= number - 1
    if was_rebuilt:
        transcript = replace(transcript, rebuilt_at=number - 1, history_from=min(transcript.history_from, number - 1))
    return replace(
        state,
        transcript=transcript,
        open=tuple(section for section in exchange.open_before if section.section_id in state.library),
        batches=(),
        is_asking=False,
        needs_rebuild=state.needs_rebuild or was_rebuilt,
        title=state.title if number > 1 else "",
    )


def fork(state: ConversationState, number: int, conversation_id: str) -> ConversationState:
    """Return a new conversation that shares all before question `number` and goes its own way from there.

    Its texts are marked with a nonce of its own, so that its transcript is built anew.
    """
    return replace(rewind(state, number), id=conversation_id, needs_rebuild=True)


def part_ways(state: ConversationState, conversation_id: str) -> ConversationState:
    """Return all of a conversation as a new one, because another program went on with the one that it was.

    May come in the middle of a question, which goes on.
    """
    title = state.title if state.title.endswith(_ELSEWHERE) else f"{state.title} {_ELSEWHERE}".lstrip()
    return replace(state, id=conversation_id, title=title, needs_rebuild=True)
