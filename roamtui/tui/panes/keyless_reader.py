"""The reader as its pane shows it."""

from __future__ import annotations

from roamtui.tui.reader.reader import Reader


class KeylessReader(Reader, inherit_bindings=False):
    """The reader without the keys of a scroll view: its pane has them all."""
