"""Takes a deleted conversation out of the copies of the file too, which migrations and damage leave behind."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from roamtui.conversation.damage import list_damaged
from roamtui.conversation.migrations import list_backups


def forget_in_copies(path: Path, conversation_id: str) -> tuple[Path, ...]:
    """Overwrite a conversation in the copies of older versions; return the files in which it may still be read.

    A file that was put aside as damaged is left as it is: somebody may want to save more of it.
    """
    left = [copy for copy in list_backups(path) if not _has_forgotten(copy, conversation_id)]
    left += [aside for aside in list_damaged(path) if conversation_id.encode() in aside.read_bytes()]
    return tuple(left)


def _has_forgotten(copy: Path, conversation_id: str) -> bool:
    try:
        with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("DELETE FROM exchanges WHERE conversation_id = ?", (conversation_id,))
            connection.execute("DELETE FROM conversations WHERE id = ?", (conversation_id,))
            connection.execute("COMMIT")
    except sqlite3.Error:
        return False
    return True
