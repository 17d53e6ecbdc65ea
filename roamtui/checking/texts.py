"""Rules on what stands in sections: passages, tables, images, links."""

from __future__ import annotations

import os
import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from roamtui.checking.facts import Facts, Finding, Place
from roamtui.document.document import Document
from roamtui.document.library import Library
from roamtui.document.link_targets import DeadLink, resolve_link
from roamtui.document.plain import plain_line, shorten

_BACKWARD = re.compile(
    r"(?:however|also|additionally|furthermore|moreover|otherwise|instead|therefore|thus|likewise|similarly|besides"
    r"|consequently|nevertheless|alternatively|in addition|on the other hand|for the same reason"
    r"|as (?:mentioned|described|noted|said|shown|seen|stated|discussed|explained)(?: above| before| earlier)?),",
    re.IGNORECASE,
)
_SENTENCE_END = (".", "!", "?", ":", ")", ";", '"', "”", "。")
_LETTERS_MIN = 0.9
"""Share of letters and spaces in a passage that is no code."""
_DUPLICATE_WORDS_MIN = 40
_SHOWN = 60
_ANCHOR_LENGTH_MIN = 8
"""Letters of a heading that is taken for the end of an anchor, where a tool puts more before it."""
_SUFFIXES = (".md", ".mdx", ".markdown", ".txt", ".rst", ".html")
_TARGET = re.compile(r"""(?:\b(?:id|name)\s*=\s*["']?|\{:?\s*#|^\()([^\s"'>})]+)""", re.MULTILINE)
_NO_ALNUM = re.compile(r"[\W_]+")


def find_unsaid(facts: Facts) -> Iterator[Finding]:
    """Yield sections that begin with words that lean on what stands before, or that neither title nor words name."""
    for passage in facts.passages:
        is_read = passage.is_first and not passage.place.document.page_starts
        lean = _BACKWARD.match(passage.text) if is_read else None
        if lean is not None and passage.place.title:
            yield Finding(passage.place, f"{passage.place.quoted} begins with “{plain_line(lean.group())}”")


def find_duplicates(facts: Facts) -> Iterator[Finding]:
    """Yield long passages that stood before; those that follow each other as they did there are one finding."""
    first: dict[str, int] = {}
    copies: dict[int, list[int]] = defaultdict(list)
    previous = (-2, -2)
    for number, passage in enumerate(facts.passages):
        if not _is_long(passage.text):
            continue
        origin = first.setdefault(passage.text, number)
        if origin == number:
            continue
        if previous == (number - 1, origin - 1):
            previous = (number, origin)
            continue
        previous = (number, origin)
        copies[origin].append(number)
    for origin, numbers in copies.items():
        passage, copy = facts.passages[origin], facts.passages[numbers[0]]
        more = f" and {len(numbers) - 1} more times" if len(numbers) > 1 else ""
        words = shorten(plain_line(passage.text), _SHOWN)
        message = f"“{words}” stands also under {copy.place.quoted}, {_name_line(copy.place)}{more}"
        yield Finding(passage.place, message, count=len(numbers))


def _is_long(text: str) -> bool:
    """Return whether a passage is long enough to be a copy, and none of code."""
    if len(text.split()) < _DUPLICATE_WORDS_MIN or not text.endswith(_SENTENCE_END):
        return False
    return sum(one.isalnum() or one.isspace() for one in text) >= _LETTERS_MIN * len(text)


def find_nameless_columns(facts: Facts) -> Iterator[Finding]:
    """Yield tables whose columns have no names."""
    for place, has_names in facts.tables:
        if not has_names:
            yield Finding(place, f"the columns of a table under {place.quoted} have no names")


def find_undescribed(facts: Facts) -> Iterator[Finding]:
    """Yield images without a description."""
    for place, is_described in facts.images:
        if not is_described:
            yield Finding(place, f"an image under {place.quoted} has no description")


def find_dead_links(facts: Facts) -> Iterator[Finding]:
    """Yield links to headings and files that are not in the source."""
    library = facts.library
    targets = {id(document): _read_targets(document) for document in library.documents}
    for place, href in facts.links:
        end = resolve_link(href, library, place.section_id)
        if isinstance(end, DeadLink) and _is_within(href, place, library, targets[id(place.document)]):
            yield Finding(place, f"a link under {place.quoted} leads nowhere: {shorten(plain_line(href), _SHOWN)}")


def _read_targets(document: Document) -> frozenset[str]:
    """Return the anchors of a document by their letters and digits: those of headings, and of HTML and attributes."""
    named = (match.group(1) for match in _TARGET.finditer(str(document.text)))
    return frozenset(_NO_ALNUM.sub("", name).casefold() for name in (*document.anchors, *named))


def _is_within(href: str, place: Place, library: Library, targets: frozenset[str]) -> bool:
    """Return whether a link that leads nowhere was meant for something that the source should have."""
    parts = urlsplit(href.strip())
    if parts.scheme or parts.netloc or parts.path.startswith("/") or parts.fragment.startswith("sec-"):
        return False  # elsewhere, a path of the site that the source becomes, or an anchor that a tool makes
    if not parts.path:
        wanted = _NO_ALNUM.sub("", unquote(parts.fragment)).casefold()
        return (
            bool(wanted)
            and wanted not in targets
            and not wanted.endswith(tuple(one for one in targets if len(one) >= _ANCHOR_LENGTH_MIN))
        )
    if not library.root.columns.has_files or not os.path.isdir(library.source):  # noqa: PTH112 - never raises
        return False
    path = posixpath.normpath(posixpath.join(posixpath.dirname(place.document.key), unquote(parts.path)))
    suffix = posixpath.splitext(parts.path)[1].lower()
    is_named = suffix in _SUFFIXES or (not suffix and "/" in parts.path)  # a bare word may be a label of another tool
    if path.startswith("..") or not is_named:
        return False
    return not Path(library.source, path).exists()


def _name_line(place: Place) -> str:
    text = place.document.text[: place.offset]
    return f"{place.document.key and f'{place.document.key} '}line {text.count(chr(10)) + 1}"
