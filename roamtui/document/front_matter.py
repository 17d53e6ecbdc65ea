"""Front matter: the block between lines of dashes at the start of a Markdown file."""

from __future__ import annotations

import re

from roamtui.document.text import compute_line_starts, normalise_line_ends

_OPENING = re.compile(r"---[ \t]*\n(?!\n)")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)
_TITLE = re.compile(r"^title:[ \t]*(\S.*)$", re.MULTILINE)


def measure_front_matter(text: str) -> int:
    r"""Return the length of the front matter at the start of `text` (line ends as ``\n``), or 0.

    A block that starts with a blank line is a rule followed by text, not front matter.
    """
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end()) if opening else None
    return closing.end() if closing else 0


def find_body_start(text: str) -> int:
    """Return the offset after the front matter. The text may have any line ends."""
    normalised = normalise_line_ends(text)
    lines = normalised.count("\n", 0, measure_front_matter(normalised))
    if not lines:
        return 0
    starts = compute_line_starts(text)
    return starts[lines] if lines < len(starts) else len(text)


def parse_front_matter_title(front_matter: str) -> str:
    """Return the value of `title`, or an empty string."""
    match = _TITLE.search(front_matter)
    return match[1].rstrip().strip("\"'") if match else ""
