"""What of a title is for machines."""

from __future__ import annotations

import re

_ANCHOR = re.compile(r"\s*\{:?\s*#[\w-][^{}]*\}\s*$")


def strip_anchor(title: str) -> str:
    """Return a title without the ``{#anchor}`` or ``{: #anchor .class }`` at its end by which pages link to it."""
    return _ANCHOR.sub("", title) if title.rstrip().endswith("}") else title
