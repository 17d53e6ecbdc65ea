"""Finds the document of a saved conversation that is no longer where it was."""

import os
import shlex
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from msgspec import Struct

from roamtui.conversation.library_sync import hash_library
from roamtui.document.loader import open_sources
from roamtui.errors import RoamtuiError
from roamtui.sources.source_names import split_sources

_COMPARED_MAX = 20
"""Maximum number of files whose texts are compared: the conversion of one may take seconds."""


class MovedSource(Struct, frozen=True, kw_only=True):
    """Where a document may be now."""

    path: str
    has_same_text: bool
    """Whether it has the text that the conversation is about. Otherwise it only has the same name."""

    def describe(self) -> str:
        """Say what is known of it."""
        return "with the same text" if self.has_same_text else "with the same name, but another text"


def find_moved(source: str, content_hash: str) -> MovedSource | None:
    """Find a file with the text of a missing one, or else a file or folder with its name.

    They are looked for next to the old place, in the current folder, and in the folders in both.
    """
    old = Path(source)
    if len(split_sources(source)) > 1:
        return None
    place = next(folder for folder in old.parents if folder.is_dir())
    folders = dict.fromkeys((place, Path.cwd()))
    named = [path for folder in folders for path in _list_named(folder, old.name)]
    alike = (path for folder in folders for path in sorted(folder.glob(f"*{old.suffix}")) if old.suffix)
    files = (path for path in dict.fromkeys((*named, *alike)) if path.is_file())
    for path in islice(files, _COMPARED_MAX):
        with suppress(RoamtuiError, OSError):
            if hash_library(open_sources((str(path),))[0]) == content_hash:
                return MovedSource(path=str(path), has_same_text=True)
    return MovedSource(path=str(named[0]), has_same_text=False) if named else None


def _list_named(folder: Path, name: str) -> Iterator[Path]:
    """Yield what has a name in a folder and in the folders in it."""
    inner: list[Path] = []
    with suppress(OSError), os.scandir(folder) as entries:
        inner = sorted(Path(entry.path) for entry in entries if entry.is_dir())
    for path in (folder / name, *(each / name for each in inner)):
        if os.path.lexists(path):
            yield path


def describe_missing(source: str, content_hash: str, conversation_id: str) -> str:
    """Say that the document of a conversation is gone, and how the conversation can be continued."""
    found = find_moved(source, content_hash)
    path = "FILE" if found is None else shlex.quote(found.path)
    where = "If you know where it is" if found is None else f"{found.path} is there, {found.describe()}"
    command = f"`roamtui {path} --conversation {conversation_id}`"
    return f"The document of this conversation, {source}, is no longer there. {where}: run {command}."
