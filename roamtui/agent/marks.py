"""The grammar of citation marks: `[a8a96034]`, as models write it, with several ids or dressed up too."""

from __future__ import annotations

import re

_SECTION = r"[0-9a-f]{8}(?::[\dc.]+)?"
_DRESS = r"[\"'`*§\s]*+"
MARK = re.compile(rf"\[{_DRESS}{_SECTION}(?:[,;\"'`*§\s]++{_SECTION})*+{_DRESS}\]")
MARKED_ID = re.compile(r"(?<![0-9a-f:.])[0-9a-f]{8}")
"""Each id of a mark, without the numbers of pages and ranges."""
