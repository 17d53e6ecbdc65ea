"""What stays open between questions: the rules, pure and alone."""

from __future__ import annotations

from roamtui.conversation.commands import Origin
from roamtui.conversation.open_section import OpenSection
from roamtui.conversation.state import ConversationState, KeepOpen

BUDGET_TOKENS_MAX = 32_000
_WINDOW_SHARE = 0.4
_CLOSING_STARTS = 0.6
"""Share of the budget up to which nothing is closed: open text costs little where a cache is warm, a rebuild does."""
_CLOSING_ENDS = 0.35
"""Share of the budget that is left open once closing has begun."""


def open_budget(window_tokens: int | None) -> int:
    """Return how many tokens of section text may stay open, for a model's context window (None: unknown)."""
    if window_tokens is None:
        return BUDGET_TOKENS_MAX
    return min(BUDGET_TOKENS_MAX, int(window_tokens * _WINDOW_SHARE))


def choose_closing(state: ConversationState) -> tuple[str, ...]:
    """Return the sections to close after a question, least useful first.

    Pinned ones are among them only where all others were not enough to come under the budget itself.
    """
    budget = state.options.budget_tokens
    left = state.open_tokens
    if state.options.mode is not KeepOpen.KEEP or left <= _CLOSING_STARTS * budget:
        return ()
    closing: list[str] = []
    for section in sorted(state.open, key=_rank):
        target = budget if section.is_pinned else _CLOSING_ENDS * budget
        if left <= target:
            break
        if section.tokens:
            closing.append(section.section_id)
            left -= section.tokens
    return tuple(closing)


def _rank(section: OpenSection) -> tuple[bool, bool, int, int]:
    """Return what decides the order of closing: lower goes first.

    What was cited within the last two questions goes after the rest, since it was cited last.
    """
    return (section.is_pinned, section.opened_by is Origin.PERSON, section.last_cited, section.last_used)
