"""`SourceWatch`: whether the document on disk is another than the one that is shown. Knows no screen."""

from __future__ import annotations

from roamtui.sources.stamp import SourceStamp, stamp_source


class SourceWatch:
    """Compares the stamp of a source with the one that it had when it was read."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._known: SourceStamp | None = stamp_source(source)
        self._seen = self._known

    @property
    def is_stale(self) -> bool:
        """Whether the document was written since it was read, as far as the last look goes."""
        return self._seen is not None and self._seen != self._known

    def look(self) -> bool:
        """Look at the file; return whether that shows a change which no look before has shown.

        A file that is away for a moment, as while an editor replaces it, has not changed.
        """
        stamp = stamp_source(self._source)
        if stamp is None or stamp == self._seen:
            return False
        self._seen = stamp
        return self.is_stale

    def forget(self) -> None:
        """Take what is on disk for changed, whatever it is."""
        self._known = None

    def take(self, stamp: SourceStamp | None) -> None:
        """Note that what is shown now was read when the file had this stamp."""
        self._known = stamp
        self._seen = self._seen if stamp is None else stamp
