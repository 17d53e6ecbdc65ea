"""Choose what is sent with a question: a whole document, a clear section, or the hits of a search.

It also completes a follow-up question, which names only a part of its subject.
"""

import re
from collections.abc import Sequence

from msgspec import Struct

from roamtui.document.library import Library
from roamtui.outline.delivered import PART_TOKENS, WHOLE_TOKENS_MAX, SpanSet
from roamtui.outline.expansion import estimate_delivery_tokens
from roamtui.retrieval import policy
from roamtui.search.base import Hit
from roamtui.search.lexicon import ASKING_WORDS, make_pattern
from roamtui.search.terms import TermMatcher, tokenise

_FOLLOW_UP = re.compile(rf"\W*(?:{make_pattern('follow-up')})\b", re.IGNORECASE)
"""The start of a follow-up question, such as "and" or "what about"."""


class ModelView(Struct, frozen=True, kw_only=True):
    """What a model has of a library, and what it can still get."""

    library: Library
    delivered: SpanSet = SpanSet()
    """Text that the model has already. It is not repeated."""
    named_words: SpanSet = SpanSet()
    """Words in earlier lines under "also found". Excerpts repeat them, or they would have gaps."""
    outlined_ids: frozenset[str] = frozenset()
    """Sections that the outline names."""
    part_tokens: int = PART_TOKENS
    room_tokens: int
    """Maximum tokens of what the model gets now."""


def is_sent_whole(tokens: int, room_tokens: int) -> bool:
    """Return whether all that a question is about is small enough to be sent whole."""
    return tokens <= min(WHOLE_TOKENS_MAX, room_tokens)


def list_whole_document(library: Library, room_tokens: int) -> tuple[str, ...]:
    """List the top sections of a document that is small enough to be sent whole; empty if it is not."""
    has_others = library.grafts or library.root.columns.is_listing
    if has_others or not is_sent_whole(sum(library.root.own_tokens), room_tokens):
        return ()
    hidden = library.root.hidden_ids
    return tuple(section_id for section_id in library.children(library.root_id) if section_id not in hidden)


def choose_clear_hit(view: ModelView, hits: Sequence[Hit], question: str) -> tuple[str, ...]:
    """Return the first hit's id if it is far ahead, short and has most of the question's terms."""
    if not hits:
        return ()
    library = view.library
    runner_up_share = hits[1].score / hits[0].score if len(hits) > 1 else 0.0
    section_id = hits[0].section_id
    tokens_max = min(policy.HITS_TOKENS_MAX, view.room_tokens)
    tokens = estimate_delivery_tokens(library, section_id, view.part_tokens)
    if runner_up_share > policy.RUNNER_UP_SHARE_MAX or tokens > tokens_max:
        return ()
    matcher = TermMatcher.for_question(question)
    covered_terms = matcher.find_terms(library.text_at(library.node(section_id).own_content_span))
    is_covered = len(covered_terms) >= policy.COVERED_SHARE_MIN * len(matcher.terms)
    return (section_id,) if is_covered else ()


def complete_follow_up(questions: Sequence[str]) -> str:
    """Return the last question. If it is a follow-up, the last full question completes it."""
    full = ""
    question = ""
    for question in questions:
        if not is_follow_up(question):
            full = question
    return question if full == question else complete_question(full, question)


def complete_question(before: str, question: str) -> str:
    """Return a question with the one before it.

    A follow-up replaces what it names otherwise: "and for a car?" after "what is the fee for a van?" is "what
    is the fee for a car?", because "for" stands in both.
    """
    own = _FOLLOW_UP.sub("", question, count=1).strip()
    if own != question and is_follow_up(question) and (words := tokenise(own)):
        kept, *replaced = re.split(rf"\b{re.escape(words[0])}\b", before, flags=re.IGNORECASE)
        if len(replaced) == 1 and words[0] not in ASKING_WORDS:
            return f"{kept}{own}"
    return f"{before} {question}".strip()


def is_follow_up(question: str) -> bool:
    """Return whether a question has no content word, or starts like a follow-up and is short."""
    matcher = TermMatcher.for_question(question)
    is_short = len(matcher.terms) <= policy.FOLLOW_UP_TERMS_MAX
    return matcher.is_vague or (is_short and _FOLLOW_UP.match(question) is not None)


def list_readings(question: str, before: str) -> list[tuple[str, ...]]:
    """List how to read a question: by itself, and completed by the one before it, if there is one.

    A reading is one query, or several that a passage has to fit. What only follows a question has to fit by
    itself too. A question such as "how much is it?" or "and what else?" has no reading by itself.
    """
    completed = complete_question(before, question)
    words = tokenise(_FOLLOW_UP.sub("", question, count=1))
    has_no_verb = len(words) < policy.ASKING_WORDS_MIN and not ASKING_WORDS.isdisjoint(words[:1])
    if not before or has_no_verb or TermMatcher.for_question(question).is_vague:
        return [(completed,)]
    return [(question,), (question, completed) if completed.endswith(question) else (completed,)]
