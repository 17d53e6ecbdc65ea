"""Resolve what a model or a person calls a section: an id, a title, a path, or something similar."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from roamtui.document.document import NodeKind
from roamtui.document.library import Library, normalise_name
from roamtui.errors import UnknownSectionError, UsageError
from roamtui.outline.coverage import format_absence, measure_coverage
from roamtui.outline.ids import Reference, parse_reference
from roamtui.outline.labels import PATH_STEP, PLAIN_PATH_STEP, format_path
from roamtui.outline.structure import get_canonical_id
from roamtui.sanitiser import sanitise_line
from roamtui.text import shorten

_CANDIDATES_MAX = 10_000
"""Maximum number of titles to compare. This takes up to 50 ms, during which no other thread runs."""
_SCORE_MIN = 62.0
"""Minimum similarity of a suggested title. A short name reaches 60 in any long title with its letters."""
_SUGGESTED_MAX = 3
_TITLE_CONTINUES = re.compile(r"[.,:/'’-]?\w")
"""Matches after "Article 7" in "Article 70", "Article 7.1" and "Article 7-A", which are other articles."""
SECTION_WORD = re.compile(r"(?:sub)?(?:section|clause|paragraph|chapter)s?|abschnitt|ziffer|kapitel|§+")
"""Words before a number in references, such as "Section 2.6". Titles seldom have them."""
_NUMBERED = re.compile(rf"\A(?:{SECTION_WORD.pattern}) ?(?=\d)")
_OWN_NUMBER = re.compile(r"\A\d+(?:\.\d+)*[.)]? ")
"""The number before the words of a title: "1. Introduction" is "Introduction" too."""


def resolve_reference(library: Library, text: str) -> Reference | None:
    """Resolve an id of any form, or what `resolve_name` accepts. An unknown id is returned as it is."""
    reference = parse_reference(text)
    if reference is not None and is_known(library, reference.section_id):
        return reference
    section_id = resolve_name(library, text)
    return reference if section_id is None else Reference(section_id=section_id)


def resolve_section(library: Library, name: str) -> Reference:
    """Resolve what a person calls a section, as `resolve_reference` does, to a section that exists.

    Raises:
        UnknownSectionError: No section has this name. The message names the nearest.
        UsageError: More than one section has this name.
    """
    reference = resolve_reference(library, name)
    if reference is None:
        similar = suggest_ids(library, name)
        nearest = ", ".join(f"[{node_id}] {format_path(library, node_id)}" for node_id in similar)
        rest = " or another one" if len(list_named(library, name)) > len(similar) else ""
        hint = f" Did you mean {nearest}{rest}?" if nearest else " The outline lists the titles."
        problem = f"{explain_unresolved(library, name)}{hint}"
        if list_named(library, name):
            raise UsageError(problem)
        raise UnknownSectionError(name, problem)
    is_root = reference.section_id == library.root_id and reference.part is None
    if not is_root and reference.section_id not in library:
        raise UnknownSectionError(name)
    return reference


def is_known(library: Library, section_id: str) -> bool:
    """Return whether an id names a section or the whole library."""
    return section_id in library or section_id == library.root_id


def resolve_name(library: Library, text: str) -> str | None:
    """Return the only section with this title, file name or path (``guide.md > Install``), or None.

    If no section has it, the first words of a title are enough, if only one title begins with them. The path
    or file name of the library is its root.
    """
    named = list_named(library, text)
    if len(named) == 1:
        return named[0]
    source = Path(library.source)
    is_root = not named and text in (library.source, str(source.absolute()), source.name)
    return library.root_id if is_root else None


def explain_unresolved(library: Library, name: str) -> str:
    """Say in a sentence that several sections have a name, or that no section that was read has it."""
    count = len(list_named(library, name))
    shown = shorten(sanitise_line(name), 80)
    if count <= 1:
        coverage = replace(measure_coverage(library), left_out=())  # text that was left out has no sections
        return format_absence(coverage, f'no section is called "{shown}"')
    rest = "" if _split_name(name)[-1] in library.ids_by_name else " …"
    return f'{count} sections are called "{shown}{rest}".'


def _split_name(text: str) -> list[str]:
    return [normalise_name(part) for part in text.replace(PATH_STEP, PLAIN_PATH_STEP).split(PLAIN_PATH_STEP)]


def list_named(library: Library, text: str) -> list[str]:
    """List the sections with a name or path, or else with a title that begins with these words."""
    *above, last = _split_name(text)
    names = [last]
    if last and last not in library.ids_by_name:
        names = [name for name in library.ids_by_name if _OWN_NUMBER.sub("", name) == last]
        for start in (last, _NUMBERED.sub("", last)):
            longer = (name for name in library.ids_by_name if name.startswith(start))
            names = names or [name for name in longer if not _TITLE_CONTINUES.match(name, len(start))]
    named: dict[str, None] = {}
    for section_id in (found for name in names for found in library.ids_by_name.get(name, ())):
        # The nodes above must have the other names in this order. The iterator skips the nodes between them.
        nodes = map(library.node, library.node(section_id).ancestors)
        titles = iter([normalise_name(node.title) for node in nodes])
        if all(any(name in (title, title.rpartition(".")[0]) for title in titles) for name in above):
            named[get_canonical_id(library, section_id)] = None
    return [*named]


def suggest_ids(library: Library, requested: str) -> tuple[str, ...]:
    """Return the ids of up to 3 sections with this name, or else with a similar title."""
    if named := list_named(library, requested):
        return tuple(named[:_SUGGESTED_MAX])
    wanted = sanitise_line(requested)[:200].strip("[]\"'` ")
    ids: list[str] = []
    titles: list[str] = []
    for document, first, end in library.iter_runs():
        last = min(end, first + _CANDIDATES_MAX - len(ids))
        ids += document.ids[first:last]
        titles += document.columns.titles[first:last]
    return tuple(ids[index] for index, score in _rank_similar(wanted, titles) if score >= _SCORE_MIN)


def suggest_unread_pages(library: Library, query: str) -> tuple[str, ...]:
    """Return the ids of up to 3 links to unread pages, those with titles most similar to `query`."""
    unread = [*_iter_unread_pages(library)]
    titles = [library.node(page_id).title for page_id in unread]
    return tuple(unread[index] for index, _ in _rank_similar(query, titles))


def has_unread_pages(library: Library) -> bool:
    """Return whether a link of the library leads to a page that was not read."""
    return next(_iter_unread_pages(library), None) is not None


def _iter_unread_pages(library: Library) -> Iterator[str]:
    for document in library.documents:
        for row, kind in enumerate(document.columns.kinds):
            if kind is NodeKind.LINK and not library.node(document.ids[row]).is_loaded:
                yield document.ids[row]


def _rank_similar(wanted: str, texts: Sequence[str]) -> list[tuple[int, float]]:
    """Return the positions of up to 3 texts similar to `wanted`, best first, with scores up to 100."""
    from rapidfuzz import fuzz, process  # noqa: PLC0415 - few questions need it

    ranked = process.extract(wanted, texts, scorer=fuzz.WRatio, limit=_SUGGESTED_MAX)
    return [(index, score) for _, score, index in ranked]
