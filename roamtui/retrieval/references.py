"""Follow the numbers by which sections of a document name each other.

Contracts, laws and standards put an exception far from its rule: "Paragraph 16.03 shall not apply to …",
"Sections 2.3 and 8 survive the end of this agreement". And a rule says "pursuant to Section 2.4" in place of
its terms. Neither has the words of the question, so no search finds it.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from roamtui.document.library import Library
from roamtui.search.lexicon import make_pattern
from roamtui.text import Bounds, Span

_PART = make_pattern("numbered part")
_NUMBER = r"\d+(?:\.\d+)*\b"
_NUMBERED_TITLE = re.compile(rf"[*_ ]*(?:(?:{_PART})\s*)?({_NUMBER})", re.IGNORECASE)
_LISTED = r"[\s\d.,;&()–-]|\b(?:[a-z]|[ivx]+|and|or|to|und|oder|bis)\b"
_NAMED = re.compile(rf"(?:{_PART})\s*(?:{_LISTED})+", re.IGNORECASE)
"""A section that a text names, or several: "Section 16.03", "Sections 2.3, 4(b) and 8"."""
_DOCUMENT_LENGTH_MAX = 2_000_000
"""Maximum length, in characters, of a document whose numbers are looked up, which takes 0.3 s."""
_CACHED_DOCUMENTS_MAX = 8
"""A question needs only the documents of its first hits."""


def find_named(library: Library, spans: Iterable[Span]) -> Iterator[str]:
    """Yield the ids of the sections that a text names by their numbers, each once, in the text's order."""
    seen: set[str] = set()
    for span in spans:
        document = library.documents_by_key[span.doc]
        rows = _index_titles(document.columns.titles)
        for named in _NAMED.finditer(library.text_at(span)):
            for number in re.findall(_NUMBER, named.group()):
                if number in rows and number not in seen:
                    seen.add(number)
                    yield document.ids[rows[number]]


def find_naming(library: Library, section_id: str) -> Iterator[tuple[str, Span]]:
    """Yield the sections elsewhere that name a section by its number, each once, and where they do.

    Sections that name the clause above it, such as 2.3 above 2.3.2, follow those that name the section
    itself. Both are in the order of the document.
    """
    node = library.node(section_id)
    own = node.own_content_span
    text = library.documents_by_key[own.doc].text
    known_ids = {section_id, *node.ancestors}
    for number in _list_numbers(library, section_id) if len(text) <= _DOCUMENT_LENGTH_MAX else ():
        for start, end in _find_numbers(text).get(number, ()):
            naming_id = library.section_at(own.doc, start)
            if naming_id is None or naming_id in known_ids or section_id in library.node(naming_id).ancestors:
                continue
            known_ids.add(naming_id)
            yield naming_id, Span(doc=own.doc, start=start, end=end)


@lru_cache(maxsize=_CACHED_DOCUMENTS_MAX)
def _index_titles(titles: tuple[str, ...]) -> Mapping[str, int]:
    """Return the row of the title with each number. A number of two titles says nothing."""
    numbers = [*map(_parse_number, titles)]
    counts = Counter(numbers)
    return {number: row for row, number in enumerate(numbers) if number and counts[number] == 1}


@lru_cache(maxsize=_CACHED_DOCUMENTS_MAX)
def _find_numbers(text: str) -> Mapping[str, Sequence[Bounds]]:
    """Return the bounds of the words with which a text names each numbered section."""
    bounds: dict[str, list[Bounds]] = defaultdict(list)
    for named in _NAMED.finditer(text):
        for number in re.finditer(_NUMBER, named.group()):
            bounds[number.group()].append((named.start(), named.start() + number.end()))
    return bounds


def _list_numbers(library: Library, section_id: str) -> list[str]:
    """List the number of a section, and the number of the clause above it, such as 2.3 above 2.3.2.

    A number that two titles of the document share is left out, because it is ambiguous.
    """
    node = library.node(section_id)
    numbers = [_parse_number(node.title)]
    if node.parent is not None and "." in (above := _parse_number(library.node(node.parent).title)):
        numbers.append(above)
    if not any(numbers):  # as in most documents, so the other titles need not be read
        return []
    rows = _index_titles(library.documents_by_key[node.own_span.doc].columns.titles)
    return [number for number in numbers if number in rows]


def _parse_number(title: str) -> str:
    match = _NUMBERED_TITLE.match(title)
    return match[1] if match else ""
