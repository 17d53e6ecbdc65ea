"""What a model or a person may name: ids, their pages (``07f3277d:2``), ranges (``07f3277d:c2.5``), paths, titles."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, islice

from roamtui.document.library import Library
from roamtui.document.node import NodeKind
from roamtui.document.plain import plain_line
from roamtui.document.tokens import format_tokens
from roamtui.outline.labels import WHOLE_TOKENS_MAX, name_node
from roamtui.outline.structure import find_canonical, list_below

LISTED_MAX = 250
"""Children of a range that are listed one by one; with as many ranges as there may be, two calls lead to any of 16,000
sections and three to any of a million."""
_RANGE_SIZE = 60
"""Children in a range at most, until there would be too many ranges."""
_RANGES_MAX = 64
_REFERENCE = re.compile(r"([0-9a-f]{8})(?::(?:(\d{1,6})|c(\d{1,6}(?:\.\d{1,6})*)))?\Z", re.ASCII)
_CANDIDATES_MAX = 20_000
_ID_DISTANCE_MAX = 3
_TITLE_SCORE_MIN = 55.0
_AROUND = " \t\r\n[]`\"'§"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What an id in a tool call names."""

    section_id: str
    page: int | None = None
    """1-based page of its own text."""
    steps: tuple[int, ...] = ()
    """1-based range of its children, and ranges within that."""


def find_reference(library: Library, text: str) -> Reference | None:
    """Return what `text` names: an id of whatever form, else a path or an exact title that only one section has."""
    reference = parse_reference(text)
    if reference is not None:
        return reference
    section_id = find_by_name(library, text)
    return None if section_id is None else Reference(section_id=section_id)


def find_by_name(library: Library, text: str) -> str | None:
    """Return the one section with this title, file name or path (``guide.md > Install``), None for none or several."""
    *above, last = [_fold(part) for part in text.strip(_AROUND).split(" > ")]
    if not last:
        return None
    found: set[str] = set()
    for document in library.documents:
        columns = document.columns
        for row, title in enumerate(columns.titles):
            section_id = document.ids[row]
            is_file = columns.kinds[row] is NodeKind.FILE
            is_named = _is_path(library.node(section_id).doc, last) if is_file else _fold(title) == last
            if is_named and _is_below(library, section_id, above):
                found.add(find_canonical(library, section_id))
    return found.pop() if len(found) == 1 else None


def _is_path(key: str, wanted: str) -> bool:
    """Return whether a file is meant by its path or the end of it, with its ending or without."""
    path = f"/{_fold(key)}"
    return path.endswith((f"/{wanted}", f"/{wanted}.{path.rpartition('.')[2]}"))


def _is_below(library: Library, section_id: str, names: list[str]) -> bool:
    """Return whether the nodes above one have these names, in this order, others between them."""
    titles = [_fold(library.title_of(node_id)) for node_id in library.ancestors(section_id)]
    position = 0
    for name in names:
        while position < len(titles) and name not in (titles[position], titles[position].rpartition(".")[0]):
            position += 1
        if position == len(titles):
            return False
        position += 1
    return True


def _fold(title: str) -> str:
    return " ".join(title.casefold().replace("`", "").split())


def find_nearest(library: Library, requested: str, *, limit: int = 3) -> tuple[str, ...]:
    """Return up to `limit` ids whose digits or titles are nearest to what was asked for."""
    from rapidfuzz import fuzz, process  # noqa: PLC0415 - the outline needs none of it
    from rapidfuzz.distance import Levenshtein  # noqa: PLC0415 - likewise

    wanted = plain_line(requested)[:200].strip("[]\"'` ")
    ids = list(islice(library.walk(), _CANDIDATES_MAX))
    titles = {section_id: library.title_of(section_id) for section_id in ids}
    distances = process.extract(wanted.lower(), ids, scorer=Levenshtein.distance, limit=limit)
    by_title = process.extract(wanted, titles, scorer=fuzz.WRatio, limit=limit, score_cutoff=_TITLE_SCORE_MIN)
    found = [section_id for section_id, distance, _ in distances if distance <= _ID_DISTANCE_MAX]
    found += [section_id for _, _, section_id in by_title]
    found += [section_id for section_id, _, _ in distances]
    return tuple(dict.fromkeys(found))[:limit]


