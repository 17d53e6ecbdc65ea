"""Resolves the links that a person follows in the reader: footnotes, wikilinks, and other files on this machine."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from roamtui.document.document import make_anchor
from roamtui.document.library import Library
from roamtui.document.link_targets import (
    DeadLink,
    SectionLink,
    WebLink,
    find_anchored_section,
    list_candidate_paths,
    resolve_link,
)
from roamtui.document.node import NodeKind, Span
from roamtui.sources.file_sources import is_multi_file
from roamtui.sources.listing import is_document_name, is_skipped_folder

_ENTRIES_MAX = 5_000
"""Maximum number of files to search for the file of a wikilink, or for similar names."""
_NEAREST_MAX = 5
_SIMILARITY_MIN = 0.5
_NO_FILES = "Links in answers do not open files."
_HEAD_LENGTH = 4_000
"""Number of bytes at the start of a file that show whether it is text."""
_FOOTNOTE_INDENT_MAX = 3


@dataclass(frozen=True, slots=True)
class FileLink:
    """A link to a file on this machine that is not part of the library."""

    path: Path
    """With symbolic links resolved."""
    fragment: str
    is_outside: bool
    """Whether it is outside the opened folder, or outside the folder of the opened file."""


@dataclass(frozen=True, slots=True)
class GuessedLink:
    """A link whose file does not exist, and the heading of this document that it probably means."""

    section_id: str
    note: str
    """One sentence for the person."""


@dataclass(frozen=True, slots=True)
class LostLink(DeadLink):
    """A dead link, with similar links that work."""

    nearest: tuple[str, ...]


ReaderLink = SectionLink | WebLink | DeadLink | FileLink | GuessedLink


def get_source_file(library: Library, section_id: str) -> Path | None:
    """Return the file on this machine that contains a section, or None, for instance for a section of an archive."""
    source, doc = Path(library.source), library.node(section_id).doc
    if (added := library.source_of(section_id)) is not None:
        source = Path(added.name)
        doc = "" if source.is_file() else doc.removeprefix(f"{added.key}/")
        if not doc:
            return None if is_multi_file(source) else source
    if not library.root.columns.has_files:
        return source if source.is_file() and not doc else None
    file = source / doc
    return file if source.is_dir() and file.is_file() else None


def resolve_reader_link(href: str, library: Library, section_id: str, *, with_files: bool = True) -> ReaderLink:
    """Resolve a link in a section. `with_files` allows links to files that are not part of the library."""
    if href.startswith("[^"):
        return _resolve_footnote(href, library, section_id)
    if href.startswith("[["):
        return _resolve_wikilink(href, library, section_id, with_files=with_files)
    resolved = resolve_link(href, library, section_id)
    if not isinstance(resolved, DeadLink):
        return resolved
    with suppress(ValueError):
        parts = urlsplit(href.strip())
        if not parts.scheme and not parts.netloc:
            path, fragment = unquote(parts.path), unquote(parts.fragment)
            if path:
                return _resolve_path(path, fragment, library, section_id, with_files=with_files)
            return find_fragment(library, section_id, fragment) or _make_lost_anchor(fragment, library, section_id)
    return resolved


def find_fragment(library: Library, section_id: str, fragment: str) -> SectionLink | None:
    """Find the heading or HTML element that a fragment names in the document of a section.

    The fragment is an anchor or the title of a heading.
    """
    document, _ = library.locate(section_id)
    row = document.anchors.get(fragment.lower(), document.anchors.get(make_anchor(fragment)))
    if row is not None:
        return SectionLink(document.ids[row])
    if not fragment:
        return None
    name = re.escape(fragment)  # an id in braces after a heading, or the id or name of an HTML element
    match = re.search(rf"\{{[^{{}}\n]*#{name}[ }}]|\b(?:id|name)=[\"']?{name}[\"'\s>]", document.text[:])
    target_id = library.section_at(document.key, match.start()) if match else None
    if match is None or target_id is None:
        return None
    return SectionLink(target_id, Span(doc=document.key, start=match.start(), end=match.end()))


def _make_lost_anchor(fragment: str, library: Library, section_id: str) -> LostLink:
    nearest = _list_nearest(fragment, library.locate(section_id)[0].anchors)
    return LostLink(f'No heading with the anchor "#{fragment}".', tuple(f"#{name}" for name in nearest))


def _resolve_path(path: str, fragment: str, library: Library, section_id: str, *, with_files: bool) -> ReaderLink:
    own_file, root = _get_own_file(library, section_id)
    if own_file is not None and (file := _find_file(own_file.parent, root, path)) is not None:
        if file == own_file.resolve():
            return find_fragment(library, section_id, fragment) or SectionLink(section_id)
        return _make_file_link(file, fragment, root) if with_files else DeadLink(_NO_FILES)
    stem = posixpath.basename(path.rstrip("/")).partition(".")[0]
    for anchor in filter(None, (fragment, stem)):
        if not library.root.columns.has_files and (target := find_anchored_section(library, section_id, anchor)):
            return GuessedLink(target, f'No file "{path}" here. This heading has the name that the link gives.')
    nearest = _list_nearest(path, _list_linkable_files(library, own_file, section_id))
    suffix = f"#{quote(fragment)}" if fragment else ""
    return LostLink(f'No file "{path}" here.', tuple(quote(name) + suffix for name in nearest))


def _make_file_link(file: Path, fragment: str, root: Path) -> FileLink | DeadLink:
    """Return a link to a file or folder, or a dead link if it cannot be read or is a binary file of unknown format."""
    with suppress(OSError):
        if file.is_file() and not is_document_name(file.name):
            with file.open("rb") as opened:
                if b"\0" in opened.read(_HEAD_LENGTH):
                    return DeadLink(f"{file.name} is not a document. Open it in its own program: {file}")
        return FileLink(file, fragment, is_outside=not file.is_relative_to(root.resolve()))
    return DeadLink(f"{file} cannot be read.")


def _find_file(folder: Path, root: Path, path: str) -> Path | None:
    """Find the file or folder that a path leads to, with symbolic links resolved."""
    bases = (root / path.lstrip("/"), Path(path)) if path.startswith("/") else (folder / path,)
    with suppress(OSError, ValueError, RuntimeError):  # a name that is too long, a NUL, a loop of links
        for base in bases:
            for candidate in map(Path, list_candidate_paths(str(base))):
                if candidate.is_file():
                    return candidate.resolve()
            if base.is_dir():
                return base.resolve()
    return None


def _get_own_file(library: Library, section_id: str) -> tuple[Path | None, Path]:
    """Return the file that contains a section, and the folder that was opened, or that contains the opened file."""
    file = get_source_file(library, section_id)
    added = library.source_of(section_id)
    source = Path(library.source if added is None else added.name)
    is_folder = library.root.columns.has_files if added is None else source != file
    return file, source if is_folder or file is None else file.parent


def _resolve_wikilink(href: str, library: Library, section_id: str, *, with_files: bool) -> ReaderLink:
    """Resolve a link such as `[[Name#Part]]`: to a file with this name anywhere, or to a heading of this document."""
    name, _, part = href.strip("[]").partition("#")
    name, part = name.strip(), part.rpartition("#")[2].strip()
    if not name:
        return find_fragment(library, section_id, part) or _make_lost_anchor(part, library, section_id)
    wanted = name.casefold()
    if library.root.columns.has_files:
        paths = ("/".join(path) for path in library.root.columns.paths())
        matching = [
            (path.count("/"), path, row_id)
            for path, row_id in zip(paths, library.root.ids, strict=True)
            if library.node(row_id).kind is NodeKind.FILE and wanted in _list_wiki_names(path)
        ]
        if matching:
            file_id = min(matching)[2]
            document = library.loaded_document(file_id)
            found = find_fragment(library, document.ids[0], part) if part and document and document.ids else None
            return found or SectionLink(file_id)
    if target := find_fragment(library, section_id, part or name):
        return target
    own_file, root = _get_own_file(library, section_id)
    files = _walk_files(root) if with_files and own_file is not None else ()
    if found_path := next((path for path in files if wanted in _list_wiki_names(path)), None):
        return _make_file_link((root / found_path).resolve(), part, root)
    names = [posixpath.splitext(path)[0] for path in _list_linkable_files(library, own_file, section_id)]
    nearest = _list_nearest(name, names)
    return LostLink(f'No file or heading "{name}" here.', tuple(f"[[{near}]]" for near in nearest))


def _list_wiki_names(path: str) -> tuple[str, ...]:
    """Return the forms of a wikilink to a file: its path or its name, with or without the suffix."""
    folded = path.casefold()
    stem = posixpath.splitext(folded)[0]
    return folded, stem, posixpath.basename(folded), posixpath.basename(stem)


def _list_linkable_files(library: Library, own_file: Path | None, section_id: str) -> list[str]:
    """List the files that a link in a section may lead to, relative to the file that contains the section."""
    if library.root.columns.has_files:
        start = posixpath.dirname(library.node(section_id).doc) or "."
        paths = ("/".join(path) for path in library.root.columns.paths())
        return [posixpath.relpath(path, start) for path in paths if posixpath.splitext(path)[1]]
    return [path for path in _walk_files(own_file.parent) if is_document_name(path)] if own_file is not None else []


def _walk_files(folder: Path) -> Iterator[str]:
    """Yield the paths of files below a folder, relative to it, without following symbolic links."""

    def walk() -> Iterator[str]:
        for parent, folders, files in os.walk(folder):
            folders[:] = sorted(name for name in folders if not is_skipped_folder(name))
            yield from (Path(parent, name).relative_to(folder).as_posix() for name in sorted(files))

    return islice(walk(), _ENTRIES_MAX)


def _list_nearest(name: str, names: Iterable[str]) -> list[str]:
    by_folded = {known.casefold(): known for known in islice(names, _ENTRIES_MAX)}
    matches = get_close_matches(name.casefold(), by_folded, _NEAREST_MAX, _SIMILARITY_MIN)
    return [by_folded[match] for match in matches]


def _resolve_footnote(mark: str, library: Library, section_id: str) -> SectionLink | DeadLink:
    """Resolve the mark `[^1]` to its footnote, and `[^1]:`, which starts the footnote, to the first mark."""
    document, _ = library.locate(section_id)
    name = mark.removesuffix(":")
    text = document.text
    pattern = (
        rf"(?P<indent>(?:\A|(?<=[\r\n]))[^\S\r\n]{{0,{_FOOTNOTE_INDENT_MAX}}})?(?P<mark>{re.escape(name)})(?P<colon>:)?"
    )
    for match in re.finditer(pattern, text[:], re.IGNORECASE):
        start, end = match.span("mark")
        is_note = match["indent"] is not None and match["colon"] is not None
        target_id = library.section_at(document.key, start) if is_note != mark.endswith(":") else None
        if target_id is not None:
            return SectionLink(target_id, Span(doc=document.key, start=start, end=end))
    return DeadLink(f"Footnote {name} is not referenced." if name != mark else f"No footnote {name}.")
