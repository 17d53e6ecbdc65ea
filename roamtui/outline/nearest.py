"""The sections that a wrong id may have meant."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from rapidfuzz import fuzz, process
from rapidfuzz.distance import Levenshtein

from roamtui.document.plain import plain_line

if TYPE_CHECKING:
    from roamtui.document.library import Library

_CANDIDATES_MAX = 20_000
_ID_DISTANCE_MAX = 3
_TITLE_SCORE_MIN = 55.0


def find_nearest(library: Library, requested: str, *, limit: int = 3) -> tuple[str, ...]:
    """Return up to `limit` ids whose digits or titles are nearest to what was asked for."""
    wanted = plain_line(requested)[:200].strip("[]\"'` ")
    ids = list(islice(library.walk(), _CANDIDATES_MAX))
    titles = {section_id: library.title_of(section_id) for section_id in ids}
    distances = process.extract(wanted.lower(), ids, scorer=Levenshtein.distance, limit=limit)
    by_title = process.extract(wanted, titles, scorer=fuzz.WRatio, limit=limit, score_cutoff=_TITLE_SCORE_MIN)
    found = [section_id for section_id, distance, _ in distances if distance <= _ID_DISTANCE_MAX]
    found += [section_id for _, _, section_id in by_title]
    found += [section_id for section_id, _, _ in distances]
    return tuple(dict.fromkeys(found))[:limit]
