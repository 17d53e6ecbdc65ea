"""How much of a library was read, and the one function that says that something is not in it.

A person takes "not found" for a fact about the whole document, so each such sentence names what was read and
what was not.
"""

from collections import defaultdict
from collections.abc import Iterable

from msgspec import Struct

from roamtui.document.document import LOADED_ON_DEMAND, Document, NodeKind
from roamtui.document.library import Library
from roamtui.outline.labels import escape, format_node_title
from roamtui.text import format_count, shorten

_NAMED_MAX = 3
"""Maximum number of pages, problems or kinds of text that a sentence names."""
_TITLE_LENGTH_MAX = 80
_UNITS = {frozenset((NodeKind.LINK,)): "page", frozenset((NodeKind.FILE,)): "file"}


class Coverage(Struct, frozen=True, kw_only=True):
    """How much of a library, or of one of its sections, was read."""

    section: str = ""
    """Title of the section; empty for the whole library."""
    unit: str = "document"
    """What is counted: a page of a site, a file of a folder, or a document if there are both."""
    total: int = 0
    """Number of pages and files; 0 for a single document."""
    unread: tuple[str, ...] = ()
    """Titles of the pages that nobody has opened yet."""
    failed: tuple[str, ...] = ()
    """For each page that could not be opened, a sentence that says why."""
    left_out: tuple[str, ...] = ()
    """What is in the documents, but not in the text that was read, such as "hidden text in 2 pages"."""

    @property
    def read(self) -> int:
        """Number of pages and files that were read."""
        return self.total - len(self.unread) - len(self.failed)

    @property
    def scope(self) -> str:
        """What was read, in words that may follow "in"."""
        if self.read < self.total:
            of_all = f"of {format_count(self.total, self.unit)} read so far"
            return f"the {self.read:,} {of_all}" if self.read else f"the list of {self.unit}s"
        if self.left_out:
            return "the text that was read"
        if self.section:
            return f"“{self.section}”"
        return f"the {self.total:,} {self.unit}s" if self.total > 1 else "the document"

    @property
    def gaps(self) -> str:
        """What was not read, and what to do about it, in sentences; empty if everything was read."""
        sentences: list[str] = []
        if count := len(self.unread):
            names = f" ({', '.join(self.unread)})" if count <= _NAMED_MAX else ""
            verb = "was" if count == 1 else "were"
            advice = "To search one too, name it or open it."
            sentences.append(f"{format_count(count, self.unit)} {verb} not read{names}. {advice}")
        if count := len(self.failed):
            reasons = " ".join(self.failed[:_NAMED_MAX])
            sentences.append(f"{format_count(count, self.unit)} could not be read: {reasons}")
        if self.left_out:
            sentences.append(f"Left out of the text: {'; '.join(self.left_out[:_NAMED_MAX])}.")
        return " ".join(sentences)


def format_absence(coverage: Coverage, *clauses: str) -> str:
    """Say that something is not in what was read, and what was not read.

    Each of the `clauses` lacks only the place: "nothing was found", "“Fabrikam” does not occur". Not all may
    be empty.
    """
    first, *others = filter(None, clauses)
    sentences = [f"{first} in {coverage.scope}.", *(f"{other} there." for other in others), coverage.gaps]
    return " ".join(filter(None, sentences))


def measure_coverage(library: Library, within: str | None = None) -> Coverage:
    """Measure how much was read of a library, or of the section `within` with everything below it."""
    loaded = [document for document in library.documents if not document.problem]
    loaded_urls = {url for document in loaded for url in (document.key, document.url)}
    documents: dict[int, Document] = {}
    kinds: set[NodeKind] = set()
    known: set[str] = set()
    unread: list[str] = []
    failed: list[str] = []
    for document, first, end in library.iter_runs(within):
        documents[id(document)] = document
        columns = document.columns
        has_others = columns.is_listing or NodeKind.LINK in columns.kinds
        for row in range(first, end) if has_others else ():
            section_id = document.ids[row]
            name = columns.urls[row] or section_id  # several links may lead to the same page
            if columns.kinds[row] not in LOADED_ON_DEMAND or name in known:
                continue
            known.add(name)
            kinds.add(columns.kinds[row])
            other = library.grafts.get(section_id)
            if other is not None and other.problem:
                failed.append(escape(other.problem))
            elif other is None and name not in loaded_urls:
                unread.append(shorten(escape(columns.titles[row]), _TITLE_LENGTH_MAX))
    return Coverage(
        section="" if within is None else format_node_title(library.node(within)),
        unit=_UNITS.get(frozenset(kinds), "document"),
        total=len(known),
        unread=tuple(unread),
        failed=tuple(failed),
        left_out=_list_left_out(documents.values() if within else loaded),
    )


def _list_left_out(documents: Iterable[Document]) -> tuple[str, ...]:
    """List the kinds of text that documents leave out, each with its document or the number of documents."""
    keys: dict[str, list[str]] = defaultdict(list)
    for document in documents:
        for kind in document.left_out:
            keys[kind].append(document.key)
    shown: list[str] = []
    for kind, names in keys.items():
        place = names[0] if len(names) == 1 else f"{len(names):,} documents"
        shown.append(f"{kind} in {escape(place)}" if place else kind)
    return tuple(shown)
