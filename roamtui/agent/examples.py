"""Example questions for a document: from its headings without a model, or from a model where a person asks for it."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from roamtui.conversation.transcript import Message, Role
from roamtui.document.node import NodeKind
from roamtui.document.plain import plain_line
from roamtui.models.base import Request, TextDelta
from roamtui.outline.labels import has_own_text, name_node
from roamtui.outline.render import render_outline
from roamtui.outline.structure import list_roots
from roamtui.search.terms import find_words
from roamtui.search.words import EMPTY_WORDS

if TYPE_CHECKING:
    from roamtui.document.library import Library
    from roamtui.models.base import Model

_COUNT = 3
_CANDIDATES_MAX = 400
_TITLE_LENGTH_MAX = 60
_OPENING_LENGTH = 400
_WORDS_MIN = 3
_MARKS = re.compile(r"[*_`]")
_QUESTION_LENGTH_MAX = 200
_LEAD = re.compile(r"^\s*(?:[-*+]|\d+[.)])?\s*")
_PROPOSE = (
    "You see the outline of a document. Write three short questions that a reader could ask and that the document most "
    "likely answers, from three different places in it: one question a line, nothing else."
)
_VERBS = frozenset(
    ["is", "are", "was", "were", "do", "does", "did", "can", "may", "must", "should", "will", "has", "have"]
)
_ASKING = frozenset(["how", "what", "why", "when", "where", "who", "which"])
_AFTER_HOW = frozenset(["to", "much", "many", "long", "often", "far"])


def propose_questions(library: Library) -> tuple[str, ...]:
    """Return up to three questions from places far apart: what headings ask, and what the text below them defines."""
    questions: list[str] = []
    tops = list_roots(library)
    per_top = max(1, _CANDIDATES_MAX // max(1, len(tops)))
    for top_id in tops[:_CANDIDATES_MAX]:
        asked = (_ask_about(library, section_id) for section_id in islice(library.walk(top_id), per_top))
        questions.append(next(filter(None, asked), ""))
    found = list(dict.fromkeys(filter(None, questions)))
    return tuple(found[:: max(1, len(found) // _COUNT)][:_COUNT])


def _ask_about(library: Library, section_id: str) -> str:
    """Return the question that a section's title asks or that its first sentence answers, empty where neither does."""
    node = library.node(section_id)
    title = name_node(node)
    is_telling = node.kind is NodeKind.SECTION and len(title) <= _TITLE_LENGTH_MAX and has_own_text(library, section_id)
    if not is_telling or EMPTY_WORDS.issuperset(find_words(title)):
        return ""
    if _is_question(title):
        return f"{title.removesuffix('?')}?"
    own = plain_line(_MARKS.sub("", library.own_text(section_id, length_max=_OPENING_LENGTH))).partition(title)[2]
    thing = re.escape(title.removesuffix("s"))
    defined = re.match(rf"\W*((?:An? |The )?{thing}s?) (is|are) (?:an?|the|any|all|one|what)\b", own, re.IGNORECASE)
    if defined is None:
        return ""
    article, _, rest = defined[1].rpartition(" ") if " " not in title else defined[1].partition(" ")
    subject = f"{article.lower()} {rest}".strip() if article.lower() in ("a", "an", "the") else defined[1]
    return f"What {defined[2]} {subject}?"


def _is_question(title: str) -> bool:
    """Return whether a title is a question, or becomes one by its mark: "What is late" does, "What we lend" not."""
    first, second = (*title.lower().split(" "), "", "")[:2]
    if title.endswith("?"):
        return len(title.split()) >= _WORDS_MIN
    is_asked = first in _VERBS or (first in _ASKING and second in _VERBS) or (first == "how" and second in _AFTER_HOW)
    return is_asked and second.isalpha()


async def ask_model_for_questions(model: Model, library: Library, *, budget_tokens: int) -> tuple[str, ...]:
    """Return up to three questions that a model proposes from the outline alone.

    Called only where a person asks for it: it costs a request.

    Raises:
        ModelError: The model could not answer.
    """
    outline = render_outline(library, budget_tokens=budget_tokens)
    messages = (
        Message(role=Role.SYSTEM, text=_PROPOSE),
        Message(role=Role.USER, text=f"Outline of the document:\n\n{outline}"),
    )
    text = ""
    async for event in model.stream(Request(messages=messages, allow_calls=False)):
        if isinstance(event, TextDelta):
            text += event.text
    lines = (_LEAD.sub("", plain_line(line)).strip('"“” ') for line in text.splitlines())
    return tuple(dict.fromkeys(line[:_QUESTION_LENGTH_MAX] for line in lines if line.endswith("?")))[:_COUNT]
