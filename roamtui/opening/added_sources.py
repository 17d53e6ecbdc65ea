"""Add sources to a library. The ids of all other sections stay the same.

The root of such a library is a listing. The documents of the first source keep their keys: a single document,
whose key is empty, is grafted below a file row, and the rows of a folder stay at the top. Each added source
is one row at the top, a file or a folder, whose title is the source's key. The keys of the source's files
begin with this key, so that ids never depend on other sources.
"""

from collections.abc import Callable, Iterable
from itertools import chain, count

from msgspec.structs import replace

from roamtui.document.document import Document, NodeKind, NodeRow, make_columns
from roamtui.document.library import LISTING_KEY, Library, LibrarySource
from roamtui.errors import RoamtuiError
from roamtui.opening.loader import Loader, OpenedSource, make_error_document, merge_loaders
from roamtui.sources.source_names import format_file_names, make_short_name

SourceOpener = Callable[[str], OpenedSource]
"""Opens a source by its name, with all its files. Called in a thread. Raises `RoamtuiError`."""


def list_sources_of(library: Library) -> tuple[LibrarySource, ...]:
    """List the sources of a library. If none was added, this is only the source that it was opened with."""
    is_single = not library.sources and library.root.key != LISTING_KEY
    return (LibrarySource(name=library.source, key=""),) if is_single else library.sources


def list_sources_with(library: Library, name: str) -> tuple[LibrarySource, ...]:
    """List the sources of a library and one more, whose key is its short name, numbered if that is taken."""
    source = LibrarySource(name=name, key=make_short_name(name))
    return (*list_sources_of(library), _assign_key(library, source))


def _assign_key(library: Library, source: LibrarySource) -> LibrarySource:
    """Return a source that is to be added, with its key, or a new one if a row at the top has this title."""
    taken = {each.title for each in list_sources_of(library)}
    if library.root.columns.is_listing:
        taken |= {library.node(row_id).title for row_id in library.children(library.root_id)}
    short = make_short_name(source.name)
    keys = chain((source.key,), (short,), (f"{short} ({number})" for number in count(2)))
    return replace(source, key=next(key for key in keys if key not in taken))


def add_source(library: Library, source: LibrarySource, added: Library) -> Library:
    """Return `library` with one more source, whose documents are in `added`. The ids of all other nodes stay.

    In `added`, documents may be grafted only below nodes of its root.
    """
    library = _wrap_in_listing(library)
    root = library.root
    row_count = len(library.root.columns)
    sources = (*library.sources, source)
    is_listing = added.root.columns.is_listing
    notes = added.root.notes if is_listing else ()
    left_out = added.root.left_out if is_listing else ()
    grown_root = replace(
        root,
        title=format_file_names([part.title for part in sources]),
        columns=make_columns([*root.columns.list_rows(), *_make_source_rows(source, added)], 0),
        notes=tuple(dict.fromkeys((*root.notes, *notes))),
        left_out=tuple(dict.fromkeys((*root.left_out, *left_out))),
    )
    grown = replace(
        library, root=grown_root, sources=sources, summaries={**library.summaries, **added.summaries}
    )
    if is_listing:
        ids = grown_root.ids[row_count + bool(source.key) :]
    else:
        host = grown_root.ids[row_count]
        grown = grown.graft_all({host: replace(added.root, key=source.key)})
        ids = grown.grafts[host].ids
    new_ids = dict(zip(added.root.ids, ids, strict=True))
    documents = {}
    for node_id, document in added.grafts.items():
        is_file = source.key and added.node(node_id).kind is NodeKind.FILE  # the key of a page is its URL
        key = f"{source.key}/{document.key}" if is_file else document.key
        documents[new_ids[node_id]] = replace(document, key=key)
    return grown.graft_all(documents)


def open_all(sources: Iterable[LibrarySource], opener: SourceOpener, source_name: str) -> OpenedSource:
    """Open sources as one library called `source_name`. If a source fails, an empty document says why."""
    root = Document(key=LISTING_KEY, title="", text="", columns=make_columns((), 0))
    return _add_all(Library(source=source_name, root=root), None, sources, opener)


def restore_sources(
    library: Library, loader: Loader | None, wanted: tuple[LibrarySource, ...], opener: SourceOpener
) -> OpenedSource:
    """Return a library with only the `wanted` sources, and its loader. If none are wanted, the first stays.

    Sources are read again only if one was taken out. If one cannot be opened, an empty document says why.
    """
    wanted = wanted or (LibrarySource(name=library.source, key=""),)
    opened = list_sources_of(library)
    if wanted[: len(opened)] == opened:
        return _add_all(library, loader, wanted[len(opened) :], opener)
    if wanted[0].key:
        return open_all(wanted, opener, library.source)
    if library.root.key == LISTING_KEY:  # a single document, perhaps from standard input
        root = library.grafts[library.root.ids[0]]
        library = replace(library, root=root, grafts={}, aliases={}, sources=())
    else:
        library, loader = opener(library.source)
    return _add_all(library, loader, wanted[1:], opener)


def _add_all(
    library: Library, loader: Loader | None, sources: Iterable[LibrarySource], opener: SourceOpener
) -> OpenedSource:
    for saved in sources:
        source = _assign_key(library, saved)  # the folder may have a new file of this name
        added_loader: Loader | None = None
        try:
            added, added_loader = opener(source.name)
        except RoamtuiError as error:
            added = Library(source=source.name, root=make_error_document("", str(error), is_page=False))
        library = add_source(library, source, added)
        loader = merge_loaders(loader, source.key, added_loader)
    return OpenedSource(library, loader)


def _wrap_in_listing(library: Library) -> Library:
    root = library.root
    if library.sources or root.key == LISTING_KEY:
        return library
    sources = list_sources_of(library)
    if root.columns.is_listing:
        return replace(library, sources=sources)
    columns = make_columns([NodeRow(NodeKind.FILE, 1, make_short_name(library.source), 0)], 0)
    listing = Document(key=LISTING_KEY, title=root.title, text="", columns=columns)
    return replace(library, root=listing, grafts={listing.ids[0]: root, **library.grafts}, sources=sources)


def _make_source_rows(source: LibrarySource, added: Library) -> list[NodeRow]:
    columns = added.root.columns
    if not columns.is_listing:
        return [NodeRow(NodeKind.FILE, 1, source.title, 0)]
    if not source.key:
        return columns.list_rows()
    below = (replace(row, level=row.level + 1) for row in columns.list_rows())
    return [NodeRow(NodeKind.FOLDER, 1, source.key, 0), *below]
