"""The tree over several documents: parents, children, and ids that never collide."""

from hashlib import blake2b
from itertools import permutations

import pytest

from roamtui.document import document as module
from roamtui.document.document import Document, NodeKind, NodeRow, make_columns
from roamtui.document.library import Library
from roamtui.document.parse import parse_document

_LISTING = "# Site\n\n- [A](a.md)\n- [B](b.md)\n- [C](c.md)\n"
_PAGES = {
    "a.md": "# Alpha\n\nText of alpha.\n\n## Part\n\nPart of alpha.\n",
    "b.md": "Before.\n\n# Beta\n\nText of beta.\n",
    "c.md": "# Gamma\n",
}


def _list_links() -> Library:
    """Return a page of three links that are not loaded yet, below one heading."""
    rows = [NodeRow(NodeKind.SECTION, 1, "Site", 0)]
    rows += [
        NodeRow(NodeKind.LINK, 2, page[0].upper(), _LISTING.index(f"- [{page[0].upper()}]"), url=page)
        for page in _PAGES
    ]
    columns = make_columns(rows, len(_LISTING))
    return Library(source="site", root=Document(key="", title="Site", text=_LISTING, columns=columns))


def _load(library: Library, *pages: str) -> Library:
    """Return the library with these pages below their links."""
    for page in pages:
        link = next(node_id for node_id in library.walk() if library.node(node_id).url == page)
        library = library.graft_all({link: parse_document(_PAGES[page], key=page)})
    return library


def _titles(library: Library) -> list[str]:
    return [library.node(node_id).title for node_id in library.walk()]


@pytest.mark.parametrize("order", list(permutations(_PAGES)))
def test_of_colliding_files_the_later_by_key_is_salted(order: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    def collide(doc: str, path: tuple[str, ...], ordinal: int, *salt: str) -> str:
        if doc and len(path) == 1:
            return "0badc0de" if not salt else f"{salt[0]:0>8}"
        return blake2b("\x1f".join([doc, *path, str(ordinal), *salt]).encode(), digest_size=4).hexdigest()

    monkeypatch.setattr(module, "make_node_id", collide)
    pages = {page: text.replace("Before.\n\n", "") for page, text in _PAGES.items()}
    monkeypatch.setattr("tests.document.test_library._PAGES", pages)
    library = _load(_list_links(), *order)
    found = {library.node(node_id).title: node_id for node_id in library.walk()}
    assert (found["Alpha"], found["Beta"], found["Gamma"]) == ("0badc0de", "00000001", "00000002")
    assert len(set(library.walk())) == len(library)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Intro\n\n# T\n\n## A\n", "T"),
        ("# T\n", None),
        ("# T\n\n## A\n\n# U\n", None),
        ("## T\n\n### A\n", None),
        ("", None),
    ],
)
def test_a_single_h1_that_holds_everything_is_the_title(text: str, title: str | None) -> None:
    library = Library(source="x", root=parse_document(text))
    title_id = library.title_id
    assert (library.node(title_id).title if title_id else None) == title


def test_each_character_belongs_to_the_section_whose_own_text_holds_it() -> None:
    library = _load(_list_links(), *_PAGES)
    for document in library.documents:
        for offset in range(len(document.text)):
            section_id = library.find_node_at(document.key, offset)
            assert section_id is not None
            span = library.node(section_id).own_span
            assert span.doc == document.key
            assert span.start <= offset < span.end
