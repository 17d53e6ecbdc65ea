"""When a reply without calls is no answer yet: it is empty, or it proves nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roamtui.agent.answer import is_not_found
from roamtui.agent.citations import check_citations

if TYPE_CHECKING:
    from roamtui.agent.progress import Progress
    from roamtui.conversation.state import ConversationState

CITE_REMINDER = (
    "Your reply proves nothing yet. Give the answer again, and for each claim quote the words that carry it, verbatim, "
    "in double quotation marks, with the id of the section in square brackets in the same sentence."
)
ANSWER_REMINDER = "Your reply was empty. Answer the question now, or open the sections that you need."


def find_reminder(state: ConversationState, progress: Progress) -> str:
    """Return what to tell the model after a reply without calls, an empty string where the reply stands.

    A model is reminded once a question. What it said without having read anything is left alone, and so is a reply that
    its provider refused.
    """
    if progress.has_reminded or progress.reply.reason == "filtered":
        return ""
    text = progress.reply.text.strip()
    if not text:
        return ANSWER_REMINDER
    if not state.delivered or is_not_found(text) or check_citations(text, state):
        return ""
    return CITE_REMINDER
