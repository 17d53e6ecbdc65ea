"""The public names of `import roamtui`, which the command line uses too. docs/python.md lists them."""

from roamtui.agent.agent import Agent
from roamtui.bootstrap import open_library
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import (
    AnswerStreamed,
    ConversationEvent,
    QuestionAnswered,
    SectionsOpened,
    SectionsSearched,
)
from roamtui.document.library import Library
from roamtui.errors import RoamtuiError
from roamtui.models.registry import make_model
from roamtui.outline.render import render_outline
from roamtui.quotes.claims import Claim, read_claims
from roamtui.quotes.current_text import Finding, recheck
from roamtui.quotes.find import find_quote
from roamtui.search.base import Hit, RetrievalOptions
from roamtui.search.searcher import make_searcher

__all__ = [
    "Agent",
    "AnswerStreamed",
    "Claim",
    "Conversation",
    "ConversationEvent",
    "Finding",
    "Hit",
    "Library",
    "QuestionAnswered",
    "RetrievalOptions",
    "RoamtuiError",
    "SectionsOpened",
    "SectionsSearched",
    "find_quote",
    "make_model",
    "make_searcher",
    "open_library",
    "read_claims",
    "recheck",
    "render_outline",
]
