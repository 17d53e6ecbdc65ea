"""Example questions for a document: from its headings without a model, or from a model where a person asks for it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from roamtui.conversation.transcript import Message, Role
from roamtui.document.node import NodeKind
from roamtui.document.plain import plain_line
from roamtui.models.base import Request, TextDelta
from roamtui.outline.labels import has_own_text, name_node
from roamtui.outline.preview import is_generic
from roamtui.outline.render import render_outline
from roamtui.outline.structure import list_roots
from roamtui.search.languages import EMPTY_WORDS
from roamtui.search.terms import find_words

if TYPE_CHECKING:
    from roamtui.document.library import Library
    from roamtui.models.base import Model

_COUNT = 3
_CANDIDATES_MAX = 400
_TITLE_LENGTH_MAX = 60
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
    """Return up to three questions that the document's own headings answer, from places far apart."""
    titles: list[str] = []
    tops = list_roots(library)
    per_top = max(1, _CANDIDATES_MAX // max(1, len(tops)))
    for top_id in tops[:_CANDIDATES_MAX]:
        found = _best_title(library, top_id, per_top)
        if found:
            titles.append(found)
    if not titles:
        return ()
    step = max(1, len(titles) // _COUNT)
    return tuple(dict.fromkeys(_ask_about(title) for title in titles[::step][:_COUNT]))


def _best_title(library: Library, top_id: str, count_max: int) -> str:
    """Return the first telling title of a leaf below a top, or the top's own; one of small words finds little."""
    of_small_words = ""
    for number, section_id in enumerate(library.walk(top_id)):
        if number >= count_max:
            break
        node = library.node(section_id)
        is_telling = (
            node.kind is NodeKind.SECTION and not is_generic(node.title) and len(node.title) <= _TITLE_LENGTH_MAX
        )
        if is_telling and not node.descendants and has_own_text(library, section_id):
            if not EMPTY_WORDS.issuperset(find_words(node.title)):
                return name_node(node)
            of_small_words = of_small_words or name_node(node)
    return of_small_words


def _ask_about(title: str) -> str:
    if title.endswith("?"):
        return title
    return f"{title}?" if _is_question(title) else f"What does it say about “{title}”?"


def _is_question(title: str) -> bool:
    """Return whether a question mark makes a question of it: of "What is late", not of "What we lend"."""
    first, second = (*title.lower().split(" "), "", "")[:2]
    return first in _VERBS or (first in _ASKING and second in _VERBS) or (first == "how" and second in _AFTER_HOW)


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
