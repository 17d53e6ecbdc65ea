"""Anchors: the names for links that attributes at the end of titles give."""

import re

_ANCHOR = re.compile(r"(?:(?<!\s)\s+)?(?<!\\)\{:?\s*#(?P<name>[\w-][^{}\s]*)[^{}]*\}\s*$")


def strip_anchor(title: str) -> str:
    """Remove an attribute such as ``{#anchor}`` or ``{: #anchor .class }`` from the end of a heading."""
    return _ANCHOR.sub("", title) if title.rstrip().endswith("}") else title


def extract_anchor(title: str) -> str:
    """Return the anchor that an attribute at the end of a title names, or an empty string."""
    match = _ANCHOR.search(title) if title.rstrip().endswith("}") else None
    return match["name"] if match is not None else ""
