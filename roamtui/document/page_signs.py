"""Signs that a text may be a list of links or many pages in one, looked for before the code that can tell is loaded."""

from __future__ import annotations

_SIGNS = (
    *("\nSource:", "\nURL:", "\nurl:", "\n<page", "\n<doc", "\n<!-- doc", "\n<!-- page", "-page-", "\n[Skip to "),
    "](http",
)
_SIGNS_MIN = 3
_HEAD_LENGTH = 2_000
_LENGTH_MAX = 8_000_000
"""Characters; a longer text is special by its name alone."""


def may_be_special(text: str, name: str) -> bool:
    """Return whether a text is worth a closer look; almost no ordinary document is.

    Args:
        text: Markdown.
        name: The file's name.
    """
    if "llms" in name.lower():
        return True
    if len(text) > _LENGTH_MAX:
        return False
    head = text[:_HEAD_LENGTH].lstrip()
    is_quoted = head.startswith("# ") and "\n>" in head
    return any(text.count(sign) >= _SIGNS_MIN for sign in (_SIGNS if is_quoted else _SIGNS[:-1]))
