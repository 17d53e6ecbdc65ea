"""The first state of a conversation. Imports little: the first screen of the app waits for it."""

from __future__ import annotations

import os

from roamtui.conversation.state import ConversationState, KeepOptions
from roamtui.document.library import Library
from roamtui.document.node import NodeKind


def make_conversation_id() -> str:
    """Return a new id: 12 hex digits."""
    return os.urandom(6).hex()


def begin_conversation(library: Library, options: KeepOptions) -> ConversationState:
    """Return the state of a new conversation over `library`."""
    return ConversationState(
        id=make_conversation_id(),
        library=library,
        options=options,
        unfolded=frozenset(find_first_unfolded(library)),
    )


def find_first_unfolded(library: Library) -> tuple[str, ...]:
    """Return what is unfolded at first: the heading that holds everything, or folders that hold nothing but one."""
    title_id = library.title_id()
    if title_id is not None:
        return (title_id,)
    unfolded: list[str] = []
    below = library.children(library.root_id)
    while len(below) == 1 and library.node(below[0]).kind is NodeKind.FOLDER:
        unfolded.append(below[0])
        below = library.children(below[0])
    return tuple(unfolded)
