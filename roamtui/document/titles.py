"""What of a title is for machines."""

from __future__ import annotations

import re

_ANCHOR = re.compile(r"\s*\{:?\s*#[\w-][^{}]*\}\s*$")

_DROPPED = re.compile(r"[^\w\- ]")


def strip_anchor(title: str) -> str:
    """Return a title without the ``{#anchor}`` or ``{: #anchor .class }`` at its end by which pages link to it."""
    return _ANCHOR.sub("", title) if title.rstrip().endswith("}") else title


def make_slug(title: str) -> str:
    """Return the anchor of a heading: small letters, no punctuation, hyphens for spaces."""
    return _DROPPED.sub("", title.lower()).strip().replace(" ", "-")
