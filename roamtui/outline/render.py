"""The outline that a model reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roamtui.outline.budget import OUTLINE_TOKENS_MAX
from roamtui.outline.compact import render_compact
from roamtui.outline.seed import render_seed

if TYPE_CHECKING:
    from roamtui.document.library import Library

_SEED_NODE_TOKENS = 25
"""A heading with its guiding comment costs at least this, so a large document is not tried in seed form."""


def render_outline(library: Library, *, budget_tokens: int = OUTLINE_TOKENS_MAX) -> str:
    """Return the outline of a library: in seed form, else compact, else as ranges.

    It depends on the library and the budget alone, never on what is open.

    Args:
        library: What is outlined; nodes that are not loaded yet are lines too.
        budget_tokens: Estimated tokens that the text may have.
    """
    if not len(library):
        return "(The document is empty.)\n"
    if len(library) * _SEED_NODE_TOKENS <= budget_tokens:
        seed = render_seed(library, budget_tokens)
        if seed is not None:
            return seed
    return render_compact(library, budget_tokens)
