"""The state of a conversation, computed from all its events."""

from collections.abc import Iterable

from roamtui.conversation.budget import OpenSectionOptions
from roamtui.conversation.events import RecordedEvent
from roamtui.conversation.state import ConversationState, fold_events
from roamtui.document.library import Library


def replay_events(
    library: Library, events: Iterable[RecordedEvent], options: OpenSectionOptions | None = None
) -> ConversationState:
    """Compute the state from all events."""
    return fold_events(ConversationState(id="", library=library, options=options or OpenSectionOptions()), *events)
