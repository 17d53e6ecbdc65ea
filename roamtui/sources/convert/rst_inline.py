"""Inline markup of reStructuredText into that of Markdown."""

from __future__ import annotations

import re

_INLINE = re.compile(
    r"``(?P<literal>[^\n]+?)``(?!`)"
    r"|(?P<role>:[A-Za-z][\w.+:-]{0,60}:)?`(?P<text>[^`\n]+)`(?P<link>__?)?"
    r"|(?<![\w\\])(?P<bare>[A-Za-z0-9](?:[\w.-]{0,60}[A-Za-z0-9])?)_(?![\w_])"
    r"|(?P<special><(?=[A-Za-z/!?])|&(?=#?\w{1,32};)|`)"
)
_TARGETED = re.compile(r"^(?P<shown>.*?)\s*<(?P<target>[^<>]+)>$", re.DOTALL)
_PROSE_ROLES = frozenset({":doc:", ":ref:", ":term:", ":abbr:", ":title:", ":emphasis:", ":strong:", ":numref:"})
_ADDRESS = re.compile(r"^(?:https?|mailto):\S+$")


def convert_inline(text: str) -> str:
    """Return a text with its literals, roles and links as Markdown has them; other marks are the same in both."""
    return _INLINE.sub(_convert_mark, text)


def _convert_mark(found: re.Match[str]) -> str:
    if found["special"]:
        return f"\\{found['special']}"
    if found["bare"]:
        return found["bare"]
    if found["literal"]:
        return _write_code(found["literal"])
    targeted = _TARGETED.match(found["text"])
    shown = (targeted["shown"] or targeted["target"]) if targeted else found["text"]
    if found["link"]:
        is_address = targeted is not None and _ADDRESS.match(targeted["target"])
        return f"[{shown}]({targeted['target']})" if targeted and is_address else shown
    return shown if found["role"] in _PROSE_ROLES else _write_code(shown.removeprefix("~"))


def _write_code(text: str) -> str:
    text = text.strip()
    return f"`` {text} ``" if "`" in text else f"`{text}`" if text else ""
