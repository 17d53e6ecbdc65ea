"""Which tables of a LanceDB database are an index's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roamtui.search.lance.catalogue import DOCUMENTS, SUMMARIES
from roamtui.search.lance.vectors import PREFIX
from roamtui.search.lance.words import SECTIONS

if TYPE_CHECKING:
    from roamtui.search.lance.database import Database


def drop_tables(database: Database) -> int:
    """Delete the tables of an index, no others, and return how many there were.

    Raises:
        IndexLostError: The database cannot be used.
    """
    ours = (SECTIONS, DOCUMENTS, SUMMARIES)
    names = [name for name in database.list_tables() if name in ours or name.startswith(PREFIX)]
    for name in names:
        database.drop_table(name)
    return len(names)
