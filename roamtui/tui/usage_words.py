"""What a conversation took, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roamtui.document.tokens import format_tokens

if TYPE_CHECKING:
    from roamtui.conversation.transcript import Usage


def describe_usage(usage: Usage) -> str:
    """Return tokens and cost in a few words."""
    about = "" if usage.source == "provider" else "~"
    words = [f"{about}{format_tokens(usage.input_tokens)} tok in", f"{about}{format_tokens(usage.output_tokens)} out"]
    if usage.cached_tokens:
        words.insert(1, f"{format_tokens(usage.cached_tokens)} cached")
    if usage.cost_usd:
        words.append(f"${usage.cost_usd:.4f}" if usage.cost_usd < 0.1 else f"${usage.cost_usd:.2f}")
    return " · ".join(words)
