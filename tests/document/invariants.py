"""Invariants of every parsed document, computed in the slow and obvious way."""

import re
from hashlib import blake2b

from roamtui.document.document import Document, NodeKind
from roamtui.document.library import Library, Node

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")


def list_nodes(document: Document) -> list[Node]:
    library = Library(source="test", root=document)
    return [library.node(section_id) for section_id in library.walk()]


def read_sections(document: Document) -> list[tuple[int, str, int]]:
    """Return level, title with its anchor and 1-based line of each heading of a parsed document."""
    get_line_range = Library(source="test", root=document).get_line_range
    titled = zip(list_nodes(document), document.columns.titles, strict=True)
    return [
        (node.level, title, get_line_range(node.span)[0]) for node, title in titled if node.kind is NodeKind.SECTION
    ]


def assert_is_lossless(document: Document) -> None:
    """Own texts join to the source, subtrees are the joined own texts of their nodes, lines fit the texts."""
    library = Library(source="test", root=document)
    nodes = list_nodes(document)
    own_texts = [library.text_at(node.own_span) for node in nodes]
    assert "".join(own_texts) == document.text
    line, ends = 1, []
    for node, own_text in zip(nodes, own_texts, strict=True):
        assert library.get_line_range(node.span).first_line == line
        line += len(_LINE.findall(own_text))
        ends.append(max(library.get_line_range(node.span).first_line, line - 1))
    for index, node in enumerate(nodes):
        end = document.columns.ends[index]
        assert library.text_at(node.span) == "".join(own_texts[index:end])
        own_place, place = map(library.get_line_range, (node.own_span, node.span))
        assert (own_place.last_line, place.last_line) == (ends[index], ends[end - 1])


def assert_is_nested(document: Document) -> None:
    """A section's parent is the nearest shallower one before it, and its path ends with its title."""
    nodes = list_nodes(document)
    before: list[Node] = []
    for node in nodes:
        while before and (before[-1].level >= node.level or before[-1].level == 0):
            before.pop()
        parent = before[-1] if before else None
        assert node.parent == (parent.id if parent else None)
        assert node.path == (*(parent.path if parent else ()), node.title)
        before.append(node)
    assert len({node.id for node in nodes}) == len(nodes)


def assert_ids_follow_the_contract(document: Document) -> None:
    """Ids are the hash of key, path with anchors and ordinal, unless that id is taken."""
    seen: dict[tuple[str, ...], int] = {}
    taken: set[str] = set()
    for node, path in zip(list_nodes(document), document.columns.paths(), strict=True):
        ordinal = seen.get(path, 0)
        seen[path] = ordinal + 1
        joined = "\x1f".join([document.key, *path, str(ordinal)])
        expected = blake2b(joined.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
        assert re.fullmatch("[0-9a-f]{8}", node.id)
        assert node.id not in taken
        assert node.id == expected or expected in taken
        taken.add(node.id)


def assert_tokens_add_up(document: Document) -> None:
    """The tokens of a subtree are the sum of those of its nodes."""
    counts = [*map(Library(source="test", root=document).count_tokens, document.ids)]
    for index, (_, tokens) in enumerate(counts):
        assert tokens == sum(own_tokens for own_tokens, _ in counts[index : document.columns.ends[index]])
