"""Progress of indexing, in lines on a terminal's stderr."""

from __future__ import annotations

import sys

from roamtui.headless.output import write_note


class IndexingProgress:
    """Writes how far the words of sections are written, and remembers how many there were."""

    def __init__(self) -> None:
        self.total = 0
        """Sections that were new or changed."""

    def __call__(self, done: int, total: int) -> None:
        """Take note that `done` of `total` sections are written."""
        self.total = total
        if sys.stderr.isatty():
            write_note(f"{done:,} of {total:,} sections")
