"""`ReadingPositions`: where a person stopped reading in each document, in one JSON file."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from roamtui.conversation.line_file import locked
from roamtui.paths import make_private_folder, write_private_file

_SOURCES_MAX = 500
"""Maximum number of documents whose positions are saved. The oldest ones are dropped."""


class ReadingPosition(NamedTuple):
    """The position at the top of the reader."""

    section_id: str
    offset: int
    """Characters from the start of the section to the top of the view. Negative if the section starts below the top."""
    file_id: str
    """Id of the file node that contains the section, or the section's own id if the source is not a folder. Empty if
    not needed."""


class ReadingPositions:
    """Saves the reading position in each document to a file. Without a path, or if the file fails, nothing is saved."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def load(self, source: str) -> ReadingPosition | None:
        """Return the last position in a document, or None."""
        with suppress(OSError):
            match self._read().get(source):
                case [str(section_id), int(offset), str(file_id)]:
                    return ReadingPosition(section_id, offset, file_id)
                case _:
                    pass
        return None

    def save(self, source: str, position: ReadingPosition) -> None:
        """Save the position in a document, while other programs wait."""
        if self._path is None:
            return
        with suppress(OSError):  # a file that cannot be read now must not be overwritten
            make_private_folder(self._path.parent)
            with locked(self._path):
                others = {name: saved for name, saved in self._read().items() if name != source}
                newest = dict(list({**others, source: position}.items())[-_SOURCES_MAX:])
                write_private_file(self._path, json.dumps(newest).encode())

    def _read(self) -> dict[str, object]:
        with suppress(FileNotFoundError, ValueError):
            positions = json.loads(self._path.read_bytes()) if self._path else {}
            if isinstance(positions, dict):
                return positions
        return {}
