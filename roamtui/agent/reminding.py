"""When a reply without calls is no answer yet: it is empty, or it proves nothing."""

from __future__ import annotations

import re

from roamtui.agent.answer import is_not_found
from roamtui.agent.citations import check_citations
from roamtui.agent.progress import Progress
from roamtui.conversation.state import ConversationState
from roamtui.document.plain import shorten

_CITE_REMINDER = (
    "No quote was found in: {sentences} Answer again, and copy the words of the text that carry each claim, with the "
    'id of their section in the same sentence, such as: Late returns cost "2 euros a day" [a8a96034].'
)
_SENTENCES_MAX = 3
_SENTENCE_LENGTH = 120
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
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
    if not (state.delivered or state.excerpts) or is_not_found(text) or check_citations(text, state):
        return ""
    return _CITE_REMINDER.format(sentences=_name_sentences(text))


def _name_sentences(answer: str) -> str:
    """Return the first sentences of an answer, each between quotation marks."""
    sentences = [one.strip() for one in _SENTENCE_END.split(answer) if len(one.split()) > 2]
    named = [f"“{shorten(sentence, _SENTENCE_LENGTH)}”" for sentence in sentences[:_SENTENCES_MAX]]
    return f"{', '.join(named) or 'your answer'}."