def parse_reference(text: str) -> Reference | None:
    """Return what `text` names, None where it has not the form of an id."""
    match = _REFERENCE.match(text.strip(_AROUND).lower())
    if match is None:
        return None
    section_id, page, steps = match.groups()
    return Reference(
        section_id=section_id,
        page=int(page) if page else None,
        steps=tuple(int(step) for step in steps.split(".")) if steps else (),
    )


@dataclass(frozen=True, slots=True)
class Ranges:
    """Children of a section in consecutive parts, each small enough to be given whole where there are not too many."""

    library: Library
    children: tuple[str, ...]
    sums: Sequence[int]
    """Tokens before each child, and of all."""

    @classmethod
    def of(cls, library: Library, section_id: str) -> Ranges:
        """Return those of what an outline lists below a section."""
        children = list_below(library, section_id)
        return cls(library, children, _sum_tokens(library, children))

    def count_tokens(self, start: int, end: int) -> int:
        """Return the tokens of the children `start` to `end` (excluded) and all below them."""
        return self.sums[end] - self.sums[start]

    def split(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return the parts of `start` to `end` (excluded) in order, at most 64; a single one where that is enough."""
        size, tokens = _RANGE_SIZE, WHOLE_TOKENS_MAX
        while True:
            parts = self._split(start, end, size, tokens)
            if len(parts) <= _RANGES_MAX:
                return parts
            size, tokens = size * 2, tokens * 2

    def _split(self, start: int, end: int, size: int, tokens: int) -> list[tuple[int, int]]:
        parts: list[tuple[int, int]] = []
        while start < end and len(parts) <= _RANGES_MAX:
            fitting = bisect_right(self.sums, self.sums[start] + tokens, lo=start + 1, hi=end + 1) - 1
            stop = max(start + 1, min(fitting, start + size, end))
            parts.append((start, stop))
            start = stop
        return parts or [(start, end)]

    def find(self, steps: tuple[int, ...]) -> tuple[int, int] | None:
        """Return the first and the last index (excluded) of a range, None where there is none."""
        start, end = 0, len(self.children)
        for step in steps:
            parts = self.split(start, end)
            if not 1 <= step <= len(parts):
                return None
            start, end = parts[step - 1]
        return start, end

    def describe(self, section_id: str, steps: tuple[int, ...] = (), *, title_length_max: int = 50) -> list[str]:
        """Return a line for each part of a range: id, first and last title, number, size.

        Args:
            section_id: The section whose children they are.
            steps: The range of them.
            title_length_max: Characters of each of the two titles; 0 leaves them out.
        """
        bounds = self.find(steps)
        lines = []
        for number, (start, end) in enumerate(self.split(*bounds) if bounds is not None else (), start=1):
            ends = [self.library.heading(self.children[index]) for index in dict.fromkeys((start, end - 1))]
            names = [name_node(node, length_max=title_length_max) for node in ends] if title_length_max else []
            count = f"{end - start} section{'s' if end - start > 1 else ''}"
            size = f"({count}, {format_tokens(self.count_tokens(start, end))})"
            reference = f"{section_id}:c{'.'.join(map(str, (*steps, number)))}"
            lines.append(" ".join((f"- [{reference}]", *([" … ".join(names)] if names else []), size)))
        return lines


def _sum_tokens(library: Library, section_ids: tuple[str, ...]) -> Sequence[int]:
    """Return the tokens before each of some neighbours, and those of all."""
    if not section_ids:
        return (0,)
    if library.grafts:
        return [0, *accumulate(library.node(section_id).tokens for section_id in section_ids)]
    document, first_row = library.locate(section_ids[0])
    sums, rows = document.tokens_before, document.rows_by_id
    last_row = rows[section_ids[-1]]
    before = [sums[rows[section_id]] - sums[first_row] for section_id in section_ids]
    return [*before, sums[document.columns.ends[last_row]] - sums[first_row]]
