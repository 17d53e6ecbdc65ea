"""`Places`: where a person was reading in each document, kept in a file for the next time it is opened."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from roamtui.locations import make_private_folder, write_private_file
from roamtui.tui.reader.messages import ReadingPlace

_SOURCES_MAX = 500
"""Documents of which the place is kept, the last ones that were read."""


class Places:
    """The places in the file `path`; without one nothing is kept. A file that cannot be read or written holds none."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def find(self, source: str) -> ReadingPlace | None:
        """Return where a person was in a document, None where they never were."""
        match self._read().get(source):
            case [str(section_id), int(into), str(file_id)]:
                return ReadingPlace(section_id, into, file_id)
            case _:
                return None

    def keep(self, source: str, place: ReadingPlace) -> None:
        """Keep where a person is in a document."""
        if self._path is None:
            return
        places = {name: kept for name, kept in self._read().items() if name != source} | {source: list(place)}
        newest = dict(list(places.items())[-_SOURCES_MAX:])
        with suppress(OSError):
            make_private_folder(self._path.parent)
            write_private_file(self._path, json.dumps(newest).encode())

    def _read(self) -> dict[str, object]:
        with suppress(OSError, ValueError):
            places = json.loads(self._path.read_bytes()) if self._path else {}
            if isinstance(places, dict):
                return places
        return {}
