"""`LibrarySource`: one of several sources of a library, and its short name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath
from urllib.parse import urlsplit

from roamtui.document.plain import sanitise_line
from roamtui.sources.file_sources import split_sources
from roamtui.sources.listing import format_name, format_names
from roamtui.sources.read import is_path

_LIST_NAMES = frozenset({"llms.txt", "llms-full.txt"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LibrarySource:
    """One of several sources of a library."""

    name: str
    """A path, several paths joined by `join_sources`, or a URL."""
    key: str
    """Title of its row at the top level, and prefix of the keys of its documents. Empty for the first source, so that
    its ids stay the same."""

    @property
    def title(self) -> str:
        """Short name for people: the key, or for the first source the name of its file or site."""
        return self.key or make_short_name(self.name)


def make_short_name(name: str) -> str:
    """Make a short name, without slashes, for the `name` of a source."""
    if is_path(name):
        short = format_names([format_name(PurePath(path).name) or path for path in split_sources(name)])
    else:
        parts = urlsplit(name)
        last = parts.path.rstrip("/").rpartition("/")[2]
        short = last if last.strip(".") and last not in _LIST_NAMES else parts.netloc
    return re.sub(r"[/\\]", "_", sanitise_line(short) or sanitise_line(name))
