"""Rules on sections and headings: what an outline is made of."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from roamtui.checking.facts import Facts, Finding, Place
from roamtui.document.library import Library
from roamtui.document.node import NodeKind
from roamtui.document.plain import plain_line, strip_anchor
from roamtui.outline.labels import has_own_text
from roamtui.outline.render import render_outline
from roamtui.outline.structure import list_below
from roamtui.search.sentences import UnitKind, find_units

LONG_TOKENS = 2_000
"""About three pages of a book: more than one heading can tell of."""
OUTLINE_TOKENS = 2_500
_PROSE_SHARE_MIN = 0.5
_LEFT_OUT_MIN, _LEFT_OUT_BELOW_MIN = 20, 60
_REPEATED_MIN = 10
_NOTHING = re.compile(
    r"[(\[](?:weggefallen|aufgehoben|repealed|reserved|deleted|removed|deprecated|omitted)[)\]]|\breserved\.?$", re.I
)
"""Of what a heading says itself that nothing is there."""
_ID = re.compile(r"\[([0-9a-f]{8})\]")
_LIST = re.compile(r"\b(?:glossary|definitions?|defined terms|interpretation|references|bibliography|index)\b", re.I)
"""Many short entries, which nobody reads in one go."""
_NUMBER = re.compile(
    r"(?:(?i:art|article|artikel|section|sec|chapter|part|step|appendix|annex|exhibit|schedule|teil|kapitel|abschnitt"
    r"|item|figure|table|§+)[.:]?[ ]*(?<=[ .:§]))?"
    r"(?:\d+|X{0,3}(?:IX|IV|V?I{0,3})|[A-Z])(?<!\A)(?:[.-](?:\d+|[A-Za-z]))*[.:)]*"
)
_VERSION = re.compile(r"\W*v?\d+\.\d+(?:\.\w+)*\W*|.*\b(?:19|20)\d\d\b.*|.*\bv?\d+\.\d+\.\d+\b.*", re.IGNORECASE)
"""A release or a date, by which people do look."""


def find_long(facts: Facts) -> Iterator[Finding]:
    """Yield sections whose own text is too long for one heading, tables and code apart."""
    for document in facts.library.documents:
        if document.page_starts:
            continue  # as in `find_empty`
        kinds, starts = document.columns.kinds, document.columns.starts
        tokens = document.tokens_before[-1]
        if NodeKind.TEXT in kinds and tokens > LONG_TOKENS and _is_prose(str(document.text)):
            yield Finding(Place(document, 0, 0), f"{tokens:,} tokens have no heading at all")
        for row, tokens in enumerate(document.own_tokens):
            is_long = kinds[row] in (NodeKind.SECTION, NodeKind.PREAMBLE) and tokens > LONG_TOKENS
            is_list = _LIST.search(document.columns.titles[row]) is not None
            if is_long and not is_list and _is_prose(document.text[starts[row] : starts[row + 1]]):
                yield Finding(Place(document, row, starts[row]), f"{tokens:,} tokens have no heading of their own")


def _is_prose(text: str) -> bool:
    """Return whether a text is to be read in one go, unlike a table, a list, code or data."""
    units = [(unit.end - unit.start, unit.kind) for unit in find_units(text)]
    prose = sum(size for size, kind in units if kind is UnitKind.PROSE)
    return prose >= _PROSE_SHARE_MIN * sum(size for size, _ in units) and not text.lstrip().startswith(("{", "["))


def find_empty(facts: Facts) -> Iterator[Finding]:
    """Yield headings with nothing below them."""
    for place in facts.sections:
        columns = place.document.columns
        if place.document.page_starts:
            continue  # headings of a PDF are read off its looks: what is amiss may be the reading
        is_leaf = columns.ends[place.row] == place.row + 1 and place.section_id not in facts.library.grafts
        is_said = _NOTHING.search(place.title) or "](" in facts.library.own_text(place.section_id)
        if is_leaf and not is_said and not has_own_text(facts.library, place.section_id):
            yield Finding(place, f"nothing stands below {place.quoted}")


def find_skipped(facts: Facts) -> Iterator[Finding]:
    """Yield the first heading below another one that is more than one level deeper."""
    told: set[tuple[int, int]] = set()
    for place in facts.sections:
        columns = place.document.columns
        parent = columns.parents[place.row]
        level, above = columns.levels[place.row], columns.levels[parent] if parent >= 0 else 0
        key = (id(place.document), parent)
        is_skipped = columns.kinds[parent] is NodeKind.SECTION and level > above + 1 and not place.document.page_starts
        if parent >= 0 and is_skipped and key not in told and _is_written(place, level):
            told.add(key)
            yield Finding(place, f"{place.quoted} is of level {level}, the heading above it of level {above}")


def _is_written(place: Place, level: int) -> bool:
    """Return whether a heading has the level that it is written with; a page within a document may lower it."""
    start = place.document.text[place.offset : place.offset + 7].lstrip(" ")
    marks = len(start) - len(start.lstrip("#"))
    return marks in (0, level)


def find_left_out(facts: Facts) -> Iterator[Finding]:
    """Yield what has so many parts side by side that an outline cannot name them: the whole, and what is very wide."""
    library = facts.library
    named = find_named(library)
    tops = {library.root_id, library.title_id()}
    for parent in (library.root_id, *library.walk()) if facts.sections else ():
        below = list_below(library, parent) if parent in tops or parent in named else ()
        left = sum(node_id not in named for node_id in below)
        if left >= (_LEFT_OUT_MIN if parent in tops else _LEFT_OUT_BELOW_MIN) and 2 * left > len(below):
            document, row = library.locate(parent) if parent in library else (library.root, 0)
            place = Place(document, row, document.columns.starts[row])
            message = (
                f"an outline of {OUTLINE_TOKENS:,} tokens leaves out {left} of the {len(below)} parts side by side"
            )
            yield Finding(place, message, count=left)


def find_named(library: Library) -> set[str]:
    """Return the ids that an outline names."""
    return set(_ID.findall(render_outline(library, budget_tokens=OUTLINE_TOKENS)))


def find_numbers(facts: Facts) -> Iterator[Finding]:
    """Yield headings that are numbers alone, once for what they stand below."""
    groups: dict[tuple[int, int], list[Place]] = defaultdict(list)
    for place in facts.sections:
        title = plain_line(place.title)
        is_void = _NOTHING.search(facts.library.own_text(place.section_id, length_max=60))
        is_name = not _NUMBER.fullmatch(title) or _VERSION.fullmatch(title)
        if not is_name and not is_void and not place.document.page_starts:
            groups[id(place.document), place.document.columns.parents[place.row]].append(place)
    for places in groups.values():
        more = f" and {len(places) - 1} more beside it are" if len(places) > 1 else " is"
        yield Finding(places[0], f"{places[0].quoted}{more} a number alone", count=len(places))


def find_repeated(facts: Facts) -> Iterator[Finding]:
    """Yield titles that many sections of a document have, at the first of them; parts of releases are always alike."""
    groups: dict[tuple[int, str], list[Place]] = defaultdict(list)
    for place in facts.sections:
        columns = place.document.columns
        parent = columns.parents[place.row]
        if parent < 0 or not _VERSION.fullmatch(columns.titles[parent]):
            title = strip_anchor(plain_line(place.title)).casefold()
            groups[id(place.document), title].append(place)
    for (_, title), places in groups.items():
        if title and len(places) >= _REPEATED_MIN and not _NUMBER.fullmatch(title):
            message = f"{places[0].quoted} is the title of {len(places)} sections"
            yield Finding(places[0], message, count=len(places))
