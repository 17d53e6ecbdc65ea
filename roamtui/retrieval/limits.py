"""Follow the numbers by which sections of a document name each other.

Contracts, laws and standards put an exception far from its rule: "Paragraph 16.03 shall not apply to …",
"Sections 2.3 and 8 survive the end of this agreement". And a rule says "pursuant to Section 2.4" in place of
its terms. Neither has the words of the question, so no search finds it.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

from roamtui.document.library import Library
from roamtui.markdown.units import split_sentences
from roamtui.search.lexicon import make_pattern
from roamtui.text import Span

_PART = make_pattern("numbered part")
_NUMBER = r"\d+(?:\.\d+)*\b"
_NUMBERED_TITLE = re.compile(rf"[*_ ]*(?:(?:{_PART})\s*)?({_NUMBER})", re.IGNORECASE)
_LISTED = r"[\s\d.,;&()–-]|\b(?:[a-z]|[ivx]+|and|or|to|und|oder|bis)\b"
_NAMED = re.compile(rf"(?:{_PART})\s*(?:{_LISTED})+", re.IGNORECASE)
"""A section that a text names, or several: "Section 16.03", "Sections 2.3, 4(b) and 8"."""
_LIMITING = re.compile(make_pattern("limits"), re.IGNORECASE)
_DOCUMENT_LENGTH_MAX = 2_000_000
"""Maximum length, in characters, of a document that is searched for such sentences, which takes 0.3 s."""
_CACHED_DOCUMENTS_MAX = 8
"""A question needs only the documents of its first hits."""


class Limit(Struct, frozen=True, kw_only=True):
    """A sentence that limits or extends a section."""

    section_id: str
    """The section in which it stands."""
    span: Span
    number: str
    """The number by which it names the limited section, such as "16.03"."""


def find_limits(library: Library, section_id: str) -> Iterator[Limit]:
    """Yield the sentences elsewhere that limit or extend a section, one of each other section.

    Those that name the section itself come first, then those that name the clause above it. Within both, they
    are in the order of the document.
    """
    own = library.node(section_id).own_content_span
    text = library.documents_by_key[own.doc].text
    numbers = _list_numbers(library, section_id) if len(text) <= _DOCUMENT_LENGTH_MAX else []
    known_ids = {section_id, *library.node(section_id).ancestors}
    for number in numbers:
        for offset in _find_numbers(text).get(number, ()):
            naming_id = library.section_at(own.doc, offset)
            if naming_id is None or naming_id in known_ids or section_id in library.node(naming_id).ancestors:
                continue
            sentence = _find_sentence(library, naming_id, offset)
            if sentence is not None and _LIMITING.search(library.clean_text(sentence)):
                known_ids.add(naming_id)
                yield Limit(section_id=naming_id, span=sentence, number=number)


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


@lru_cache(maxsize=_CACHED_DOCUMENTS_MAX)
def _index_titles(titles: tuple[str, ...]) -> Mapping[str, int]:
    """Return the row of the title with each number. A number of two titles says nothing."""
    numbers = [*map(_parse_number, titles)]
    counts = Counter(numbers)
    return {number: row for row, number in enumerate(numbers) if number and counts[number] == 1}


@lru_cache(maxsize=_CACHED_DOCUMENTS_MAX)
def _find_numbers(text: str) -> Mapping[str, Sequence[int]]:
    """Return the offsets at which a text names each numbered section."""
    offsets: dict[str, list[int]] = defaultdict(list)
    for named in _NAMED.finditer(text):
        for number in re.finditer(_NUMBER, named.group()):
            offsets[number.group()].append(named.start() + number.start())
    return offsets


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


def _find_sentence(library: Library, section_id: str, offset: int) -> Span | None:
    """Return the sentence at an offset of the document in a section's own text."""
    own = library.node(section_id).own_content_span
    for sentence in split_sentences(library.clean_text(own)):
        if sentence.start <= offset - own.start < sentence.end:
            return own.get_part(sentence.start, sentence.end)
    return None
