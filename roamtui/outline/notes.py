"""What stands beside a link to a page: often all that is known of the page before it is fetched."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from roamtui.document.lines import normalise_line_ends
from roamtui.document.plain import plain_line, shorten
from roamtui.outline.labels import defuse

if TYPE_CHECKING:
    from roamtui.document.library import Library

NOTE_LENGTH = 160
_SOURCE_LENGTH = 2_000
_MARKER = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?")
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_ADDRESS = re.compile(r"<?https?://[^\s>]+>?")
_MARKS = re.compile(r"\*\*|__|`")
_BETWEEN = " \t:\uff1a-\u2013\u2014|>\u2192,;."


def find_note(library: Library, section_id: str, *, length_max: int = NOTE_LENGTH) -> str:
    """Return what the list item of a link says besides the link, on one line; may be empty."""
    document, row = library.locate(section_id)
    starts = document.columns.starts
    start = starts[row]
    end = next((one for one in starts[row + 1 :] if one > start), start)
    item = normalise_line_ends(document.text[start : min(end, start + _SOURCE_LENGTH)])
    item = _MARKER.sub("", item, count=1).strip().partition("\n\n")[0]
    title = plain_line(document.columns.titles[row])
    words = plain_line(_MARKS.sub("", _ADDRESS.sub("", _LINK.sub(r"\1", item))))
    note = words.removeprefix(_MARKS.sub("", title)).strip(_BETWEEN)
    return shorten(defuse(note), length_max)
