"""Where text goes: JSON and results to stdout alone, progress and warnings to stderr, safe for a terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from roamtui.document.plain import plain_line, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterable


def write_text(text: str) -> None:
    """Write text to stdout: sanitised on a terminal, else exactly as it is, in UTF-8."""
    shown = plain_text(text) if sys.stdout.isatty() else text
    data = shown.encode("utf-8", "surrogateescape" if not sys.stdout.isatty() else "replace")
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        sys.stdout.write(shown)
    else:
        sys.stdout.flush()
        buffer.write(data)
        buffer.flush()


def write_plain(text: str) -> None:
    """Write text to stdout at once, sanitised wherever it goes."""
    buffer = getattr(sys.stdout, "buffer", None)
    shown = plain_text(text)
    if buffer is None:
        sys.stdout.write(shown)
    else:
        sys.stdout.flush()
        buffer.write(shown.encode("utf-8", "replace"))
        buffer.flush()


def write_json(value: object) -> None:
    """Write one JSON value and a line end to stdout; control characters are escaped."""
    import json  # noqa: PLC0415 - the app writes none before its first screen

    write_text(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def write_json_line(value: object) -> None:
    """Write one JSON value on a line of its own, at once. ASCII alone, so that no reader sees a line end inside it."""
    import json  # noqa: PLC0415 - the app writes none before its first screen

    write_text(json.dumps(value) + "\n")


def write_note(text: str) -> None:
    """Write one line about progress, or a warning, to stderr."""
    sys.stderr.write(plain_line(text) + "\n")
    sys.stderr.flush()


def write_notes(notes: Iterable[str]) -> None:
    """Write a line for each note to stderr."""
    for note in notes:
        write_note(note)
