"""Write the notes of a document at the end of the sections that refer to them."""

from __future__ import annotations

import re
from collections.abc import Sequence

_PLACEHOLDER = re.compile("\ue000(\\d+)\ue001")
"""Number of a note between private-use characters. It replaces the reference to the note during the conversion."""
_FENCE = re.compile(r"\s*(`{3,})")


def insert_notes(text: str, notes: Sequence[str]) -> str:
    """Replace placeholders with references, and add each note at the end of the section that first refers to it."""
    if not notes:
        return text
    lines: list[str] = []
    pending: dict[int, None] = {}
    written: set[int] = set()
    fence = ""

    def end_section() -> None:
        for number in pending:
            lines.extend([f"[^{number}]: {notes[number - 1]}", ""])
        written.update(pending)
        pending.clear()

    for line in text.split("\n"):
        opening = _FENCE.match(line)
        if fence:
            fence = "" if line.strip() == fence else fence
        elif opening:
            fence = opening[1]
        elif line.startswith("#"):
            end_section()
        numbers = [int(number) for number in _PLACEHOLDER.findall(line)]
        pending.update(dict.fromkeys(n for n in numbers if n not in written and 1 <= n <= len(notes)))
        lines.append(_PLACEHOLDER.sub(r"[^\1]", line) if numbers else line)
    end_section()
    return "\n".join(lines).rstrip("\n") + "\n"
