"""Anchors: the names of headings for links, which attributes at the end of titles give, or the titles."""

import re
import unicodedata

_ANCHOR = re.compile(r"(?:(?<!\s)\s+)?(?<!\\)\{:?\s*#(?P<name>[\w-][^{}\s]*)[^{}]*\}\s*$")
_NOT_PLAIN = re.compile(r"[^a-z0-9_\- ]")
_ANCHOR_CATEGORIES = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "Pc"})
"""Unicode categories of letters, their accents, digits and signs such as `_`."""


def strip_anchor(title: str) -> str:
    """Remove an attribute such as ``{#anchor}`` or ``{: #anchor .class }`` from the end of a heading."""
    return _ANCHOR.sub("", title) if title.rstrip().endswith("}") else title


def extract_anchor(title: str) -> str:
    """Return the anchor that an attribute at the end of a title names, or an empty string."""
    match = _ANCHOR.search(title) if title.rstrip().endswith("}") else None
    return match["name"] if match is not None else ""


def make_anchor(title: str) -> str:
    """Return the anchor that GitHub gives to the first heading with this title."""
    kept = _NOT_PLAIN.sub(
        lambda match: match[0] if unicodedata.category(match[0]) in _ANCHOR_CATEGORIES else "",
        title.strip().lower(),
    )
    return kept.replace(" ", "-")
